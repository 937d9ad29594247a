import CoreData
import Foundation
import Synchronization

/// What one save, of any process, has changed.
public struct NoteChanges: Encodable, Sendable {
    /// The keys of inserted and changed notes that still exist.
    public var changed: [String]
    public var deleted: [String]
    /// The place in the history, behind which a client continues.
    let position: Data

    private enum CodingKeys: CodingKey { case changed, deleted }
}

extension NoteStore {
    /// The changes behind a position, and those to come; without a position only those to come.
    func changes(after position: Data?) throws -> some AsyncSequence<NoteChanges, any Error> & Sendable {
        let token = try position.map {
            try NSKeyedUnarchiver.unarchivedObject(ofClass: NSPersistentHistoryToken.self, from: $0)
        }
        let followed = try stores.followed.store(of: tenant) { stores.description(of: tenant) }
        let present = followed.container.persistentStoreCoordinator.currentPersistentHistoryToken(fromStores: nil)
        return followed.container.historyChanges(after: (token ?? nil) ?? present).map {
            try await followed.changes(of: $0)
        }
    }
}

/// The stores whose history clients follow. They are not those of the pool, which closes a store between two requests.
final class FollowedStores: Sendable {
    private struct Weak { weak var store: FollowedStore? }

    private let stores = Mutex<[String: Weak]>([:])

    /// The store of a tenant, which is open until the last client has gone.
    func store(of tenant: String, describe: () -> NSPersistentStoreDescription) throws -> FollowedStore {
        try stores.withLock { stores in
            if let store = stores[tenant]?.store { return store }
            let store = try FollowedStore(describe())
            stores = stores.filter { $0.value.store != nil }
            stores[tenant] = Weak(store: store)
            return store
        }
    }
}

final class FollowedStore: Sendable {
    let container: NSPersistentContainer
    private let readers: ContextPool

    init(_ description: NSPersistentStoreDescription) throws {
        container = NSPersistentContainer(name: "Notes", managedObjectModel: try NoteStores.model.get())
        container.persistentStoreDescriptions = [description]
        var failure: (any Error)?
        container.loadPersistentStores { failure = $1 }
        if let failure { throw failure }
        readers = ContextPool(container, limit: 1)
    }

    func changes(of transaction: NSPersistentHistoryTransaction) async throws -> NoteChanges {
        let all = transaction.changes ?? []
        let present = all.filter { $0.changeType != .delete }.map(\.changedObjectID)
        let keys = try await readers.withContext { context in
            let request = Note.fetchRequest()
            request.predicate = NSPredicate(format: "SELF IN %@", present)
            return try context.fetch(request).compactMap(\.key)
        }
        return NoteChanges(
            changed: keys, deleted: all.compactMap { $0.tombstone?["key"] as? String },
            position: try NSKeyedArchiver.archivedData(withRootObject: transaction.token, requiringSecureCoding: true))
    }
}
