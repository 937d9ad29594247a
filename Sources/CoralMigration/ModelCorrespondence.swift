import Coral
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

    /// Why migrating from the first of several versions directly to the last does not give the same objects as going through
    /// all of them; nil if it does: every entity and property has the same source, and the intermediate versions give objects no
    /// other default values.
    static func difference(ofDirectStepThrough versions: [ModelVersion]) -> String? {
        guard let first = versions.first, let last = versions.last, versions.count > 2 else { return nil }
        let direct = ModelCorrespondence(from: first.model, to: last.model)
        let steps = zip(versions, versions.dropFirst()).map { ModelCorrespondence(from: $0.model, to: $1.model) }
        for entity in last.model.sortedEntities {
            let name = entity.name ?? ""
            let chain = lineage(of: entity, over: steps)
            let before = direct.source(of: entity)
            guard chain.first?.flatMap({ $0 })?.name == before?.name else {
                return "\(name): Its objects do not have the same source."
            }
            let names = before.map { direct.properties(from: $0, to: entity) } ?? [:]
            let found = sources(of: entity, chain, steps)
            for property in properties(of: entity) {
                if let index = found[property.name]?.otherDefault {
                    return "\(name).\(property.name): In \"\(versions[index].name)\" objects get another default value."
                }
                if found[property.name]?.name != names[property.name] {
                    return "\(name).\(property.name): Its values do not have the same source."
                }
            }
        }
        return nil
    }

    /// Where the values of a property come from over several steps.
    private struct Source {
        /// The property of the first version; nil if there is none.
        var name: String?
        /// The position of a version in between that gives objects a default value which one step would not give them.
        var otherDefault: Int?
    }

    private static func sources(
        of entity: NSEntityDescription, _ chain: [NSEntityDescription?], _ steps: [ModelCorrespondence]
    ) -> [String: Source] {
        let final = entity.attributesByName
        var sources: [String: Source] = [:]
        for property in properties(of: entity) { sources[property.name] = Source(name: property.name) }
        for (index, step) in steps.enumerated().reversed() {
            guard let after = chain[index + 1] else { break }
            let names = chain[index].map { step.properties(from: $0, to: after) }
            let (former, attributes) = (chain[index]?.attributesByName, after.attributesByName)
            for (property, source) in sources {
                guard let current = source.name else { continue }
                let name = names?[current]
                sources[property]?.name = name
                guard let former, index + 2 < chain.count, let attribute = attributes[current],
                    let last = final[property]
                else { continue }
                // The version that adds an attribute gives its default value to all objects, and the one that makes it required to
                // those without a value.
                let before = name.flatMap { former[$0] }
                let isFilled = before.map { $0.isOptional && !attribute.isOptional } ?? true
                let isSame = attribute.defaultValue as? NSObject == last.defaultValue as? NSObject
                if isFilled, !isSame || before != nil && last.isOptional {
                    sources[property]?.otherDefault = index + 1
                }
            }
        }
        return sources
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
