import Coral
import CoreData
import ManagedObjects
import SQLStores

/// The rows and records of an import by their keys, and the statements that look up stored rows by key.
struct RowKeyIndex {
    let identities = IdentityMap()

    // MARK: - Digests

    /// The digest of a stored row's key; nil if a part is NULL, or no record can have it.
    func digest(of found: FoundRows, _ key: RowKey) -> KeyDigest? {
        var digest = KeyDigest(kind: key.number)
        for part in key.parts {
            if found.isNull(part.slot) { return nil }
            switch part {
            case .reference: digest.add(found.integer(part.slot))
            case .attribute(let attribute):
                guard attribute.codec.add(found, attribute.slot, to: &digest) else { return nil }
            }
        }
        return digest
    }

    /// The digest of the key in cells, of a record or of a reference; nil if a part is absent or null.
    func digest(of row: Int, in rows: RowBatch, _ key: RowKey) -> KeyDigest? {
        var digest = KeyDigest(kind: key.number)
        for index in key.parts.indices {
            let slot = key.parts[index].slot
            switch rows.kind(row, slot) {
            case .absent, .null: return nil
            case .text, .bytes: digest.add(rows.bytes(row, slot))
            default: digest.add(rows.integer(row, slot))
            }
        }
        return digest
    }

    // MARK: - Stored rows

    /// Looks up the keys that references contain. One statement.
    func lookUp(_ key: RowKey) throws {
        let wanted = key.wanted
        if wanted.count == 0 { return }
        try loadKeysWithoutIndex(key)
        if key.isLoaded {
            // Several rows have the key; the object importer handles the ambiguity.
            for row in 0..<wanted.count {
                if let digest = digest(of: row, in: wanted, key), key.ambiguous.contains(digest) {
                    throw key.ambiguity
                }
            }
            return wanted.removeAll()
        }
        let found = try key.table.find(wanted, rows: 0..<wanted.count, by: key.slots, among: key.table)
        // Several rows have the key; the object importer handles the ambiguity.
        try add(found, key) { _ in throw key.ambiguity }
        wanted.removeAll()
    }

    /// Loads all keys of the table if it was searched several times without an index: each search scans all rows.
    /// One statement; memory holds some 25 bytes for each row.
    func loadKeysWithoutIndex(_ key: RowKey) throws {
        key.lookupCount += 1
        guard key.lookupCount == 4, try !key.table.hasIndex(on: key.slots) else { return }
        try add(try key.table.findAll(), key) { key.ambiguous.insert($0) }
        key.isLoaded = true
    }

    /// Adds stored rows. Calls a function with each key that several of them have.
    private func add(_ found: FoundRows, _ key: RowKey, didFindSeveral: (KeyDigest) throws -> Void) throws {
        defer { found.finish() }
        while try found.next() {
            guard let digest = digest(of: found, key), let entity = found.entity else { continue }
            if let known = identities[digest] {
                if known.key != found.key { try didFindSeveral(digest) }
                continue
            }
            identities.set(digest, try IdentityMap.Owner(key: found.key, entity: entity, isRecord: false))
        }
    }

    // MARK: - Records that are imported through objects

    /// Marks the key of a record as that of a stored row only, because the record is imported through objects.
    func release(_ row: Int, of batch: RowImportBatch, key primaryKey: Int64) throws {
        guard let key = batch.entity.key, let digest = digest(of: row, in: batch.rows, key) else { return }
        identities.set(
            digest,
            try IdentityMap.Owner(key: primaryKey, entity: batch.entity.table.index, isRecord: false))
    }

    /// Adds the rows of imported objects. One statement for 500 of them.
    ///
    /// - Throws: `ObjectsReason` if a record that was imported as a row has the key of one.
    func add(_ objects: [NSManagedObject], by key: RowKey) throws {
        let numbers = objects.filter { $0.entity.isKindOf(entity: key.table.entity) }
            .compactMap(\.objectID.primaryKey)
        for start in stride(from: 0, to: numbers.count, by: EntityRows.lookupCount) {
            let part = numbers[start..<min(start + EntityRows.lookupCount, numbers.count)]
            let found = try key.table.find(part, among: key.table)
            defer { found.finish() }
            while try found.next() {
                guard let digest = digest(of: found, key), let entity = found.entity else { continue }
                if identities[digest]?.isRecord == true { throw key.repetition }
                identities.set(digest, try IdentityMap.Owner(key: found.key, entity: entity, isRecord: true))
            }
        }
    }

    // MARK: - References

    /// Sets the references of a batch whose destinations are known by now.
    func resolveReferences(of batch: RowImportBatch) {
        batch.waiting.removeAll { waiting in
            guard let owner = identities[waiting.digest], let key = owner.key else { return false }
            let slot = batch.entity.toOne[waiting.link].reference.slot
            batch.rows.setReference(to: key, entity: owner.entity, waiting.row, slot)
            return true
        }
    }
}
