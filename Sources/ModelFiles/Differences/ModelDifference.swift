/// The differences between two models: entities and properties that were added, removed, renamed or changed, and
/// whether stores of the old model must be migrated to be opened with the new one.
///
/// Entities and properties are matched by ``ModelMatch``, as Core Data matches them.
public struct ModelDifference: Sendable, Equatable {
    /// One difference.
    public struct Change: Sendable, Hashable {
        /// The kind of change.
        public enum Kind: Sendable, Hashable {
            case added
            case removed
            /// The entity or property had another name.
            case renamed(from: String)
            /// An aspect differs: its name, and its old and new text. The text of a missing aspect is empty.
            case changed(aspect: String, old: String, new: String)
        }

        public var kind: Kind
        /// The entity, by its new name if it was renamed.
        public var entity: String
        /// The property of the entity, if the change concerns one, by its new name if it was renamed.
        public var property: String?
        /// The kind of the property: `attribute`, `relationship` or `fetched property`.
        public var propertyKind: String?
        /// A description of what was added or removed.
        public var summary: String
    }

    /// All changes, sorted by entity and property; those of an entity itself come before those of its properties.
    public let changes: [Change]
    /// The entities, by their new names, whose version hashes differ: a store of the old model opens with the new one
    /// only after a migration. Empty if no migration is needed.
    public let differentHashes: [String]
    /// The mapping that lightweight migration from the old model to the new one would infer, and its obstacles.
    /// Relevant only if hashes differ.
    public let mapping: InferredMapping

    /// Whether the models are equal. Differences in the source files' tool attributes are ignored.
    public var isEmpty: Bool { changes.isEmpty && differentHashes.isEmpty }

    /// Compares two models. Cost: a step for each property, and the hashes of both models.
    public init(from old: Model, to new: Model) {
        var comparison = ModelComparison(old, new)
        comparison.compare()
        changes = comparison.changes
        let (before, after) = (IndexedModel(old), IndexedModel(new))
        mapping = InferredMapping(from: before, to: after)
        let names = Set(before.hashes.keys).union(after.hashes.keys)
        differentHashes = names.filter { before.hashes[$0] != after.hashes[$0] }.sorted()
    }
}

/// Compares two models part by part.
private struct ModelComparison {
    typealias Change = ModelDifference.Change
    let old: Model
    let new: Model
    private let oldInheritance: ModelInheritance
    private let newInheritance: ModelInheritance
    var changes: [Change] = []

    init(_ old: Model, _ new: Model) {
        self.old = old
        self.new = new
        oldInheritance = ModelInheritance(old)
        newInheritance = ModelInheritance(new)
    }

    mutating func compare() {
        compareLists("version identifiers", old.versionIdentifiers.sorted(), new.versionIdentifiers.sorted())
        compareLists(
            "configurations", old.configurations.map(Self.text).sorted(), new.configurations.map(Self.text).sorted())
        compareLists(
            "fetch requests", old.fetchRequestTemplates.map(Self.text).sorted(),
            new.fetchRequestTemplates.map(Self.text).sorted())
        for pair in ModelMatch(from: old, to: new).entities.sorted(by: {
            ($0.new ?? $0.old ?? "") < ($1.new ?? $1.old ?? "")
        }) {
            switch (pair.old.flatMap { oldInheritance.entities[$0] }, pair.new.flatMap { newInheritance.entities[$0] })
            {
            case (let before?, let after?): compare(before, after)
            case (nil, let after?): changes.append(Self.entity(.added, after))
            case (let before?, nil): changes.append(Self.entity(.removed, before))
            case (nil, nil): break
            }
        }
    }

    private mutating func compareLists(_ aspect: String, _ before: [String], _ after: [String]) {
        let (before, after) = (before.joined(separator: ", "), after.joined(separator: ", "))
        guard before != after else { return }
        changes.append(
            Change(kind: .changed(aspect: aspect, old: before, new: after), entity: "", summary: ""))
    }

    private static func text(_ configuration: ModelConfiguration) -> String {
        "\(configuration.name) (\(configuration.entityNames.joined(separator: " ")))"
    }

    private static func text(_ template: ModelFetchRequestTemplate) -> String {
        "\(template.name) (\(ModelAspects(template.fetchRequest).summary))"
    }

    private static func entity(_ kind: Change.Kind, _ entity: ModelEntity) -> Change {
        func count(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }
        let counts =
            "\(count(entity.attributes.count, "attribute")), \(count(entity.relationships.count, "relationship"))"
        return Change(kind: kind, entity: entity.name, summary: counts)
    }

    // MARK: - Entities

    private mutating func compare(_ before: ModelEntity, _ after: ModelEntity) {
        let name = after.name
        if before.name != name {
            changes.append(Change(kind: .renamed(from: before.name), entity: name, summary: ""))
        }
        for (aspect, old, new) in ModelAspects.differences(ModelAspects(before), ModelAspects(after)) {
            changes.append(Change(kind: .changed(aspect: aspect, old: old, new: new), entity: name, summary: ""))
        }
        let (oldProperties, newProperties) = (before.properties, after.properties)
        let (oldByName, newByName) = (Self.byName(oldProperties), Self.byName(newProperties))
        let ordered = ModelMatch.pairs(oldProperties, newProperties).sorted {
            ($0.new ?? $0.old ?? "") < ($1.new ?? $1.old ?? "")
        }
        for pair in ordered {
            // A property that moves up or down the hierarchy is the same property.
            let inherited = (
                old: pair.old == nil ? Self.inherited(pair.new, by: before, in: oldInheritance) : nil,
                new: pair.new == nil ? Self.inherited(pair.old, by: after, in: newInheritance) : nil
            )
            compare(
                inherited.old?.property ?? pair.old.flatMap { oldByName[$0] },
                inherited.new?.property ?? pair.new.flatMap { newByName[$0] }, of: after)
            if let owner = inherited.old?.owner ?? inherited.new?.owner {
                let (from, to) = inherited.old == nil ? (name, owner) : (owner, name)
                changes.append(
                    Change(
                        kind: .changed(aspect: "declared by", old: from, new: to), entity: name,
                        property: pair.new ?? pair.old, propertyKind: "property", summary: ""))
            }
        }
    }

    private static func byName(_ properties: [any ModelProperty]) -> [String: any ModelProperty] {
        Dictionary(properties.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// The property that an entity inherits from an ancestor.
    private static func inherited(
        _ name: String?, by entity: ModelEntity, in inheritance: ModelInheritance
    ) -> (property: any ModelProperty, owner: String)? {
        for ancestor in inheritance.ancestors(of: entity.name) {
            if let property = ancestor.properties.first(where: { $0.name == name }) { return (property, ancestor.name) }
        }
        return nil
    }

    // MARK: - Properties

    private mutating func compare(
        _ before: (any ModelProperty)?, _ after: (any ModelProperty)?, of entity: ModelEntity
    ) {
        func change(_ kind: Change.Kind, _ property: any ModelProperty, summary: String = "") -> Change {
            Change(
                kind: kind, entity: entity.name, property: property.name, propertyKind: ModelAspects.kind(of: property),
                summary: summary)
        }
        switch (before, after) {
        case (nil, let after?):
            changes.append(change(.added, after, summary: ModelAspects(after).summary))
        case (let before?, nil):
            changes.append(change(.removed, before, summary: ModelAspects(before).summary))
        case (let before?, let after?):
            if before.name != after.name { changes.append(change(.renamed(from: before.name), after)) }
            for (aspect, old, new) in ModelAspects.differences(ModelAspects(before), ModelAspects(after)) {
                changes.append(change(.changed(aspect: aspect, old: old, new: new), after))
            }
        case (nil, nil): break
        }
    }
}
