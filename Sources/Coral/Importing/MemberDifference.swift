/// The changes that a record makes to the members of a to-many relationship, computed for objects and for rows.
///
/// Members are identified by a key, such as a primary key or an `ObjectIdentifier`. Results are indexes in the arrays that
/// the caller has passed, so that the caller can find the objects or rows.
struct MemberDifference {
    /// The listed members, each once, in order.
    private(set) var listed: [Int]
    /// The listed members that are not present.
    private(set) var added: [Int] = []
    /// The present members that are removed.
    private(set) var removed: [Int] = []
    /// Whether the members are the same, in another order that matters.
    private(set) var isMoved = false

    /// Whether the relationship stays as it is.
    var isEmpty: Bool { added.isEmpty && removed.isEmpty && !isMoved }

    /// - Parameters:
    ///   - present: The keys of the present members, each once.
    ///   - given: The keys of the members that a record lists.
    ///   - policy: What happens to present members that are not listed.
    ///   - isOrdered: Whether the relationship is ordered.
    init<Key: Hashable>(
        from present: [Key], to given: [Key], policy: RelationshipImportPolicy, isOrdered: Bool
    ) {
        listed = Array(given.indices)
        // The most frequent cases need no set: nothing changes, or some members are added to a new object.
        if present == given { return }
        listed = Self.firstOccurrences(in: given)
        guard !present.isEmpty else {
            added = listed
            return
        }
        let old = Set(present)
        added = listed.filter { !old.contains(given[$0]) }
        guard policy != .union else { return }
        let new = Set(given)
        removed = present.indices.filter { !new.contains(present[$0]) }
        isMoved = isOrdered && added.isEmpty && removed.isEmpty && !zip(present, listed).allSatisfy { $0 == given[$1] }
    }

    /// The indexes of the keys that do not occur before in the list.
    private static func firstOccurrences<Key: Hashable>(in keys: [Key]) -> [Int] {
        // To compare some keys takes less time than to create a set.
        if keys.count <= 8 { return keys.indices.filter { !keys[..<$0].contains(keys[$0]) } }
        var met = Set<Key>(minimumCapacity: keys.count)
        return keys.indices.filter { met.insert(keys[$0]).inserted }
    }
}
