import Coral
import CoreData
import ManagedObjects
import SQLStores

/// Assigns a primary key to each record of a batch: that of a stored row, found by the record's key, or a new one.
/// The rules are those of `RecordMatching`. In cases in which these merge records or use the first of several rows,
/// `ObjectsReason` is thrown instead.
struct RowMatcher {
    private let batch: RowImportBatch
    private let key: RowKey
    private let index: RowKeyIndex
    private let equality: ValueEquality
    private let validates: Bool
    /// By row; nil for records without a key.
    private var digests: [KeyDigest?]
    /// The rows whose keys contain references that are not resolved.
    private var blocked: Set<Int> = []
    /// The rows of the round.
    private var rows: [Int] = []
    /// The rows of the round by the primary keys of matched rows, if all keys of the table are loaded.
    private var rowsByKey: [Int64: Int] = [:]

    private init(
        _ batch: RowImportBatch, by key: RowKey, in index: RowKeyIndex, equality: ValueEquality, validates: Bool
    ) {
        self.batch = batch
        self.key = key
        self.index = index
        self.equality = equality
        self.validates = validates
        digests = Array(repeating: nil, count: batch.rows.count)
    }

    /// Matches the records of a batch. One statement for each round and 500 records.
    ///
    /// - Parameter validates: Whether changed rows are validated.
    static func match(
        _ batch: RowImportBatch, in index: RowKeyIndex, equality: ValueEquality, validates: Bool
    ) throws {
        let table = batch.entity.table
        batch.firstNewKey = table.lastKey
        guard let key = batch.entity.key else {
            index.resolveReferences(of: batch)
            for row in 0..<batch.rows.count where !batch.isLeft(row) { batch.keys[row] = table.makeKey() }
            return
        }
        var matcher = RowMatcher(batch, by: key, in: index, equality: equality, validates: validates)
        try matcher.matchRounds((0..<batch.rows.count).filter { !batch.isLeft($0) })
        // A record may refer to a later one of its batch.
        index.resolveReferences(of: batch)
    }

    /// The slots of attributes in which a record differs from a stored row, as bits.
    private func differences(_ found: FoundRows, _ row: Int) -> UInt64 {
        var differences: UInt64 = 0
        for attribute in batch.entity.comparedAttributes {
            let slot = attribute.slot
            let isSame =
                switch batch.rows.kind(row, slot) {
                case .absent: true
                case .null: found.isNull(slot)
                default:
                    !found.isNull(slot) && attribute.codec.isSame(found, batch.rows, row, slot, by: equality)
                }
            if !isSame { differences |= 1 << UInt64(slot) }
        }
        return differences
    }
}

extension RowMatcher: RecordMatching {
    /// A stored row with a record's key.
    struct Candidate {
        var key: Int64
        /// The row that the statement has stepped to; nil for one that was matched before.
        var found: FoundRows?
    }

    mutating func beginRound() {
        index.resolveReferences(of: batch)
        blocked.removeAll()
        for waiting in batch.waiting {
            if key.slots.contains(batch.entity.toOne[waiting.link].reference.slot) { blocked.insert(waiting.row) }
        }
    }

    func isPending(_ row: Int) -> Bool { batch.keys[row] == 0 }

    func isReady(_ row: Int) -> Bool { blocked.isEmpty || !blocked.contains(row) }

    /// A key that refers to a later record needs the whole document; the object importer handles it.
    func refuseUnready(_ rows: [Int]) throws {
        throw ObjectsReason(
            .document, "A key of \(batch.entity.name) refers to a record that follows.", entity: batch.entity.name)
    }

    mutating func prepare(_ rows: [Int]) throws {
        if !batch.entity.table.wasEmpty { try index.loadKeysWithoutIndex(key) }
        self.rows = rows
        for row in rows { digests[row] = index.digest(of: row, in: batch.rows, key) }
    }

    // MARK: - Keys

    func keys(of row: Int) -> AtMostOne<KeyDigest> { AtMostOne(digests[row]) }

    /// The record that has stated a key; nil if the key is unknown, or known only as that of a stored row.
    func holder(of digest: KeyDigest) -> IdentityMap.Owner? {
        index.identities[digest].flatMap { $0.isRecord || $0.isWaiting ? $0 : nil }
    }

    func isSame(_ holder: IdentityMap.Owner, _ row: Int) -> Bool { holder.isWaiting && holder.row == row }

    mutating func hold(_ digest: KeyDigest, by row: Int) throws {
        if key.isLoaded {
            if key.ambiguous.contains(digest) { throw key.ambiguity }
            if let found = index.identities[digest]?.key { rowsByKey[found] = row }
        }
        index.identities.set(digest, IdentityMap.Owner(waiting: row))
    }

    /// Several records of one object are merged by the object importer.
    func merge(_ row: Int, into holder: IdentityMap.Owner) throws {
        throw key.repetition
    }

    // MARK: - Stored rows

    mutating func lookUp() throws {
        let table = batch.entity.table
        if key.isLoaded {
            if rowsByKey.isEmpty { return }
            let found = try table.find(rowsByKey.keys.sorted(), among: key.table)
            defer { found.finish() }
            while try found.next() {
                if let row = rowsByKey[found.key] { try adopt(found, for: row) }
            }
            rowsByKey.removeAll()
        } else if !table.wasEmpty {
            let found = try table.find(batch.rows, rows: rows, by: key.slots, among: key.table)
            defer { found.finish() }
            while try found.next() {
                guard let digest = index.digest(of: found, key), let owner = index.identities[digest],
                    owner.isWaiting
                else { continue }
                try adopt(found, for: owner.row)
            }
        }
    }

    private mutating func adopt(_ found: FoundRows, for row: Int) throws {
        guard let digest = digests[row] else { return }
        // The statement returns the rows of a key in succession: if the record is already matched, this is the second row.
        try adopt(
            Candidate(key: found.key, found: found), count: isPending(row) ? 1 : 2, for: row, digest)
    }

    func match(of row: Int) -> Candidate? { isPending(row) ? nil : Candidate(key: batch.keys[row]) }

    func match(of holder: IdentityMap.Owner) -> Candidate? { holder.key.map { Candidate(key: $0) } }

    func isSame(_ one: Candidate, _ other: Candidate) -> Bool { one.key == other.key }

    /// Matches a stored row with a record, and computes the slots that differ.
    func setMatch(_ candidate: Candidate, of row: Int) throws {
        guard let found = candidate.found else { return }
        let entity = batch.entity
        guard found.entity == entity.table.index else {
            return try leave(row, matching: found)
        }
        batch.keys[row] = found.key
        batch.changes[row] = differences(found, row)
        if validates { entity.table.addValidatedValues(of: found, to: row, of: batch.rows) }
        for (number, link) in entity.toOne.enumerated() {
            let slot = link.reference.slot
            if found.isNull(slot) { continue }
            batch.references[row * entity.toOne.count + number] = found.integer(slot)
        }
    }

    /// Marks a record as one that is imported through objects, because a row of another entity has its key.
    private func leave(_ row: Int, matching found: FoundRows) throws {
        batch.leave(row, because: batch.entity.ofOtherEntity)
        guard let digest = digests[row], let entity = found.entity else { return }
        index.identities.set(digest, try IdentityMap.Owner(key: found.key, entity: entity, isRecord: false))
    }

    /// The object importer reports the rows, and uses the first.
    func noteSeveral(_ objects: Int, _ row: Int, _ digest: KeyDigest) throws { throw key.ambiguity }

    func prefers(_ known: Candidate, to other: Candidate, for row: Int) -> Bool { false }

    func refuseAmbiguity(_ row: Int, _ known: Candidate, _ other: Candidate) throws { throw key.ambiguity }

    /// Assigns new primary keys to the records that were not found, and adds the keys of all to the index.
    func complete(_ rows: [Int]) throws {
        let table = batch.entity.table
        for row in rows where !batch.isLeft(row) {
            if batch.keys[row] == 0 { batch.keys[row] = table.makeKey() }
            guard let digest = digests[row] else { continue }
            index.identities.set(
                digest, try IdentityMap.Owner(key: batch.keys[row], entity: table.index, isRecord: true))
        }
    }
}

/// A sequence of one element or none.
struct AtMostOne<Element>: Sequence, IteratorProtocol {
    private var element: Element?

    init(_ element: Element?) { self.element = element }

    mutating func next() -> Element? {
        defer { element = nil }
        return element
    }
}
