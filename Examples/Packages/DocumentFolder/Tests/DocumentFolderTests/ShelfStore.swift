import Foundation
import SwiftData

/// What happens to a store in memory, and how it answers.
final class Shelf: @unchecked Sendable {  // because each test uses one thread
    var snapshots: [PersistentIdentifier: CardSnapshot] = [:]
    var lastKey = 0

    /// The requests, in their order.
    var log: [String] = []
    var authors: [String?] = []
    var saves: [DataStoreSaveChangesRequest<CardSnapshot>] = []
    var transactions: [ShelfTransaction] = []

    var filters = true
    var sorts = true
    var fetchError: (any Error)?
    var saveError: (any Error)?
    var validationError: (any Error)?
    /// Whether new models get identifiers.
    var identifies = true
    /// The values that the store gives instead of the saved ones.
    var correction: ((CardSnapshot) -> CardSnapshot)?
}

struct ShelfConfiguration: DataStoreConfiguration {
    typealias Store = ShelfStore

    var name = "shelf"
    var schema: Schema?
    let shelf: Shelf

    init(_ shelf: Shelf) { self.shelf = shelf }

    func validate() throws { if let error = shelf.validationError { throw error } }

    static func == (one: ShelfConfiguration, other: ShelfConfiguration) -> Bool { one.shelf === other.shelf }
    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(shelf)) }
}

/// A snapshot of a type of the program's own.
struct CardSnapshot: DataStoreSnapshot {
    let values: DefaultSnapshot
    var persistentIdentifier: PersistentIdentifier { values.persistentIdentifier }

    private init(_ values: DefaultSnapshot) { self.values = values }

    init(from backingData: any BackingData, relatedBackingDatas: inout [PersistentIdentifier: any BackingData]) {
        values = DefaultSnapshot(from: backingData, relatedBackingDatas: &relatedBackingDatas)
    }

    init(from decoder: any Decoder) throws { values = try DefaultSnapshot(from: decoder) }
    func encode(to encoder: any Encoder) throws { try values.encode(to: encoder) }

    func copy(
        persistentIdentifier: PersistentIdentifier, remappedIdentifiers: [PersistentIdentifier: PersistentIdentifier]?
    ) -> CardSnapshot {
        CardSnapshot(
            values.copy(persistentIdentifier: persistentIdentifier, remappedIdentifiers: remappedIdentifiers))
    }

    /// The values as JSON objects.
    var fields: [String: Any] {
        (try? JSONSerialization.jsonObject(with: JSONEncoder().encode(values))) as? [String: Any] ?? [:]
    }

    func setting(_ name: String, to value: Any) throws -> CardSnapshot {
        let changed = try JSONSerialization.data(withJSONObject: fields.merging([name: value]) { $1 })
        return try JSONDecoder().decode(CardSnapshot.self, from: changed)
    }
}

struct ShelfTransaction: HistoryTransaction {
    var author: String?
    var storeIdentifier = "shelf"
    var timestamp = Date(timeIntervalSinceReferenceDate: 0)
    var number: Int

    struct Token: Comparable, Hashable, Identifiable {
        let id: Int
        static func < (one: Token, other: Token) -> Bool { one.id < other.id }
    }

    var id: Int { number }
    var token: Token { Token(id: number) }
    var transactionIdentifier: Int { number }
    var changes: [HistoryChange] { [] }
}

/// A store in memory, with a history and deletions of its own.
final class ShelfStore: DataStore, DataStoreBatching, HistoryProviding {
    let configuration: ShelfConfiguration
    let identifier = "shelf"
    let schema: Schema
    private var shelf: Shelf { configuration.shelf }

    init(_ configuration: ShelfConfiguration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws {
        self.configuration = configuration
        schema = configuration.schema ?? Schema()
    }

    func fetch<T: PersistentModel>(
        _ request: DataStoreFetchRequest<T>
    ) throws -> DataStoreFetchResult<T, CardSnapshot> {
        let descriptor = request.descriptor
        shelf.log.append(
            "fetch \(Schema.entityName(for: T.self))" + (descriptor.predicate == nil ? "" : " where")
                + (descriptor.sortBy.isEmpty ? "" : " by") + (descriptor.fetchLimit.map { " limit \($0)" } ?? "")
                + (descriptor.fetchOffset.map { " offset \($0)" } ?? ""))
        shelf.authors.append(request.editingState.author)
        if let error = shelf.fetchError { throw error }
        // Sorting is refused first, unlike in the store of the package.
        if !shelf.sorts, !descriptor.sortBy.isEmpty { throw DataStoreError.preferInMemorySort }
        if !shelf.filters, descriptor.predicate != nil { throw DataStoreError.preferInMemoryFilter }
        var found = shelf.snapshots.values.filter {
            $0.persistentIdentifier.entityName == Schema.entityName(for: T.self)
        }
        // This store knows one condition and one order.
        if descriptor.predicate != nil { found.removeAll { ($0.fields["words"] as? Int ?? 0) <= 2 } }
        found.sort { one, other in
            descriptor.sortBy.isEmpty
                ? one.persistentIdentifier < other.persistentIdentifier
                : (one.fields["words"] as? Int ?? 0) > (other.fields["words"] as? Int ?? 0)
        }
        found.removeFirst(min(descriptor.fetchOffset ?? 0, found.count))
        if let limit = descriptor.fetchLimit { found = Array(found.prefix(limit)) }
        return DataStoreFetchResult(descriptor: descriptor, fetchedSnapshots: found)
    }

    func save(
        _ request: DataStoreSaveChangesRequest<CardSnapshot>
    ) throws -> DataStoreSaveChangesResult<CardSnapshot> {
        shelf.log.append("save \(request.inserted.count) \(request.updated.count) \(request.deleted.count)")
        shelf.saves.append(request)
        if let error = shelf.saveError { throw error }
        var remapped: [PersistentIdentifier: PersistentIdentifier] = [:]
        for snapshot in request.inserted where shelf.identifies {
            shelf.lastKey += 1
            remapped[snapshot.persistentIdentifier] = try .identifier(
                for: identifier, entityName: snapshot.persistentIdentifier.entityName, primaryKey: shelf.lastKey)
        }
        var corrected: [PersistentIdentifier: CardSnapshot] = [:]
        for snapshot in request.inserted + request.updated {
            let permanent = remapped[snapshot.persistentIdentifier] ?? snapshot.persistentIdentifier
            var saved = snapshot.copy(persistentIdentifier: permanent, remappedIdentifiers: remapped)
            if let correction = shelf.correction {
                saved = correction(saved)
                corrected[permanent] = saved
            }
            shelf.snapshots[permanent] = saved
        }
        for snapshot in request.deleted { shelf.snapshots[snapshot.persistentIdentifier] = nil }
        shelf.transactions.append(
            ShelfTransaction(author: request.editingState.author, number: shelf.transactions.count + 1))
        return DataStoreSaveChangesResult(
            for: identifier, remappedIdentifiers: remapped, snapshotsToReregister: corrected)
    }

    func delete<T: PersistentModel>(_ request: DataStoreBatchDeleteRequest<T>) throws {
        shelf.log.append("delete \(Schema.entityName(for: T.self))")
        if let error = shelf.saveError { throw error }
        shelf.snapshots = shelf.snapshots.filter { identifier, snapshot in
            identifier.entityName != Schema.entityName(for: T.self)
                || request.predicate != nil && (snapshot.fields["words"] as? Int ?? 0) <= 2
        }
    }

    func initializeState(for editingState: EditingState) { shelf.log.append("begin") }
    func invalidateState(for editingState: EditingState) { shelf.log.append("end") }

    static var historyType: ShelfTransaction.Type { ShelfTransaction.self }

    func fetchHistory(_ descriptor: HistoryDescriptor<ShelfTransaction>) throws -> [ShelfTransaction] {
        try shelf.transactions.filter { try descriptor.predicate?.evaluate($0) ?? true }
    }

    func deleteHistory(_ descriptor: HistoryDescriptor<ShelfTransaction>) throws {
        try shelf.transactions.removeAll { try descriptor.predicate?.evaluate($0) ?? true }
    }
}
