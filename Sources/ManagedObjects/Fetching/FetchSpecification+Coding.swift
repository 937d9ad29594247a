import Foundation

// The keys are those of Apple's archives if the value is archived in the same form.

extension FetchSpecification {
    private enum Key {
        static let entityName = "NSEntityName"
        static let predicate = "NSPredicate"
        static let havingPredicate = "NSHavingPredicate"
        static let sortDescriptors = "NSSortDescriptors"
        static let limit = "NSFetchLimit"
        static let offset = "NSFetchOffset"
        static let batchSize = "NSBatchSize"
        static let resultType = "NSResultType"
        static let prefetching = "NSRelationshipKeyPathsForPrefetching"
        static let propertiesToFetch = "NSValuesToFetch"
        static let propertiesToGroupBy = "NSValuesToGroupBy"
        static let flags = "Flags"
    }

    /// The Boolean properties in the order of their bits.
    private static var flags: [WritableKeyPath<FetchSpecification, Bool>] {
        [
            \.includesSubentities, \.includesPropertyValues, \.includesPendingChanges, \.returnsObjectsAsFaults,
            \.shouldRefreshRefetchedObjects, \.returnsDistinctResults,
        ]
    }

    init?(coder: NSCoder) {
        entityName = coder.decodeObject(forKey: Key.entityName) as? String
        predicate = coder.decodeObject(forKey: Key.predicate) as? NSPredicate
        havingPredicate = coder.decodeObject(forKey: Key.havingPredicate) as? NSPredicate
        sortDescriptors = coder.decodeObject(forKey: Key.sortDescriptors) as? [NSSortDescriptor]
        fetchLimit = coder.decodeInteger(forKey: Key.limit)
        fetchOffset = coder.decodeInteger(forKey: Key.offset)
        fetchBatchSize = coder.decodeInteger(forKey: Key.batchSize)
        resultType = NSFetchRequestResultType(rawValue: UInt(max(0, coder.decodeInteger(forKey: Key.resultType))))
        relationshipKeyPathsForPrefetching = coder.decodeObject(forKey: Key.prefetching) as? [String]
        propertiesToFetch = coder.decodeObject(forKey: Key.propertiesToFetch) as? [String]
        propertiesToGroupBy = coder.decodeObject(forKey: Key.propertiesToGroupBy) as? [String]
        guard coder.containsValue(forKey: Key.flags) else { return nil }
        let bits = coder.decodeInteger(forKey: Key.flags)
        for (bit, flag) in Self.flags.enumerated() { self[keyPath: flag] = bits & (1 << bit) != 0 }
    }

    /// Encodes everything except the entity, of which the name is encoded, and expressions to fetch, which are omitted.
    func encode(with coder: NSCoder) {
        coder.encode(entity?.name ?? entityName, forKey: Key.entityName)
        coder.encode(predicate, forKey: Key.predicate)
        coder.encode(havingPredicate, forKey: Key.havingPredicate)
        coder.encode(sortDescriptors, forKey: Key.sortDescriptors)
        coder.encode(fetchLimit, forKey: Key.limit)
        coder.encode(fetchOffset, forKey: Key.offset)
        coder.encode(fetchBatchSize, forKey: Key.batchSize)
        coder.encode(Int(resultType.rawValue), forKey: Key.resultType)
        coder.encode(relationshipKeyPathsForPrefetching, forKey: Key.prefetching)
        coder.encode(propertiesToFetch.map(NSEntityDescription.names), forKey: Key.propertiesToFetch)
        coder.encode(propertiesToGroupBy.map(NSEntityDescription.names), forKey: Key.propertiesToGroupBy)
        var bits = 0
        for (bit, flag) in Self.flags.enumerated() where self[keyPath: flag] { bits |= 1 << bit }
        coder.encode(bits, forKey: Key.flags)
    }
}
