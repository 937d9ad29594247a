/// The differences between two models: entities and properties that were added, removed, renamed or changed, and
/// whether stores of the old model must be migrated to be opened with the new one.
///
/// Entities and properties are matched by name, then by renaming identifier, as Core Data matches them.
public struct ModelDifference: Sendable, Equatable {
    /// One difference.
    public struct Change: Sendable, Hashable {
        /// The kind of change.
        public enum Kind: Sendable, Hashable {
            case added
            case removed
            /// The entity or property had another name.
            case renamed(from: String)
            /// An aspect differs: its name, and its old and new text. Nothing is empty.
            case changed(aspect: String, old: String, new: String)
        }

        public var kind: Kind
        /// The entity, by its new name where it was renamed.
        public var entity: String
        /// The property of the entity, where the change concerns one, by its new name where it was renamed.
        public var property: String?
        /// What the property is: `attribute`, `relationship` or `fetched property`.
        public var propertyKind: String?
        /// A description of what was added or removed.
        public var summary: String
    }

    /// A reason why Core Data cannot infer the migration (lightweight migration).
    public struct Obstacle: Sendable, Hashable {
        public var entity: String
        public var property: String?
        /// The reason, in one sentence.
        public var reason: String
    }

    /// All changes, sorted by entity and property; those of an entity itself come before those of its properties.
    public let changes: [Change]
    /// The entities, by their new names, whose version hashes differ: a store of the old model opens with the new one
    /// only after a migration. Empty where no migration is needed.
    public let differentHashes: [String]
    /// What lightweight migration from the old model to the new one cannot do. Relevant only where hashes differ.
    public let obstacles: [Obstacle]

    /// Whether the models are equal. Differences in the source files' tool attributes are ignored.
    public var isEmpty: Bool { changes.isEmpty && differentHashes.isEmpty }

    /// Compares two models. Cost: a step for each property, and the hashes of both models.
    public init(from old: Model, to new: Model) {
        var comparison = ModelComparison(old, new)
        comparison.compare()
        changes = comparison.changes
        obstacles = comparison.obstacles
        let hashes = (old: VersionHash(old).entityHashes, new: VersionHash(new).entityHashes)
        differentHashes = Set(hashes.old.keys).union(hashes.new.keys).filter { hashes.old[$0] != hashes.new[$0] }
            .sorted()
    }
}

/// Compares two models part by part.
private struct ModelComparison {
    typealias Change = ModelDifference.Change
    let old: Model
    let new: Model
    var changes: [Change] = []
    var obstacles: [ModelDifference.Obstacle] = []

    init(_ old: Model, _ new: Model) {
        self.old = old
        self.new = new
    }

    mutating func compare() {
        compareLists("version identifiers", old.versionIdentifiers.sorted(), new.versionIdentifiers.sorted())
        compareLists(
            "configurations", old.configurations.map(Self.text).sorted(), new.configurations.map(Self.text).sorted())
        compareLists(
            "fetch requests", old.fetchRequestTemplates.map(Self.text).sorted(),
            new.fetchRequestTemplates.map(Self.text).sorted())
        let pairs = Self.pairs(
            old.entities.map { ($0.name, $0.renamingIdentifier) }, new.entities.map { ($0.name, $0.renamingIdentifier) }
        )
        for pair in pairs.sorted(by: { ($0.new ?? $0.old ?? "") < ($1.new ?? $1.old ?? "") }) {
            switch (pair.old.flatMap(old.entity(named:)), pair.new.flatMap(new.entity(named:))) {
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
        "\(template.name) of \(template.fetchRequest.entityName ?? "?") "
            + "where \(template.fetchRequest.predicate?.predicateFormat ?? "TRUEPREDICATE")"
    }

    private static func entity(_ kind: Change.Kind, _ entity: ModelEntity) -> Change {
        func count(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }
        let counts =
            "\(count(entity.attributes.count, "attribute")), \(count(entity.relationships.count, "relationship"))"
        return Change(kind: kind, entity: entity.name, summary: counts)
    }

    /// Pairs of old and new names: first those with equal names, then those where the renaming identifier of the new
    /// one is the old one's name or identifier.
    private static func pairs(
        _ old: [(name: String, identifier: String?)], _ new: [(name: String, identifier: String?)]
    ) -> [(old: String?, new: String?)] {
        var unmatched = old
        var rest: [(name: String, identifier: String?)] = []
        var pairs: [(old: String?, new: String?)] = []
        for after in new {
            if let index = unmatched.firstIndex(where: { $0.name == after.name }) {
                pairs.append((unmatched.remove(at: index).name, after.name))
            } else {
                rest.append(after)
            }
        }
        for after in rest {
            let known = after.identifier ?? after.name
            let index = unmatched.firstIndex { $0.name == known || $0.identifier == known }
            pairs.append((index.map { unmatched.remove(at: $0).name }, after.name))
        }
        return pairs + unmatched.map { ($0.name, nil) }
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
        let pairs = Self.pairs(
            before.properties.map { ($0.name, $0.renamingIdentifier) },
            after.properties.map { ($0.name, $0.renamingIdentifier) })
        let ordered = pairs.sorted { ($0.new ?? $0.old ?? "") < ($1.new ?? $1.old ?? "") }
        for pair in ordered {
            // A property that moves up or down the hierarchy is the same property.
            let inherited = (
                old: pair.old == nil ? Self.inherited(pair.new, by: before, in: old) : nil,
                new: pair.new == nil ? Self.inherited(pair.old, by: after, in: new) : nil
            )
            compare(
                inherited.old?.property ?? before.properties.first { $0.name == pair.old },
                inherited.new?.property ?? after.properties.first { $0.name == pair.new }, of: after)
            if let owner = inherited.old?.owner ?? inherited.new?.owner {
                let (from, to) = inherited.old == nil ? (name, owner) : (owner, name)
                changes.append(
                    Change(
                        kind: .changed(aspect: "declared by", old: from, new: to), entity: name,
                        property: pair.new ?? pair.old, propertyKind: "property", summary: ""))
            }
        }
    }

    /// The property that an entity inherits from an ancestor.
    private static func inherited(
        _ name: String?, by entity: ModelEntity, in model: Model
    ) -> (property: any ModelProperty, owner: String)? {
        for ancestor in model.ancestors(of: entity) {
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
            if let attribute = after as? ModelAttribute { checkNew(attribute, of: entity) }
        case (let before?, nil):
            changes.append(change(.removed, before, summary: ModelAspects(before).summary))
        case (let before?, let after?):
            if before.name != after.name { changes.append(change(.renamed(from: before.name), after)) }
            for (aspect, old, new) in ModelAspects.differences(ModelAspects(before), ModelAspects(after)) {
                changes.append(change(.changed(aspect: aspect, old: old, new: new), after))
            }
            check(before, after, of: entity)
        case (nil, nil): break
        }
    }

    private mutating func checkNew(_ attribute: ModelAttribute, of entity: ModelEntity) {
        guard !attribute.isOptional, !attribute.isTransient, !attribute.isReadOnly, attribute.defaultValue == nil else {
            return
        }
        obstacles.append(
            .init(
                entity: entity.name, property: attribute.name,
                reason: "It is required and new, and there is no default value for existing objects."))
    }

    private mutating func check(
        _ before: any ModelProperty, _ after: any ModelProperty, of entity: ModelEntity
    ) {
        func obstacle(_ reason: String) -> ModelDifference.Obstacle {
            .init(entity: entity.name, property: after.name, reason: reason)
        }
        switch (before, after) {
        case (let before as ModelAttribute, let after as ModelAttribute):
            if before.type != after.type, !before.isTransient, !after.isTransient {
                obstacles.append(obstacle("Its type changes; a mapping model must define the conversion."))
            } else if before.isOptional, !after.isOptional, after.defaultValue == nil, !after.isTransient {
                obstacles.append(
                    obstacle("It becomes required, and there is no default value for objects without one."))
            }
        case (let before as ModelRelationship, let after as ModelRelationship):
            if before.isToMany, !after.isToMany {
                obstacles.append(obstacle("It becomes to-one, and it is not defined which of the objects to keep."))
            }
        default:
            if ModelAspects.kind(of: before) != ModelAspects.kind(of: after) {
                obstacles.append(obstacle("It becomes another kind of property."))
            }
        }
    }
}
