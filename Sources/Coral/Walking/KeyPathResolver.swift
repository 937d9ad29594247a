import CoreData

/// Finds the properties of key paths such as `Note.items.price`.
package struct KeyPathResolver {
    private let entities: [String: NSEntityDescription]
    /// The entities by the names of their classes without the module, for typed key paths.
    private let byClass: [String: NSEntityDescription]

    package init(_ model: NSManagedObjectModel) {
        entities = model.entitiesByName
        let named = model.sortedEntities.compactMap { entity in
            entity.managedObjectClassName?.split(separator: ".").last.map { (String($0), entity) }
        }
        // Several entities of one class have no typed key paths, except the one with the name of the class.
        byClass = Dictionary(grouping: named, by: \.0).compactMapValues { $0.count == 1 ? $0[0].1 : nil }
    }

    /// Rules by `Entity` or `Entity.property`, under the names of entities: typed key paths have the names of classes. A rule that
    /// names its entity takes precedence.
    static func named<Rule>(_ rules: [String: Rule], in model: NSManagedObjectModel) -> [String: Rule] {
        let entities = model.entitiesByName
        // An import of one record asks this several times: the classes of all entities are looked at only for a rule that needs them.
        if rules.keys.allSatisfy({ entities[String($0.prefix { $0 != "." })] != nil }) { return rules }
        let resolver = KeyPathResolver(model)
        var named: [String: Rule] = [:]
        for (name, rule) in rules {
            let parts = name.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            if entities[parts[0]] == nil, let entity = resolver.byClass[parts[0]]?.name {
                let own = ([entity] + parts.dropFirst()).joined(separator: ".")
                if rules[own] == nil { named[own] = rule }
            } else {
                named[name] = rule
            }
        }
        return named
    }

    /// The entity of a name.
    ///
    /// Throws `ShapeError` with a suggestion if it does not exist.
    func entity(_ name: String, in keyPath: String) throws -> NSEntityDescription {
        guard let entity = entities[name] ?? byClass[name] else {
            throw ShapeError(.unknownEntity, NameSuggestion.noEntity(name, in: entities.keys), at: keyPath)
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
            let advice = NameSuggestion.advice(for: name, in: entity.propertiesByName.keys)
            throw ShapeError(
                .unknownProperty, "\(entity.name ?? "") has no property \"\(name)\".\(advice)", at: keyPath)
        }
        return property
    }
}

extension PartialKeyPath where Root: NSManagedObject {
    /// The key path as rules state it, such as `Note.items` for `\Note.items`: the name of the class without its module, and the names
    /// of properties. For a key path of other properties it is one that no model has, so that the use of the rule throws an error.
    package var ruleText: String {
        #if canImport(Darwin)
            let name = _kvcKeyPathString
        #else
            let name = KeyPathRegistry.name(of: self)
        #endif
        let unknown = "\(self)".split(separator: ".").last.map(String.init) ?? ""
        return "\(Root.ruleName).\(name ?? unknown)"
    }
}

extension NSManagedObject {
    /// The properties at the end of key paths, as rules state them: `["title"]` for `[\Note.title]`.
    package static func ruleNames<Object: NSManagedObject>(_ keyPaths: [PartialKeyPath<Object>]) -> [String] {
        keyPaths.map { String($0.ruleText.dropFirst(Object.ruleName.count + 1)) }
    }

    /// The name of the class without its module, which means its entity in rules.
    package static var ruleName: String {
        let name = NSStringFromClass(self)
        return name.split(separator: ".").last.map(String.init) ?? name
    }
}
