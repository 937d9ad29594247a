import Foundation

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
    public func performAndWait<T, E: Error>(_ block: () throws(E) -> T) throws(E) -> T {
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
    private var isNested: Bool { queue.isCurrent && !changedInEvent.isEmpty }

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
