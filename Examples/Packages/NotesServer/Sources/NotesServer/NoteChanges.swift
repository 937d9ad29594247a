import CoreData
import Foundation

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
        let present = container.persistentStoreCoordinator.currentPersistentHistoryToken(fromStores: nil)
        return container.historyChanges(after: (token ?? nil) ?? present).map { try await changes(of: $0) }
    }

    private func changes(of transaction: NSPersistentHistoryTransaction) async throws -> NoteChanges {
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
