import CoreData
import Foundation
import ManagedObjects
import Synchronization

/// Saves of other contexts of the container, which a context merges before its next fetch or save.
///
/// A context is used by one thread at a time, which is not known here. So the notification only notes the identifiers.
final class ForeignSaves: Sendable {
    private struct Noted: @unchecked Sendable {  // because IDs are immutable
        var updated: Set<NSManagedObjectID> = []
        var deleted: Set<NSManagedObjectID> = []
        /// Whether any row may have changed, or be gone.
        var isUnknown = false
        var observer: Observer?
    }

    private struct Observer: @unchecked Sendable {  // because only `deinit` uses the token again
        let token: any NSObjectProtocol
    }

    private let noted = Mutex(Noted())
    private let listeners: ChangeListeners

    /// Observes the saves of a coordinator's other contexts.
    ///
    /// - Parameter listeners: Receive the names of the saved entities.
    init(
        of coordinator: NSPersistentStoreCoordinator, except context: NSManagedObjectContext,
        _ listeners: ChangeListeners
    ) {
        self.listeners = listeners
        let own = ObjectIdentifier(context)
        let store = ObjectIdentifier(coordinator)
        let observer = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextDidSaveObjectIDs, object: nil, queue: nil
        ) { [weak self] notification in
            guard let other = notification.object as? NSManagedObjectContext, ObjectIdentifier(other) != own,
                other.persistentStoreCoordinator.map(ObjectIdentifier.init) == store
            else { return }
            let inserted = notification.userInfo?[NSInsertedObjectIDsKey] as? Set<NSManagedObjectID> ?? []
            let updated = notification.userInfo?[NSUpdatedObjectIDsKey] as? Set<NSManagedObjectID> ?? []
            let deleted = notification.userInfo?[NSDeletedObjectIDsKey] as? Set<NSManagedObjectID> ?? []
            self?.note(inserted, updated, deleted)
        }
        let kept = Observer(token: observer)
        noted.withLock { $0.observer = kept }
    }

    /// Notes what others have saved.
    func note(
        _ inserted: Set<NSManagedObjectID>, _ updated: Set<NSManagedObjectID>, _ deleted: Set<NSManagedObjectID>
    ) {
        noted.withLock { noted in
            noted.updated.formUnion(updated)
            noted.deleted.formUnion(deleted)
        }
        listeners.send(
            Set(inserted.union(updated).union(deleted).compactMap(\.entity.name)), isLocal: false)
    }

    /// Notes that any row may have changed, or be gone.
    func noteUnknown() {
        noted.withLock { $0.isUnknown = true }
        listeners.send(nil, isLocal: false)
    }

    deinit {
        if let observer = noted.withLock({ $0.observer }) { NotificationCenter.default.removeObserver(observer.token) }
    }

    /// Merges what has been saved since the last time.
    func merge(into context: NSManagedObjectContext) {
        var changes = noted.withLock { noted in
            defer { (noted.updated, noted.deleted, noted.isUnknown) = ([], [], false) }
            return (updated: noted.updated, deleted: noted.deleted, isUnknown: noted.isUnknown)
        }
        let deleted = changes.deleted
        if changes.isUnknown {
            // The rows are read again: those that exist are merged, as changed ones are.
            changes.deleted.formUnion(context.registeredObjects.filter { !$0.isInserted }.map(\.objectID))
        }
        if changes.updated.isEmpty, changes.deleted.isEmpty { return }
        // A store of the program's own kind may still have the row that it has deleted.
        func isGone(_ object: ModelObject) -> Bool { deleted.contains(object.objectID) && !object.hasChanges }
        // A model whose row is gone keeps the values that it has. One that has never been read has none.
        let models = changes.deleted.compactMap { context.registeredObject(for: $0) as? ModelObject }
            .compactMap { object in object.model?._record.map { (object, $0, isGone(object)) } }
        for (object, record, _) in models where !object.isFault { record.keepValues() }
        NSManagedObjectContext.mergeChanges(
            fromRemoteContextSave: [NSUpdatedObjectIDsKey: changes.updated, NSDeletedObjectIDsKey: changes.deleted],
            into: [context])
        for (object, record, isGone) in models where isGone || object.managedObjectContext == nil {
            record.detach(deleted: true)
        }
    }
}
