/// Infers an ``InferredMapping`` by the rules of lightweight migration.
///
/// Sources: "Migrating your data model automatically" and "Lightweight Migration" in Apple's documentation. Numeric
/// conversions are not in these lists; a session of WWDC 2010 mentions them, and shipped apps migrate Integer 16 to
/// Integer 64 and Integer 64 to Double without a mapping model.
struct MigrationInference {
    private let old: IndexedModel
    private let new: IndexedModel
    private let match: ModelMatch
    private(set) var mappings: [InferredMapping.Entity] = []
    private var found: Set<InferredMapping.Obstacle> = []

    init(from old: IndexedModel, to new: IndexedModel) {
        self.old = old
        self.new = new
        match = ModelMatch(from: old.model, to: new.model)
    }

    /// The obstacles, sorted by entity and property.
    var obstacles: [InferredMapping.Obstacle] {
        found.sorted { ($0.entity, $0.property ?? "", $0.reason) < ($1.entity, $1.property ?? "", $1.reason) }
    }

    mutating func run() {
        checkHierarchies()
        var added: [InferredMapping.Entity] = []
        var removed: [InferredMapping.Entity] = []
        for pair in match.entities {
            switch (pair.old, pair.new) {
            case (let before, let after?): added.append(mapping(from: before, to: after))
            case (let before?, nil):
                removed.append(
                    .init(
                        kind: .remove, sourceName: before, destinationName: nil, attributes: [], relationships: []))
            case (nil, nil): break
            }
        }
        mappings =
            added.sorted { ($0.destinationName ?? "") < ($1.destinationName ?? "") }
            + removed.sorted { ($0.sourceName ?? "") < ($1.sourceName ?? "") }
    }

    /// An entity of the new model that has an obstacle; nil if there is none. It is found at a fraction of the cost of ``run()``
    /// if the suspect, an entity that has an obstacle between other versions, has one here too.
    mutating func entityWithObstacle(suspect: String?) -> String? {
        let names = (suspect.map { [$0] } ?? []) + new.model.entities.map(\.name)
        for name in names where new.inheritance.entities[name] != nil {
            _ = mapping(from: match.oldName(of: name), to: name)
            if !found.isEmpty { return name }
        }
        checkHierarchies()
        return found.first?.entity
    }

    // MARK: - Hierarchies

    /// Entities without a common ancestor in the old model must not have one in the new: their rows are in different
    /// tables, so their primary keys could collide in one table.
    private mutating func checkHierarchies() {
        var roots: [String: (root: String, entity: String)] = [:]
        for entity in new.model.entities.map(\.name).sorted() {
            guard let before = match.oldName(of: entity),
                let oldRoot = old.rootName(of: before),
                let newRoot = new.rootName(of: entity)
            else { continue }
            guard let first = roots[newRoot] else {
                roots[newRoot] = (oldRoot, entity)
                continue
            }
            guard first.root != oldRoot else { continue }
            found.insert(
                .init(
                    entity: entity, property: nil,
                    reason: "It and \(first.entity) get a common ancestor, \(newRoot), which they did not have before. "
                        + "Hierarchies cannot be merged without a mapping model."))
        }
    }

    // MARK: - Entities

    private mutating func mapping(from before: String?, to after: String) -> InferredMapping.Entity {
        let properties = new.properties(of: after)
        let (attributes, relationships) = (properties.attributes, properties.relationships)
        guard let before else {
            return .init(
                kind: .add, sourceName: nil, destinationName: after,
                attributes: attributes.map { .init(name: $0.name, sourceName: nil) }.sorted { $0.name < $1.name },
                relationships: [])
        }
        let former = old.properties(of: before)
        let isSame = old.hashes[before] == new.hashes[after]
        // In an unchanged entity each property is its own source, unless a renaming identifier says otherwise.
        let keepsNames =
            isSame && before == after && hasOwnPropertiesOnly(after)
            && !former.statesOtherNames && !properties.statesOtherNames
        var sources: [String: String] = [:]
        if !keepsNames {
            let pairs = ModelMatch.pairs(former.all, attributes as [any ModelProperty] + relationships)
            for case (let source?, let name?) in pairs { sources[name] = source }
        }

        var mapped: (attributes: [InferredMapping.Property], relationships: [InferredMapping.Property]) = ([], [])
        for attribute in attributes {
            if keepsNames {
                mapped.attributes.append(.init(name: attribute.name, sourceName: attribute.name))
                continue
            }
            let owner = properties.owners[attribute.name] ?? after
            let source = sources[attribute.name] ?? ""
            if former.relationshipsByName[source] != nil { refuse(owner, attribute.name, Self.otherKind) }
            let origin = former.attributesByName[source]
            if let reason = Self.obstacle(from: origin, to: attribute) { refuse(owner, attribute.name, reason) }
            mapped.attributes.append(.init(name: attribute.name, sourceName: origin?.name))
        }
        for relationship in relationships {
            let owner = properties.owners[relationship.name] ?? after
            let source = keepsNames ? relationship.name : sources[relationship.name] ?? ""
            if former.attributesByName[source] != nil { refuse(owner, relationship.name, Self.otherKind) }
            guard let origin = former.relationshipsByName[source] else { continue }
            if let reason = obstacle(from: origin, to: relationship) { refuse(owner, relationship.name, reason) }
            mapped.relationships.append(.init(name: relationship.name, sourceName: origin.name))
        }
        return .init(
            kind: isSame ? .copy : .transform, sourceName: before, destinationName: after,
            attributes: mapped.attributes.sorted { $0.name < $1.name },
            relationships: mapped.relationships.sorted { $0.name < $1.name })
    }

    /// Whether an entity inherits nothing in either model, so that its hash covers all of its properties.
    private func hasOwnPropertiesOnly(_ entity: String) -> Bool {
        old.inheritance.entities[entity]?.parentName == nil && new.inheritance.entities[entity]?.parentName == nil
    }

    private mutating func refuse(_ entity: String, _ property: String, _ reason: String) {
        found.insert(.init(entity: entity, property: property, reason: reason))
    }

    // MARK: - Properties

    private static let otherKind = "It becomes another kind of property."

    /// Why no value can be inferred for an attribute; nil if one can.
    private static func obstacle(from before: ModelAttribute?, to after: ModelAttribute) -> String? {
        if after.type == .composite || before?.type == .composite {
            return compositeObstacle(from: before, to: after)
        }
        // The store computes the value of a derived attribute.
        if after.isReadOnly { return nil }
        let isFilled = after.isOptional || after.defaultValue != nil
        guard let before, !before.isReadOnly || before.type == after.type else {
            return isFilled ? nil : "It is required and new, and there is no default value for existing objects."
        }
        if !isConverted(before.type, to: after.type) {
            return "Its type changes from \(before.type) to \(after.type), which needs a mapping model."
        }
        if before.isOptional, !isFilled {
            return "It becomes required, and there is no default value for objects without one."
        }
        return nil
    }

    /// The elements of a composite are columns; they are matched by name and checked like attributes.
    private static func compositeObstacle(from before: ModelAttribute?, to after: ModelAttribute) -> String? {
        guard before.map({ $0.type == .composite }) ?? true, after.type == .composite else {
            return "Its type changes from \(before?.type ?? .undefined) to \(after.type), which needs a mapping model."
        }
        let elements = Dictionary(
            (before?.leaves ?? []).map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        for leaf in after.leaves where !leaf.isTransient {
            if let reason = obstacle(from: elements[leaf.name], to: leaf) { return "\(leaf.name): \(reason)" }
        }
        return nil
    }

    /// Numeric types from narrow to wide. Only conversions to a wider type are inferred.
    private static let widths: [ModelAttributeType: Int] = [
        .integer16: 0, .integer32: 1, .integer64: 2, .float: 3, .double: 4,
    ]

    private static func isConverted(_ before: ModelAttributeType, to after: ModelAttributeType) -> Bool {
        if before == after { return true }
        guard let narrow = widths[before], let wide = widths[after] else { return false }
        return narrow < wide
    }

    /// Why the references of a relationship cannot be migrated; nil if they can.
    private func obstacle(from before: ModelRelationship, to after: ModelRelationship) -> String? {
        if before.isToMany, !after.isToMany {
            return "It becomes to-one, and which of several objects to keep cannot be inferred."
        }
        guard let oldTarget = before.destinationName, let newTarget = after.destinationName else { return nil }
        guard let target = match.newName(of: oldTarget) else {
            return "Its destination, \(oldTarget), is removed; its new destination is \(newTarget)."
        }
        if new.inheritance.lineage(of: target).contains(where: { $0.name == newTarget }) { return nil }
        return "Its destination changes from \(oldTarget) to \(newTarget), which is not an ancestor of it."
    }
}
