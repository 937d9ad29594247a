import CoreData

/// How the records of an import are matched with each other and with stored objects. This protocol implements the rules.
/// Conforming types store the index of keys and look up stored objects: `IdentityMatcher` looks up managed objects,
/// `RowMatcher` rows.
///
/// 1. Records are matched in rounds. A round has the records whose keys are known: first those with keys of attributes
///    alone, then those whose keys contain references to records of earlier rounds. Records whose keys contain each other
///    are refused.
/// 2. Records with the same key are one object. A key with a part that is null or unknown identifies nothing.
/// 3. A record represents the stored object that has one of its keys. It is refused if its keys belong to two objects. If
///    several stored objects have the same key, the first is used, and reported.
/// 4. A record without a stored object is a new object.
@usableFromInline package protocol RecordMatching {
    /// A record of the document, or a reference to an object.
    associatedtype Record
    /// The values of a key; equal keys identify the same object.
    associatedtype Key
    associatedtype Keys: Sequence<Key>
    /// A representation of the record that stated a key first.
    associatedtype Holder
    /// A stored object.
    associatedtype Object

    /// Resolves the references in keys whose destinations are known by now.
    mutating func beginRound() throws
    /// Whether a record is not matched yet, and not merged into another one.
    func isPending(_ record: Record) -> Bool
    /// Whether the records to which the keys of a record refer are matched.
    func isReady(_ record: Record) -> Bool
    /// Refuses records whose keys contain each other or an unresolved reference.
    mutating func refuseUnready(_ records: [Record]) throws

    /// Determines the keys of the records of a round, and matches records by the criteria that take precedence over keys.
    mutating func prepare(_ records: [Record]) throws
    /// The keys of a record whose parts are all known and not null, in order of preference.
    func keys(of record: Record) -> Keys
    func holder(of key: Key) -> Holder?
    func isSame(_ holder: Holder, _ record: Record) -> Bool
    /// Adds a key to the index, and to those that are looked up.
    mutating func hold(_ key: Key, by record: Record) throws
    /// Merges a record into an earlier record with the same key.
    mutating func merge(_ record: Record, into holder: Holder) throws

    /// Looks up the added keys: calls `adopt` for each stored object that has one of them.
    mutating func lookUp() throws
    /// The stored object with which a record, or the earlier record with its key, is matched.
    func match(of record: Record) -> Object?
    func match(of holder: Holder) -> Object?
    func isSame(_ one: Object, _ other: Object) -> Bool
    mutating func setMatch(_ object: Object, of record: Record) throws
    /// Reports that several stored objects have a key of a record.
    mutating func noteSeveral(_ objects: Int, _ record: Record, _ key: Key) throws
    /// Whether an object that was matched by another criterion takes precedence over the object with the key.
    mutating func prefers(_ known: Object, to other: Object, for record: Record) -> Bool
    /// Refuses a record whose keys belong to two objects.
    mutating func refuseAmbiguity(_ record: Record, _ known: Object, _ other: Object) throws

    /// Matches records that no key has matched by other criteria, and ends the round.
    mutating func complete(_ records: [Record]) throws
}

// Inlinable, because `CoralRows` would call generic code that is not specialised: 4 % of the instructions of an import.
extension RecordMatching {
    /// Matches all records. Throws the errors of looking up.
    @inlinable package mutating func matchRounds(_ records: [Record]) throws {
        var pending = records
        while !pending.isEmpty {
            try beginRound()
            var ready: [Record] = []
            var waiting: [Record] = []
            ready.reserveCapacity(pending.count)
            for record in pending where isPending(record) {
                if isReady(record) { ready.append(record) } else { waiting.append(record) }
            }
            guard !ready.isEmpty else { return try refuseUnready(waiting) }
            try matchRound(ready)
            pending = waiting
        }
    }

    @inlinable mutating func matchRound(_ records: [Record]) throws {
        try prepare(records)
        for record in records {
            for key in keys(of: record) {
                guard let holder = holder(of: key) else {
                    try hold(key, by: record)
                    continue
                }
                if isSame(holder, record) { continue }
                if let one = match(of: record), let other = match(of: holder), !isSame(one, other) {
                    try refuseAmbiguity(record, one, other)
                } else {
                    try merge(record, into: holder)
                }
            }
        }
        try lookUp()
        try complete(records)
    }

    /// Matches a record with the stored object that has one of its keys, or reports why this is not possible.
    ///
    /// - Parameters:
    ///   - object: The first of them.
    ///   - count: Their number, if it is known.
    @inlinable package mutating func adopt(_ object: Object, count: Int, for record: Record, _ key: Key) throws {
        if count > 1 { try noteSeveral(count, record, key) }
        guard let known = match(of: record) else { return try setMatch(object, of: record) }
        if isSame(known, object) || prefers(known, to: object, for: record) { return }
        try refuseAmbiguity(record, known, object)
    }
}

/// Records without the key that their entity declares, treated as Sync does: in a to-one relationship such a record
/// represents the current destination, or a new one; elsewhere it is omitted.
enum KeylessRecords {
    /// Matches the records in to-one relationships, and returns the numbers of the nodes that are omitted.
    static func match(in payload: ImportPayload) -> Set<Int> {
        var omitted: Set<Int> = []
        var destinations: [(owner: ImportNode, relationship: String, node: ImportNode)] = []
        for owner in payload.nodes where owner.resolved === owner && !owner.isReference {
            if owner.isTop, lacksKey(owner) { omitted.insert(owner.number) }
            for relationship in owner.entity.relationships.values {
                for node in owner.destinations(of: relationship.name).map(\.resolved) where lacksKey(node) {
                    if relationship.isToMany {
                        omitted.insert(node.number)
                    } else {
                        destinations.append((owner, relationship.name, node))
                    }
                }
            }
        }
        // An owner may itself be a record without a key, which must be matched first; so passes are repeated until none matches.
        var isChanged = true
        while isChanged {
            isChanged = false
            for (owner, relationship, node) in destinations where node.matchedID == nil {
                guard let object = owner.object?.value(forKey: relationship) as? NSManagedObject else { continue }
                node.matchedID = object.objectID
                node.object = object
                isChanged = true
            }
        }
        return omitted
    }

    private static func lacksKey(_ node: ImportNode) -> Bool {
        !node.isReference && !node.isBound && node.matchedID == nil && node.keys.isEmpty && !node.entity.rules.isEmpty
    }
}
