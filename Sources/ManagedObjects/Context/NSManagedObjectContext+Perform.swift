import Foundation

extension NSManagedObjectContext {
    /// Runs a block on the context's queue, after all blocks submitted before. Returns immediately.
    final func enqueue(_ block: @escaping () -> Void) {
        queue.async { [self] in
            Self.$current.withValue(self) {
                block()
                endBlock()
            }
        }
    }

    /// Runs a block on the context's queue and waits for it.
    final func runAndWait(_ block: () -> Void) {
        queue.sync {
            Self.$current.withValue(self) { block() }
            endBlock()
        }
    }

    /// Runs a block on the context's queue, waits for it, and returns its result. Calls ``performAndWait(_:)-(()->Void)`` of a
    /// subclass.
    public func performAndWait<T, E: Error>(_ block: () throws(E) -> T) throws(E) -> T {
        if isOfSubclass {
            var result: Result<T, E>?
            performAndWait { () -> Void in result = Result(catching: block) }
            guard let result else { preconditionFailure("performAndWait(_:) did not run the block.") }
            return try result.get()
        }
        return try queue.sync { () throws(E) -> T in
            let result = try asCurrent(block)
            endBlock()
            return result
        }
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
                do throws(E) {
                    result = .success(try asCurrent(block))
                    endBlock()
                } catch {
                    result = .failure(error)
                }
                continuation.resume()
            }
        }
        guard let result else { preconditionFailure("The context's queue did not run the block.") }
        return try result.get()
    }

    /// Runs a block on the context's queue like `perform(_:)`, with the queues of its ancestors held, so that the block
    /// can read from them without a deadlock where an ancestor's queue waits for this one.
    final func performHoldingAncestors(_ block: @escaping () -> Void) {
        let ancestors = sequence(first: self, next: \.parentContext).dropFirst().map(\.queue)
        queue.async(holding: ancestors) { [self] in
            Self.$current.withValue(self) {
                block()
                endBlock()
            }
        }
    }

    /// The context on whose queue the caller runs.
    @TaskLocal static var current: NSManagedObjectContext?

    private func asCurrent<T, E: Error>(_ block: () throws(E) -> T) throws(E) -> T {
        // The result is wrapped, because the scope of a task-local value has no typed errors.
        try Self.$current.withValue(self) { () -> Result<T, E> in Result(catching: block) }.get()
    }

    /// Called after a block on the queue: ends the event, and releases what the block's saves have written.
    private func endBlock() {
        guard !isProcessing, !isSaving else { return }
        endEvent()
        releaseSaved()
    }
}
