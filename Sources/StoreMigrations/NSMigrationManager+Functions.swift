import Foundation
import FoundationAdditions
import ManagedObjects
import PredicateLanguage

// What value expressions call and read, and what the default policy uses.

extension NSMigrationManager: PredicateSubject {
    /// The value of a key in an expression, such as `$manager.sourceContext`.
    public func predicateValue(forKey key: String) throws -> Any? {
        switch key {
        case "sourceContext": return sourceContext
        case "destinationContext": return destinationContext
        case "sourceModel": return sourceModel
        case "destinationModel": return destinationModel
        case "mappingModel": return mappingModel
        case "currentEntityMapping": return currentEntityMapping
        case "userInfo": return userInfo
        default:
            throw PredicateEvaluationError(.unknownKey, "A migration manager has no key “\(key)” for expressions.")
        }
    }

    /// The result of a method that an expression calls: `FUNCTION($manager, "…", …)`. Unlike in Swift, nil as the instances
    /// means none: `$source.owner` is nil if there is no owner.
    public func predicateValue(calling selector: String, with arguments: [Any?]) throws -> Any? {
        guard let function = MigrationFunction(rawValue: selector), arguments.count == 2 else {
            return try arguments.isEmpty
                ? predicateValue(forKey: selector) : value(forFunction: selector, arguments: arguments)
        }
        guard let name = arguments[0] as? String else {
            throw PredicateEvaluationError(.typeMismatch, "The first argument of \(selector) must be a name.")
        }
        switch function {
        case .fetchRequest:
            // Fetch expressions take requests of any result.
            return NSFetchRequest<any NSFetchRequestResult>(
                try fetchRequest(entityName: name, predicateFormat: arguments[1] as? String))
        case .mappingInstances:
            try requireMapping(name)
            return destinationInstances(
                forEntityMappingName: name, sourceInstances: try MappingValues.objects(in: arguments[1]))
        case .sourceInstances:
            try requireMapping(name)
            return sourceInstances(
                forEntityMappingName: name, destinationInstances: try MappingValues.objects(in: arguments[1]))
        case .relationshipInstances:
            return try MappingValues.objects(in: arguments[1]).flatMap {
                associations.destinations(of: $0.objectID, mapping: nil)
            }
        }
    }

    private func requireMapping(_ name: String) throws {
        guard mappingModel.entityMappingsByName[name] == nil else { return }
        throw PredicateEvaluationError(.unknownFunction, "The mapping model has no entity mapping “\(name)”.")
    }

    /// A request for the source objects of an entity, without those of subentities, which have mappings of their own.
    final func fetchRequest(entityName: String, predicateFormat: String?) throws -> NSFetchRequest<NSManagedObject> {
        guard let entity = stacks.source.model.entitiesByName[entityName] else {
            throw PredicateEvaluationError(.unknownKey, "The source model has no entity “\(entityName)”.")
        }
        let request = NSFetchRequest<NSManagedObject>()
        request.entity = entity
        request.includesSubentities = false
        request.fetchBatchSize = 500
        if let predicateFormat { request.predicate = try NSPredicate(parsing: predicateFormat) }
        return request
    }

    /// Inserts a destination instance, with the primary key of the source instance if the table keeps its keys.
    final func insertDestinationInstance(of entity: NSEntityDescription, for source: NSManagedObject) -> NSManagedObject
    {
        let root = entity.rootEntity.name ?? ""
        if let store = destinationStore, rootsKeepingKeys.contains(root), source.key.number > 0,
            keysInUse[root]?.insert(source.key.number).inserted != false,
            let kept = try? destinationContext.insertObject(of: entity, withPrimaryKey: source.key.number, in: store)
        {
            return kept
        }
        return NSManagedObject(entity: entity, insertInto: destinationContext)
    }
}
