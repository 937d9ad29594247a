import CoreDataErrors
import Foundation
import FoundationAdditions
import PredicateLanguage

/// The content of a fetch request without its result type, as the engine uses it.
package struct FetchSpecification {
    var entityName: String?
    var entity: NSEntityDescription?
    package var predicate: NSPredicate?
    package var sortDescriptors: [NSSortDescriptor]?
    package var fetchLimit = 0
    package var fetchOffset = 0
    package var fetchBatchSize = 0
    package var resultType: NSFetchRequestResultType = .managedObjectResultType
    package var includesSubentities = true
    package var includesPropertyValues = true
    package var includesPendingChanges = true
    var returnsObjectsAsFaults = true
    package var shouldRefreshRefetchedObjects = false
    var returnsDistinctResults = false
    var relationshipKeyPathsForPrefetching: [String]?
    package var propertiesToFetch: [Any]?
    var propertiesToGroupBy: [Any]?
    var havingPredicate: NSPredicate?
    package var affectedStores: [NSPersistentStore]?
    /// Objects that the result must not contain: those that the caller has changed, and adds itself where they match.
    var excludedKeys: [ObjectKey] = []

    /// The entity to fetch in a model: looked up by name if the request has a name, or an entity of another model.
    ///
    /// - Throws: `CocoaError.coreData` if the request has no entity, or the model has none with that name.
    package func entity(in model: NSManagedObjectModel) throws -> NSEntityDescription {
        if let entity, entity.managedObjectModelIfAny === model { return entity }
        guard let name = entity?.name ?? entityName else {
            throw CocoaError(
                .coreData, userInfo: [NSLocalizedDescriptionKey: "A fetch request must have an entity."])
        }
        guard let found = model.entitiesByName[name] else {
            throw CocoaError(
                .coreData,
                userInfo: [NSLocalizedDescriptionKey: "The model has no entity named “\(name)” to fetch."])
        }
        return found
    }

    /// The request as a query of a store, which does not include pending changes.
    package func rowQuery(entity: NSEntityDescription) -> RowQuery {
        RowQuery(
            entity: entity, includesSubentities: includesSubentities, predicate: predicate,
            sortDescriptors: sortDescriptors ?? [], offset: max(0, fetchOffset), limit: max(0, fetchLimit),
            excluded: excludedKeys, request: self)
    }

    /// The request as a query for dictionaries: of all attributes and to-one relationships, unless it lists properties.
    ///
    /// - Throws: `CocoaError.coreData` for a property that the entity does not have, or that has several values in a group.
    func valueQuery(entity: NSEntityDescription) throws -> ValueQuery {
        let columns =
            try propertiesToFetch.map { try $0.map { try property($0, of: entity) } }
            ?? Self.defaultProperties(of: entity)
        let query = ValueQuery(
            query: rowQuery(entity: entity), columns: columns,
            groupBy: try (propertiesToGroupBy ?? []).map { try property($0, of: entity) },
            having: havingPredicate, isDistinct: returnsDistinctResults)
        try query.requireSingleValues()
        return query
    }

    /// A property of a name, a key path, or a description, which may belong to another model.
    private func property(_ named: Any, of entity: NSEntityDescription) throws -> NSPropertyDescription {
        if let description = named as? NSExpressionDescription {
            // One without an expression means the property of its name.
            let meant = description.expression == nil ? entity.propertiesByName[description.name] : nil
            return meant ?? description
        }
        let name = (named as? NSPropertyDescription)?.name ?? (named as? String) ?? ""
        if let property = entity.propertiesByName[name] { return property }
        if name == "objectID" {
            let objectID = NSExpressionDescription()
            objectID.name = name
            objectID.expression = NSExpression.expressionForEvaluatedObject()
            objectID.expressionResultType = .objectIDAttributeType
            return objectID
        }
        if let column = propertiesToFetch?.first(where: { ($0 as? NSExpressionDescription)?.name == name }) {
            return column as? NSPropertyDescription ?? NSPropertyDescription()
        }
        guard name.contains(".") else {
            throw CocoaError(
                .coreData,
                userInfo: [
                    NSLocalizedDescriptionKey:
                        "The entity “\(entity.name ?? "")” has no property “\(name)” to fetch into dictionaries."
                ])
        }
        let path = NSExpressionDescription()
        path.name = name
        path.expression = NSExpression(forKeyPath: name)
        return path
    }

    private static func defaultProperties(of entity: NSEntityDescription) -> [NSPropertyDescription] {
        entity.properties.filter { property in
            if property.isTransient || property is NSFetchedPropertyDescription { return false }
            return (property as? NSRelationshipDescription)?.isToMany != true
        }
    }
}

/// A fetch request of any result type.
package protocol FetchRequesting: NSPersistentStoreRequest {
    var specification: FetchSpecification { get set }
}

// MARK: - Coding

// The keys are those of Apple's archives if the value is archived in the same form.

extension FetchSpecification {
    private enum Key {
        static let entityName = "NSEntityName"
        static let predicate = "NSPredicate"
        static let havingPredicate = "NSHavingPredicate"
        static let sortDescriptors = "NSSortDescriptors"
        static let limit = "NSFetchLimit"
        static let offset = "NSFetchOffset"
        static let batchSize = "NSBatchSize"
        static let resultType = "NSResultType"
        static let prefetching = "NSRelationshipKeyPathsForPrefetching"
        static let propertiesToFetch = "NSValuesToFetch"
        static let propertiesToGroupBy = "NSValuesToGroupBy"
        static let flags = "Flags"
    }

    /// The Boolean properties in the order of their bits.
    private static var flags: [WritableKeyPath<FetchSpecification, Bool>] {
        [
            \.includesSubentities, \.includesPropertyValues, \.includesPendingChanges, \.returnsObjectsAsFaults,
            \.shouldRefreshRefetchedObjects, \.returnsDistinctResults,
        ]
    }

    init?(coder: NSCoder) {
        entityName = coder.decodeObject(forKey: Key.entityName) as? String
        predicate = coder.decodeObject(forKey: Key.predicate) as? NSPredicate
        havingPredicate = coder.decodeObject(forKey: Key.havingPredicate) as? NSPredicate
        sortDescriptors = coder.decodeObject(forKey: Key.sortDescriptors) as? [NSSortDescriptor]
        fetchLimit = coder.decodeInteger(forKey: Key.limit)
        fetchOffset = coder.decodeInteger(forKey: Key.offset)
        fetchBatchSize = coder.decodeInteger(forKey: Key.batchSize)
        resultType = NSFetchRequestResultType(rawValue: UInt(max(0, coder.decodeInteger(forKey: Key.resultType))))
        relationshipKeyPathsForPrefetching = coder.decodeObject(forKey: Key.prefetching) as? [String]
        propertiesToFetch = coder.decodeObject(forKey: Key.propertiesToFetch) as? [String]
        propertiesToGroupBy = coder.decodeObject(forKey: Key.propertiesToGroupBy) as? [String]
        guard coder.containsValue(forKey: Key.flags) else { return nil }
        let bits = coder.decodeInteger(forKey: Key.flags)
        for (bit, flag) in Self.flags.enumerated() { self[keyPath: flag] = bits & (1 << bit) != 0 }
    }

    /// Encodes everything except the entity, of which the name is encoded, and expressions to fetch, which are omitted.
    func encode(with coder: NSCoder) {
        coder.encode(entity?.name ?? entityName, forKey: Key.entityName)
        coder.encode(predicate, forKey: Key.predicate)
        coder.encode(havingPredicate, forKey: Key.havingPredicate)
        coder.encode(sortDescriptors, forKey: Key.sortDescriptors)
        coder.encode(fetchLimit, forKey: Key.limit)
        coder.encode(fetchOffset, forKey: Key.offset)
        coder.encode(fetchBatchSize, forKey: Key.batchSize)
        coder.encode(Int(resultType.rawValue), forKey: Key.resultType)
        coder.encode(relationshipKeyPathsForPrefetching, forKey: Key.prefetching)
        coder.encode(propertiesToFetch.map(NSEntityDescription.names), forKey: Key.propertiesToFetch)
        coder.encode(propertiesToGroupBy.map(NSEntityDescription.names), forKey: Key.propertiesToGroupBy)
        var bits = 0
        for (bit, flag) in Self.flags.enumerated() where self[keyPath: flag] { bits |= 1 << bit }
        coder.encode(bits, forKey: Key.flags)
    }
}

/// The entities, besides the request's own, whose objects affect what a request matches and how it is ordered: those
/// that its key paths pass through.
package struct RequestReach {
    private var entities: Set<Int> = []
    /// Whether the entities cannot be determined, because the request contains a block or a nested fetch.
    private var isUnknown = false

    package var isWide: Bool { isUnknown || !entities.isEmpty }

    package init(of specification: FetchSpecification, entity: NSEntityDescription, sectionNameKeyPath: String?) {
        var keyPaths = (specification.sortDescriptors ?? []).compactMap(\.key) + [sectionNameKeyPath].compactMap(\.self)
        keyPaths.removeAll { $0 == "self" || $0 == "SELF" }
        for keyPath in keyPaths { add(keyPath.split(separator: ".").map(String.init), from: entity) }
        guard let node = specification.predicate?.embeddedNode else { return }
        for keyPath in node.keyPaths { add(keyPath, from: entity) }
        node.walk { part in
            switch part {
            case .predicate(.opaque), .expression(.opaque), .expression(.call), .expression(.fetch): isUnknown = true
            default: break
            }
        }
    }

    package func contains(_ entity: Int) -> Bool { isUnknown || entities.contains(entity) }

    private mutating func add(_ keyPath: [String], from entity: NSEntityDescription) {
        // The usual case: a property of the object itself, which is the same in entities that inherit it.
        if keyPath.count == 1, let property = entity.propertiesByName[keyPath[0]],
            !(property is NSFetchedPropertyDescription)
        {
            return
        }
        var reached = [entity]
        for (depth, key) in keyPath.enumerated() where !key.hasPrefix("@") {
            let properties = reached.flatMap(\.withSubentities).compactMap { $0.propertiesByName[key] }
            if properties.contains(where: { $0 is NSFetchedPropertyDescription }) { isUnknown = true }
            reached = properties.compactMap { ($0 as? NSRelationshipDescription)?.destinationEntity }
            guard !reached.isEmpty else { return }
            // A reference is a value of the object itself; the properties of the referenced object are not.
            let leadsOn = keyPath[(depth + 1)...].contains { !$0.hasPrefix("@") }
            if leadsOn { for entity in reached { entities.formUnion(entity.subtree) } }
        }
    }
}
