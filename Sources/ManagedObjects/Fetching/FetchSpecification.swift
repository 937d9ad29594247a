import Foundation

/// The content of a fetch request without its result type, as the engine uses it.
struct FetchSpecification {
    var entityName: String?
    var entity: NSEntityDescription?
    var predicate: NSPredicate?
    var sortDescriptors: [NSSortDescriptor]?
    var fetchLimit = 0
    var fetchOffset = 0
    var fetchBatchSize = 0
    var resultType: NSFetchRequestResultType = .managedObjectResultType
    var includesSubentities = true
    var includesPropertyValues = true
    var includesPendingChanges = true
    var returnsObjectsAsFaults = true
    var shouldRefreshRefetchedObjects = false
    var returnsDistinctResults = false
    var relationshipKeyPathsForPrefetching: [String]?
    var propertiesToFetch: [Any]?
    var propertiesToGroupBy: [Any]?
    var havingPredicate: NSPredicate?
    var affectedStores: [NSPersistentStore]?
    /// Objects that the result must not contain: those that the caller has changed, and adds itself where they match.
    var excludedKeys: [ObjectKey] = []

    /// The entity to fetch in a model: looked up by name if the request has a name, or an entity of another model.
    ///
    /// - Throws: `CocoaError.coreData` if the request has no entity, or the model has none with that name.
    func entity(in model: NSManagedObjectModel) throws -> NSEntityDescription {
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
    func rowQuery(entity: NSEntityDescription) -> RowQuery {
        RowQuery(
            entity: entity, includesSubentities: includesSubentities, predicate: predicate,
            sortDescriptors: sortDescriptors ?? [], offset: max(0, fetchOffset), limit: max(0, fetchLimit),
            excluded: excludedKeys, request: self)
    }

    /// The request as a query for dictionaries: of all attributes and to-one relationships, unless it lists properties.
    ///
    /// - Throws: `CocoaError.coreData` for a property that the entity does not have.
    func valueQuery(entity: NSEntityDescription) throws -> ValueQuery {
        let columns =
            try propertiesToFetch.map { try $0.map { try property($0, of: entity) } }
            ?? Self.defaultProperties(of: entity)
        return ValueQuery(
            query: rowQuery(entity: entity), columns: columns,
            groupBy: try (propertiesToGroupBy ?? []).map { try property($0, of: entity) },
            having: havingPredicate, isDistinct: returnsDistinctResults)
    }

    /// A property of a name, a key path, or a description, which may belong to another model.
    private func property(_ named: Any, of entity: NSEntityDescription) throws -> NSPropertyDescription {
        if let expression = named as? NSExpressionDescription { return expression }
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
protocol FetchRequesting: NSPersistentStoreRequest {
    var specification: FetchSpecification { get set }
}
