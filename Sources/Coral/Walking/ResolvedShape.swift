import CoreData

/// A shape whose names are resolved against a model: what it states for each property. Exports and copies ask it.
struct ResolvedShape {
    let shape: GraphShape
    private let excludedEntities: Set<String>
    private let excludedProperties: PropertyRules<Void>
    private let rules: PropertyRules<RelationshipRule>

    /// Throws `ShapeError` if the shape contains names that the model does not have.
    init(_ shape: GraphShape, model: NSManagedObjectModel) throws {
        var shape = shape
        shape.onlyProperties = KeyPathResolver.named(shape.onlyProperties, in: model)
        self.shape = shape
        let paths = KeyPathResolver(model)
        excludedEntities = try paths.descendants(of: shape.excludedEntities)
        excludedProperties = try PropertyRules(shape.excludedProperties) { try paths.property(at: $0) }
        rules = try PropertyRules(shape.rules) { try paths.property(at: $0, requiresRelationship: true) }
        for (entity, names) in shape.onlyProperties.sorted(by: { $0.key < $1.key }) {
            try paths.require(names, of: entity)
        }
    }

    /// Whether objects of every entity can be part of the graph.
    var includesAllEntities: Bool { excludedEntities.isEmpty }

    /// Whether objects of an entity can be part of the graph.
    func includes(_ entity: NSEntityDescription) -> Bool { !excludedEntities.contains(entity.name ?? "") }

    /// What the shape states for the properties of one entity.
    func properties(of entity: NSEntityDescription) -> Properties { Properties(of: entity, in: self) }

    /// What a shape states for the properties of one entity.
    struct Properties {
        private let resolved: ResolvedShape
        private let entity: NSEntityDescription
        private let excluded: [String: Void]
        private let only: Set<String>?
        private let rules: [String: RelationshipRule]

        fileprivate init(of entity: NSEntityDescription, in resolved: ResolvedShape) {
            self.resolved = resolved
            self.entity = entity
            excluded = resolved.excludedProperties.rules(for: entity)
            rules = resolved.rules.rules(for: entity)
            only =
                sequence(first: entity, next: \.superentity).lazy
                .compactMap { resolved.shape.onlyProperties[$0.name ?? ""] }.first
        }

        /// Whether code excludes the property or includes it: nil if it names neither the property nor a list of the entity's.
        func isIncluded(_ property: NSPropertyDescription) -> Bool? {
            excluded[property.name] != nil ? false : only.map { $0.contains(property.name) }
        }

        /// The rule that code sets for a relationship, or that follows from an excluded entity.
        func ruleInCode(for relationship: NSRelationshipDescription) -> RelationshipRule? {
            if isIncluded(relationship) == false { return .omit }
            if let destination = relationship.destinationEntity, !resolved.includes(destination) { return .omit }
            return rules[relationship.name]
        }

        /// The rule that the directive `coral.shape` sets for a relationship.
        ///
        /// Throws `ShapeError` for a directive with another word.
        func ruleInModel(for relationship: NSRelationshipDescription) throws -> RelationshipRule? {
            guard let directive = resolved.directive(of: relationship) else { return nil }
            guard let rule = RelationshipRule(rawValue: directive) else {
                let place = "\(entity.name ?? "").\(relationship.name)"
                throw ShapeError(
                    .wrongKind,
                    "The directive \(GraphShape.userInfoKey) of \(place) is \"\(directive)\"; it must be embed, reference or omit.",
                    at: place)
            }
            return rule
        }
    }

    /// Whether a to-many relationship that the shape references, without a rule of its own, has the objects that embed its owner: the
    /// notes of an embedded tag. Of these the graph may have only some, and the others are none of its business.
    ///
    /// - Parameter embeds: Whether a relationship of an entity embeds its destinations.
    func listsEmbedding(
        _ relationship: NSRelationshipDescription,
        where embeds: (NSRelationshipDescription, NSEntityDescription) throws -> Bool
    ) rethrows -> Bool {
        guard relationship.isToMany, shape.base.rule(for: relationship) == .reference,
            let inverse = relationship.inverseRelationship, var pending = relationship.destinationEntity.map({ [$0] })
        else { return false }
        while let destination = pending.popLast() {
            if let own = destination.relationshipsByName[inverse.name], try embeds(own, destination) { return true }
            pending += destination.subentities
        }
        return false
    }

    /// The directive `coral.shape` of a property, unless the shape ignores directives.
    func directive(of property: NSPropertyDescription) -> String? {
        shape.honoursUserInfo ? property.userInfo?[GraphShape.userInfoKey] as? String : nil
    }
}

/// Rules for properties, which apply to the properties of subentities too.
struct PropertyRules<Rule> {
    private var byEntity: [String: [String: Rule]] = [:]

    /// - Parameters:
    ///   - rules: Rules by key path. They are taken in the order of the paths, so that of two for one property the same one applies
    ///     each time.
    ///   - path: The path `Entity.property` of the property at the end of a key path.
    init(_ rules: [String: Rule], path: (String) throws -> String) rethrows {
        for (keyPath, rule) in rules.sorted(by: { $0.key < $1.key }) {
            let parts = try path(keyPath).split(separator: ".", maxSplits: 1).map(String.init)
            byEntity[parts[0], default: [:]][parts[1]] = rule
        }
    }

    /// The rules for the properties of an entity by their names: for each the rule of the nearest entity of its ancestry. Cost: a step
    /// for each ancestor and each of its rules.
    func rules(for entity: NSEntityDescription) -> [String: Rule] {
        guard !byEntity.isEmpty else { return [:] }
        return sequence(first: entity, next: \.superentity).reduce(into: [:]) { rules, ancestor in
            if let own = byEntity[ancestor.name ?? ""] { rules.merge(own) { nearer, _ in nearer } }
        }
    }
}

extension PropertyRules where Rule == Void {
    /// A rule without a value, such as an exclusion.
    init(_ keyPaths: some Sequence<String>, path: (String) throws -> String) rethrows {
        try self.init(Dictionary(keyPaths.map { ($0, ()) }, uniquingKeysWith: { first, _ in first }), path: path)
    }
}
