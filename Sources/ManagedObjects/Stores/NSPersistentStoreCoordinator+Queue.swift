import Foundation

// Blocks that return a result. What programs may override is in the class.

extension NSPersistentStoreCoordinator {
    /// Runs a block on the coordinator's queue, waits for it, and returns its result.
    public func performAndWait<T>(_ block: () throws -> T) rethrows -> T {
        try isOnQueue ? block() : queue.sync(execute: block)
    }

    /// Runs a block on the coordinator's queue and returns its result, in the isolation of the caller.
    public func perform<T, E: Error>(
        isolation: isolated (any Actor)? = #isolation, _ block: @escaping () throws(E) -> T
    ) async throws(E) -> T {
        nonisolated(unsafe) let block = block  // because the block is run once, on the queue
        nonisolated(unsafe) var result: Result<T, E>?  // because it is read after the queue has set it
        await withCheckedContinuation(isolation: isolation) { (continuation: CheckedContinuation<Void, Never>) in
            queue.async {
                do throws(E) {
                    result = .success(try block())
                } catch {
                    result = .failure(error)
                }
                continuation.resume()
            }
        }
        guard let result else { preconditionFailure("The coordinator's queue did not run the block.") }
        return try result.get()
    }
}
