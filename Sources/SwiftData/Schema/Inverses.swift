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
        // Stated here, or at the other end.
        if let stated = (property.metadata as? Schema.Relationship)?.inverseKeyPath {
            return destination.property(stated)
        }
        let back = destination.properties.filter {
            $0.destination.map { modelClass.isKind(of: ModelClass.of($0)) } == true
        }
        for candidate in back {
            guard let stated = (candidate.metadata as? Schema.Relationship)?.inverseKeyPath else { continue }
            if modelClass.property(stated) === property { return candidate }
        }
        // Inferred where neither end has the macro and the pair is the only one between the two classes.
        guard property.metadata == nil else { return nil }
        let forward = modelClass.properties.filter {
            $0.destination.map {
                destination.isKind(of: ModelClass.of($0)) || ModelClass.of($0).isKind(of: destination)
            } == true
        }
        guard forward.count == 1, back.count == 1, let only = back.first, only.metadata == nil, only !== property else {
            return nil
        }
        return only
    }
}
