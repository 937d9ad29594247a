import CoreData
import Foundation

/// Collects the identifiers of the records that a context changes, until they are sent to the server.
public final class ChangeObserver {
    private let context: NSManagedObjectContext
    private let lock = NSLock()
    private var identifiers: Set<String> = []

    public init(context: NSManagedObjectContext) {
        self.context = context
        NotificationCenter.default.addObserver(
            self, selector: #selector(objectsDidChange(notification:)), name: .NSManagedObjectContextObjectsDidChange,
            object: context)
    }

    deinit {
        NotificationCenter.default.removeObserver(self)
    }

    @objc func objectsDidChange(notification: Notification) {
        let keys = [NSInsertedObjectsKey, NSUpdatedObjectsKey, NSDeletedObjectsKey]
        for key in keys {
            let objects = notification.userInfo?[key] as? Set<NSManagedObject> ?? []
            for case let record as Record in objects {
                guard let identifier = record.identifier else { continue }
                lock.lock()
                identifiers.insert(identifier)
                lock.unlock()
            }
        }
    }

    /// The identifiers since the last call.
    public func takeIdentifiers() -> Set<String> {
        lock.lock()
        defer { lock.unlock() }
        let taken = identifiers
        identifiers = []
        return taken
    }
}
