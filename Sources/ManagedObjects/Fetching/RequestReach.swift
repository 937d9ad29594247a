import FoundationAdditions
import PredicateLanguage

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
