import Foundation

/// The result of a request.
open class NSPersistentStoreResult: NSObject {}

/// The result of a request that is executed while the caller continues.
open class NSPersistentStoreAsynchronousResult: NSPersistentStoreResult {
    /// The context that executes the request.
    open var managedObjectContext: NSManagedObjectContext { context }

    /// The error of the request; nil while it runs, and when it succeeds.
    open var operationError: (any Error)? { error }

    /// The progress of the request; nil if the caller had no current progress when the request began.
    open var progress: Progress? { ownProgress }

    private let context: NSManagedObjectContext
    private let ownProgress: Progress?
    private final var error: (any Error)?

    init(context: NSManagedObjectContext, progress: Progress?) {
        self.context = context
        ownProgress = progress
    }

    /// Cancels the request. Does nothing when it has already finished.
    open func cancel() {
        progress?.cancel()
    }

    /// Sets the error of the request. Called on the context's queue.
    final func fail(with error: any Error) {
        self.error = error
    }
}
