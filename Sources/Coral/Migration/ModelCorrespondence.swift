import CoreData
import ModelFiles

/// The correspondence between the entities and properties of a newer model and those of an older one, by names and renaming
/// identifiers.
struct ModelCorrespondence {
    let source: NSManagedObjectModel
    let destination: NSManagedObjectModel
    /// The names of source entities by those of destination entities.
    let sourceEntities: [String: String]
    /// The reverse of ``sourceEntities``.
    let destinationEntities: [String: String]

    init(from source: NSManagedObjectModel, to destination: NSManagedObjectModel) {
        self.source = source
        self.destination = destination
        let pairs = ModelMatch.pairs(
            source.entities.map { .init($0.name ?? "", identifier: $0.renamingIdentifier, kind: .entity) },
            destination.entities.map { .init($0.name ?? "", identifier: $0.renamingIdentifier, kind: .entity) })
        var sourceEntities: [String: String] = [:]
        for case (let old?, let new?) in pairs { sourceEntities[new] = old }
        self.sourceEntities = sourceEntities
        destinationEntities = Dictionary(sourceEntities.map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// The source entity of a destination entity.
    func source(of entity: NSEntityDescription) -> NSEntityDescription? {
        sourceEntities[entity.name ?? ""].flatMap { source.entitiesByName[$0] }
    }

    /// The destination entity of a source entity.
    func destination(of entity: NSEntityDescription) -> NSEntityDescription? {
        destinationEntities[entity.name ?? ""].flatMap { destination.entitiesByName[$0] }
    }

    /// The names of the stored properties of a source entity, by those of a destination entity.
    func properties(from source: NSEntityDescription, to destination: NSEntityDescription) -> [String: String] {
        func parts(_ entity: NSEntityDescription) -> [ModelMatch.Part] {
            Self.properties(of: entity).map {
                .init(
                    $0.name, identifier: $0.renamingIdentifier,
                    kind: $0 is NSRelationshipDescription ? .relationship : .attribute)
            }
        }
        var names: [String: String] = [:]
        for case (let before?, let after?) in ModelMatch.pairs(parts(source), parts(destination)) {
            names[after] = before
        }
        return names
    }

    /// The stored properties of an entity, including inherited ones, sorted by name.
    static func properties(of entity: NSEntityDescription) -> [NSPropertyDescription] {
        entity.propertiesByName.sorted { $0.key < $1.key }.map(\.value).filter {
            !$0.isTransient && !($0 is NSFetchedPropertyDescription)
        }
    }

    // MARK: - Several steps

    /// Whether migrating from the first of several versions directly to the last gives the same objects as going through
    /// all of them: every entity and property has the same source, and the intermediate versions have no other default values.
    static func isDirect(through models: [NSManagedObjectModel]) -> Bool {
        guard let first = models.first, let last = models.last, models.count > 2 else { return true }
        let direct = ModelCorrespondence(from: first, to: last)
        let steps = zip(models, models.dropFirst()).map(ModelCorrespondence.init(from:to:))
        for entity in last.entities {
            let chain = Self.lineage(of: entity, over: steps)
            guard chain.first?.flatMap({ $0 })?.name == direct.source(of: entity)?.name else { return false }
            let names = direct.source(of: entity).map { direct.properties(from: $0, to: entity) } ?? [:]
            for property in Self.properties(of: entity) {
                guard isDirect(property, chain, steps, from: names[property.name]) else { return false }
            }
        }
        return true
    }

    private static func isDirect(
        _ property: NSPropertyDescription, _ chain: [NSEntityDescription?], _ steps: [ModelCorrespondence],
        from direct: String?
    ) -> Bool {
        var name: String? = property.name
        let initial = (property as? NSAttributeDescription)?.defaultValue as? NSObject
        for (index, step) in steps.enumerated().reversed() {
            guard let current = name, let after = chain[index + 1] else { break }
            guard let before = chain[index] else {
                name = nil
                break
            }
            name = step.properties(from: before, to: after)[current]
            // The value of an object is the default value of the version that adds the attribute or makes it required.
            let declared = after.attributesByName[current]?.defaultValue as? NSObject
            if index + 2 < chain.count, declared != initial { return false }
        }
        return name == direct
    }

    /// An entity of the last model in every model; nil where it does not exist yet.
    private static func lineage(
        of entity: NSEntityDescription, over steps: [ModelCorrespondence]
    ) -> [NSEntityDescription?] {
        var lineage: [NSEntityDescription?] = [entity]
        for step in steps.reversed() { lineage.append(lineage[lineage.count - 1].flatMap(step.source(of:))) }
        return lineage.reversed()
    }
}
