import Foundation
import StoreSupport

extension NSManagedObjectContext {
    /// Runs a block on the context's queue, after all blocks submitted before. Returns immediately.
    final func enqueue(_ block: @escaping () -> Void) {
        queue.async { [self] in run(block) }
    }

    /// Runs a block on the context's queue and waits for it.
    final func runAndWait(_ block: () -> Void) {
        let isNested = isNested
        queue.sync { run(isNested: isNested, block) }
    }

    /// Runs a block on the context's queue, waits for it, and returns its result. Calls ``performAndWait(_:)-(()->Void)`` of a
    /// subclass.
    // The signature is Apple's to the letter: many programs declare the same function, which then hides this one. One with typed errors
    // would be ambiguous with it.
    public func performAndWait<T>(_ block: () throws -> T) rethrows -> T { try resultAndWait(block) }

    private func resultAndWait<T, E: Error>(_ block: () throws(E) -> T) throws(E) -> T {
        if isOfSubclass {
            var result: Result<T, E>?
            performAndWait { () -> Void in result = Result(catching: block) }
            guard let result else { preconditionFailure("performAndWait(_:) did not run the block.") }
            return try result.get()
        }
        let isNested = isNested
        return try queue.sync { () throws(E) -> T in try run(isNested: isNested, block) }
    }

    /// Runs a block on the context's queue and returns its result.
    ///
    /// The function runs in the isolation of its caller, so that in Swift 6 an actor, or a class of the main actor, can pass a block
    /// that refers to values of its own, and receives a result that is not `Sendable`.
    public func perform<T, E: Error>(
        schedule: NSManagedObjectContext.ScheduledTaskType = .immediate,
        isolation: isolated (any Actor)? = #isolation, _ block: @escaping () throws(E) -> T
    ) async throws(E) -> T {
        if schedule == .immediate, queue.type != .mainQueueConcurrencyType, queue.isCurrent {
            return try block()
        }
        // Unsafe because Core Data's signature does not require a Sendable result: the caller has waited for it.
        nonisolated(unsafe) var result: Result<T, E>?
        await withCheckedContinuation(isolation: isolation) { (continuation: CheckedContinuation<Void, Never>) in
            nonisolated(unsafe) let block = block
            queue.async { [self] in
                result = Result { () throws(E) -> T in try run(block) }
                continuation.resume()
            }
        }
        guard let result else { preconditionFailure("The context's queue did not run the block.") }
        return try result.get()
    }

    /// Runs a block on the context's queue, after all blocks submitted before, and calls another one there when the block and its event
    /// have ended. Returns immediately.
    ///
    /// - Parameter isNext: Whether the caller is on a queue whose block is about to end. Its thread then executes this one.
    package final func submit(
        isNext: Bool, _ block: @escaping () -> Void, completion: @escaping () -> Void
    ) {
        queue.async(isNext: isNext) { [self] in
            run(block)
            completion()
        }
    }

    /// Runs a block on the context's queue like `perform(_:)`, with the queues of its ancestors held, so that the block
    /// can read from them without a deadlock where an ancestor's queue waits for this one.
    final func performHoldingAncestors(_ block: @escaping () -> Void) {
        let ancestors = sequence(first: self, next: \.parentContext).dropFirst().map(\.queue)
        queue.async(holding: ancestors) { [self] in run(block) }
    }

    /// The context whose block runs on this thread.
    static var current: NSManagedObjectContext? { running.value }

    private static let running = ThreadLocal<NSManagedObjectContext>()

    /// Whether the caller is on the queue and has changed objects, so that a block belongs to the caller's event.
    private var isNested: Bool { queue.isCurrent && !tracker.inEvent.isEmpty }

    /// Runs a block on the queue. However the outermost block ends, its event ends, and what its saves have written is
    /// released.
    private func run<T, E: Error>(isNested: Bool = false, _ block: () throws(E) -> T) throws(E) -> T {
        blockDepth += 1
        defer {
            blockDepth -= 1
            if blockDepth == 0, !isNested, !isProcessing, !isSaving {
                endEvent()
                releaseSaved()
            }
        }
        return try Self.running.withValue(self, block)
    }
}

// MARK: - Notifications

extension Notification.Name {
    /// Objects of a context have changed: posted when pending changes are processed.
    public static let NSManagedObjectContextObjectsDidChange = Notification.Name(
        "NSObjectsChangedInManagingContextNotification")
    /// Posted before a save, by the context that is about to be saved.
    public static let NSManagedObjectContextWillSave = Notification.Name("NSManagedObjectContextWillSaveNotification")
    /// Posted after a save, with the objects, for ``NSManagedObjectContext/mergeChanges(fromContextDidSave:)``.
    public static let NSManagedObjectContextDidSave = Notification.Name(
        "NSManagingContextDidSaveChangesNotification")
    /// Posted after a save, with object IDs.
    public static let NSManagedObjectContextDidSaveObjectIDs = Notification.Name(
        "NSManagedObjectContextDidSaveObjectIDsNotification")
    /// Posted after changes given as object IDs were merged.
    public static let NSManagedObjectContextDidMergeChangesObjectIDs = Notification.Name(
        "NSManagedObjectContextDidMergeChangesObjectIDsNotification")
}

extension NSManagedObjectContext {
    /// Posted before a save.
    public static let willSaveObjectsNotification = Notification.Name.NSManagedObjectContextWillSave
    /// Posted after a save, with the saved objects.
    public static let didSaveObjectsNotification = Notification.Name.NSManagedObjectContextDidSave
    /// Posted at the end of an event, with the changed objects.
    public static let didChangeObjectsNotification = Notification.Name.NSManagedObjectContextObjectsDidChange
    /// Posted after a save, with the IDs of the saved objects.
    public static let didSaveObjectIDsNotification = Notification.Name.NSManagedObjectContextDidSaveObjectIDs
    /// Posted after changes given as object IDs were merged.
    public static let didMergeChangesObjectIDsNotification =
        Notification.Name.NSManagedObjectContextDidMergeChangesObjectIDs

    /// Keys of the notifications' user info.
    public enum NotificationKey: String, Sendable {
        /// The context that posts the notification.
        case sourceContext = "managedObjectContext"
        /// The context's current query generation.
        case queryGeneration = "newQueryGeneration"
        /// Whether all objects have become invalid.
        case invalidatedAllObjects = "invalidatedAll"
        /// The objects that were inserted.
        case insertedObjects = "inserted"
        /// The objects that were updated.
        case updatedObjects = "updated"
        /// The objects that were deleted.
        case deletedObjects = "deleted"
        /// The objects that were refreshed.
        case refreshedObjects = "refreshed"
        /// The objects that have become invalid.
        case invalidatedObjects = "invalidated"
        /// The IDs of the objects that were inserted.
        case insertedObjectIDs = "inserted_objectIDs"
        /// The IDs of the objects that were updated.
        case updatedObjectIDs = "updated_objectIDs"
        /// The IDs of the objects that were deleted.
        case deletedObjectIDs = "deleted_objectIDs"
        /// The IDs of the objects that were refreshed.
        case refreshedObjectIDs = "refreshed_objectIDs"
        /// The IDs of the objects that have become invalid.
        case invalidatedObjectIDs = "invalidated_objectIDs"
    }

    /// Posts a notification of the context, or holds it until a transaction has ended.
    package final func post(_ name: Notification.Name, _ userInfo: [AnyHashable: Any]) {
        if heldNotifications != nil {
            heldNotifications?.append((name, userInfo))
            return
        }
        if name == .NSManagedObjectContextObjectsDidChange,
            let refreshed = userInfo[NSRefreshedObjectsKey] as? Set<NSManagedObject>
        {
            if isObservable { for object in refreshed { object.noteRefreshing() } }
            observations.didRefresh(refreshed)
        }
        NotificationCenter.default.post(name: name, object: self, userInfo: userInfo)
    }
}

/// In user info: the objects that were inserted, as a set.
public let NSInsertedObjectsKey = "inserted"
/// In user info: the objects that were updated, as a set.
public let NSUpdatedObjectsKey = "updated"
/// In user info: the objects that were deleted, as a set.
public let NSDeletedObjectsKey = "deleted"
/// In user info: the objects that were refreshed, as a set.
public let NSRefreshedObjectsKey = "refreshed"
/// In user info: the objects that have become invalid, as a set.
public let NSInvalidatedObjectsKey = "invalidated"
/// In user info: the IDs of the context's objects, which have all become invalid, as an array.
public let NSInvalidatedAllObjectsKey = "invalidatedAll"
/// In user info: the IDs of the objects that were inserted, as a set.
public let NSInsertedObjectIDsKey = "inserted_objectIDs"
/// In user info: the IDs of the objects that were updated, as a set.
public let NSUpdatedObjectIDsKey = "updated_objectIDs"
/// In user info: the IDs of the objects that were deleted, as a set.
public let NSDeletedObjectIDsKey = "deleted_objectIDs"
/// In user info: the IDs of the objects that were refreshed, as a set.
public let NSRefreshedObjectIDsKey = "refreshed_objectIDs"
/// In user info: the IDs of the objects that have become invalid, as a set.
public let NSInvalidatedObjectIDsKey = "invalidated_objectIDs"
/// In user info: the context's current query generation.
public let NSManagedObjectContextQueryGenerationKey = "newQueryGeneration"

// MARK: - Errors of reads

// Errors of reads in functions that cannot throw: a fault that fires, members that are loaded.
//
// Such a read changes nothing: a fault stays a fault, a relationship stays unloaded, and the next access tries again. Where the
// caller of the work can receive an error, it is thrown; elsewhere it is printed.

extension NSManagedObjectContext {
    /// Runs work, and throws the first error of the reads in it that could not throw theirs.
    package final func throwingFailedReads<Result>(_ work: () throws -> Result) throws -> Result {
        let outer = failedReads
        failedReads = FailedReads()
        defer { failedReads = outer }
        let result = Swift.Result { try work() }
        // An error of the work itself may only be the consequence of a value that could not be read.
        if let error = failedReads?.first { throw error }
        return try result.get()
    }

    /// Handles the error of a read in a function that cannot throw it.
    final func noteFailedRead(_ error: any Error, _ sentence: @autoclosure () -> String) {
        if failedReads == nil {
            report("\(sentence()): \(error)")
        } else if failedReads?.first == nil {
            failedReads?.first = error
        }
    }

    /// Reports an error on standard error where no error can be thrown.
    package final func report(_ sentence: String) {
        FileHandle.standardError.write(Data("CoreData: error: \(sentence)\n".utf8))
    }
}

/// The errors of reads that are thrown when the present work ends.
struct FailedReads {
    var first: (any Error)?
}
