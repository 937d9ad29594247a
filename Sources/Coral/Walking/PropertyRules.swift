import CoreData

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
