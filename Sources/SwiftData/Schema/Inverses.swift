import ModelFiles
import Synchronization

/// Finds the inverse of a relationship: the stated one, else the only possible one.
enum Inverses {
    /// The inverse of a class's relationship, among all models reachable from the class. Cost: a look-up after the first time.
    static func inverse(of property: ModelProperty, in modelClass: ModelClass) -> ModelProperty? {
        let key = Key(modelClass: ObjectIdentifier(modelClass), index: property.index)
        if let found = known.withLock({ $0[key] }) { return found }
        let found = find(property, in: modelClass)
        known.withLock { $0[key] = .some(found) }
        return found
    }

    private struct Key: Hashable {
        let modelClass: ObjectIdentifier
        let index: Int
    }

    private static let known = Mutex<[Key: ModelProperty?]>([:])

    private static func find(_ property: ModelProperty, in modelClass: ModelClass) -> ModelProperty? {
        guard let destination = property.destination.map(ModelClass.of) else { return nil }
        let (own, others) = (ends(of: modelClass), ends(of: destination))
        guard let end = own.first(where: { $0.name == property.name }) else { return nil }
        let classes = Dictionary(
            (ModelClass.reachable(from: [modelClass.type])).map { ($0.name, $0) },
            uniquingKeysWith: { first, _ in first })
        let name = end.inverse(in: modelClass.name, own: own, others: others) { name, other in
            guard let one = classes[name], let other = classes[other] else { return false }
            return one.isKind(of: other)
        }
        return name.flatMap(destination.property(named:))
    }

    /// The relationships of a class, inherited ones included.
    private static func ends(of modelClass: ModelClass) -> [RelationshipEnd] {
        modelClass.properties.compactMap { property in
            guard let destination = property.destination.map(ModelClass.of) else { return nil }
            let stated = (property.metadata as? Schema.Relationship)?.inverseKeyPath
            return RelationshipEnd(
                name: property.name, destination: destination.name, isStated: property.metadata != nil,
                inverse: stated.flatMap { destination.property($0)?.name })
        }
    }
}
