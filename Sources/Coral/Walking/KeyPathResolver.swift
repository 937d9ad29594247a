import CoreData

/// Finds the properties of key paths such as `Note.items.price`.
package struct KeyPathResolver {
    private let entities: [String: NSEntityDescription]

    package init(_ model: NSManagedObjectModel) {
        entities = model.entitiesByName
    }

    /// The entity of a name.
    ///
    /// Throws `ShapeError` with a suggestion if it does not exist.
    func entity(_ name: String, in keyPath: String) throws -> NSEntityDescription {
        guard let entity = entities[name] else {
            let question = NameSuggestion.question(for: name, in: entities.keys)
            throw ShapeError(.unknownEntity, "The model has no entity \"\(name)\".\(question)", at: keyPath)
        }
        return entity
    }

    /// The names of the entities and of all that inherit from them.
    func descendants(of names: Set<String>) throws -> Set<String> {
        var found: Set<String> = []
        var pending = try names.sorted().map { try entity($0, in: $0) }
        while let entity = pending.popLast() {
            guard found.insert(entity.name ?? "").inserted else { continue }
            pending += entity.subentities
        }
        return found
    }

    /// The property of a key path, as `Entity.property` with the entity at the end of the path. It also applies to
    /// entities that inherit the property.
    package func property(at keyPath: String, requiresRelationship: Bool = false) throws -> String {
        let parts = keyPath.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard parts.count > 1, let first = parts.first, let last = parts.last else {
            throw ShapeError(.unknownProperty, "\"\(keyPath)\" is not a property: write Entity.property.", at: keyPath)
        }
        var entity = try entity(first, in: keyPath)
        for part in parts.dropFirst().dropLast() {
            let property = try property(part, of: entity, in: keyPath)
            guard let next = (property as? NSRelationshipDescription)?.destinationEntity else {
                throw ShapeError(.wrongKind, "\(entity.name ?? "").\(part) is not a relationship.", at: keyPath)
            }
            entity = next
        }
        let property = try property(last, of: entity, in: keyPath)
        guard !requiresRelationship || property is NSRelationshipDescription else {
            throw ShapeError(.wrongKind, "\(entity.name ?? "").\(last) is not a relationship.", at: keyPath)
        }
        return "\(entity.name ?? "").\(last)"
    }

    /// Throws for names of properties that an entity does not have.
    func require(_ names: Set<String>, of entityName: String) throws {
        let entity = try entity(entityName, in: entityName)
        for name in names.sorted() { _ = try property(name, of: entity, in: "\(entityName).\(name)") }
    }

    private func property(
        _ name: String, of entity: NSEntityDescription, in keyPath: String
    ) throws -> NSPropertyDescription {
        guard let property = entity.propertiesByName[name] else {
            let question = NameSuggestion.question(for: name, in: entity.propertiesByName.keys)
            throw ShapeError(
                .unknownProperty, "\(entity.name ?? "") has no property \"\(name)\".\(question)", at: keyPath)
        }
        return property
    }
}
