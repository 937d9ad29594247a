import Foundation

/// What a store answers to a request.
open class NSPersistentStoreResult: NSObject {}

/// The answer to a request that is carried out while the caller goes on.
open class NSPersistentStoreAsynchronousResult: NSPersistentStoreResult {
    /// The context that the request was given to.
    open var managedObjectContext: NSManagedObjectContext { context }

    /// Why the request failed; nil as long as it runs, and when it succeeds.
    open var operationError: (any Error)? { error }

    /// How far the request is; nil where the caller had no current progress when the request began.
    open var progress: Progress? { ownProgress }

    private let context: NSManagedObjectContext
    private let ownProgress: Progress?
    private final var error: (any Error)?

    init(context: NSManagedObjectContext, progress: Progress?) {
        self.context = context
        ownProgress = progress
    }

    /// Ends the request before it is done. It may already have ended.
    open func cancel() {
        progress?.cancel()
    }

    /// Keeps why the request failed. Called on the context's queue.
    final func fail(with error: any Error) {
        self.error = error
    }
}
