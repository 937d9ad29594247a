import Foundation

extension NSManagedObjectContext {
    /// Runs a block on the context's queue, after what has been given to it before. Returns at once.
    public func perform(_ block: @escaping () -> Void) {
        queue.async { [self] in
            Self.$current.withValue(self) {
                block()
                processPendingChanges()
            }
        }
    }

    /// Runs a block on the context's queue and waits for it; at once where the caller is on the queue already.
    public func performAndWait(_ block: () -> Void) {
        queue.sync {
            Self.$current.withValue(self) { block() }
            processPendingChangesUnlessNested()
        }
    }

    /// Runs a block on the context's queue, waits for it, and gives its result.
    public func performAndWait<T, E: Error>(_ block: () throws(E) -> T) throws(E) -> T {
        try queue.sync { () throws(E) -> T in
            let result = try asCurrent(block)
            processPendingChangesUnlessNested()
            return result
        }
    }

    /// Runs a block on the context's queue and gives its result.
    public func perform<T, E: Error>(
        schedule: NSManagedObjectContext.ScheduledTaskType = .immediate, _ block: @escaping () throws(E) -> T
    ) async throws(E) -> T {
        if schedule == .immediate, queue.type != .mainQueueConcurrencyType, queue.isCurrent {
            return try block()
        }
        // Unsafe because Core Data's signature asks for no Sendable result: the caller has waited for it.
        nonisolated(unsafe) var result: Result<T, E>?
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            nonisolated(unsafe) let block = block
            queue.async { [self] in
                do throws(E) {
                    result = .success(try asCurrent(block))
                    processPendingChanges()
                } catch {
                    result = .failure(error)
                }
                continuation.resume()
            }
        }
        guard let result else { preconditionFailure("The context's queue did not run the block.") }
        return try result.get()
    }

    /// Runs a block on the context's queue like `perform(_:)`, with the queues of its ancestors held, so that the block can
    /// read from them without waiting for a queue that waits for this one.
    final func performHoldingAncestors(_ block: @escaping () -> Void) {
        let ancestors = sequence(first: self, next: \.parentContext).dropFirst().map(\.queue)
        queue.async(holding: ancestors) { [self] in
            Self.$current.withValue(self) {
                block()
                processPendingChanges()
            }
        }
    }

    /// The context on whose queue the caller runs.
    @TaskLocal static var current: NSManagedObjectContext?

    private func asCurrent<T, E: Error>(_ block: () throws(E) -> T) throws(E) -> T {
        // By way of a result, because a task-local value's scope takes no typed error.
        try Self.$current.withValue(self) { () -> Result<T, E> in Result(catching: block) }.get()
    }

    private func processPendingChangesUnlessNested() {
        guard !isProcessing, !isSaving else { return }
        processPendingChanges()
    }
}
