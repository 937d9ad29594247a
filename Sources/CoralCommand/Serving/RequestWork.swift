import Coral
import CoralTools

#if STORE_ENGINE
    import enum ManagedObjects.FetchInterruption
#endif

/// The work for one request. It can be cancelled while a statement runs, and the beginning of its page can be sent before
/// the work is complete.
///
/// Unchecked, because its state is protected by a lock.
final class RequestWork: @unchecked Sendable {
    /// Identifies the work in the address that cancels it.
    let id = UUID().uuidString
    private let lock = NSLock()
    private var isEnded = false
    private var beginning: HTML?
    private var sentence = ""
    private var addressAfterCancelling = ""
    private var answer: SiteAnswer?
    private var waiting: AsyncStream<Void>.Continuation?

    var isCancelled: Bool { lock.withLock { isEnded } }

    /// Ends the work: statements that run are interrupted.
    func cancel() { lock.withLock { isEnded = true } }

    /// Runs work whose statements are interrupted when it is cancelled. Throws `CocoaError.userCancelled` in this case.
    func run<Result>(_ body: () throws -> Result) throws -> Result {
        if isCancelled { throw CocoaError(.userCancelled) }
        #if !STORE_ENGINE
            // On this system a statement cannot be interrupted.
            return try body()
        #else
            return try FetchInterruption.interrupting(when: { [self] in isCancelled }, body)
        #endif
    }

    // MARK: - The page

    /// The beginning of the page, which does not depend on the result of slow statements; nil if it is not known yet.
    var head: HTML? { lock.withLock { beginning } }

    /// The button that cancels the work, and leads to another page.
    var cancellation: HTML {
        let address = lock.withLock { addressAfterCancelling }
        return """
            <form method="post" action="cancel">\(PageFrame.hidden("work", id))\(PageFrame.hidden("return", address))\
            <button>Cancel</button></form>
            """
    }

    /// What takes long.
    var description: String { lock.withLock { sentence } }

    /// Sets the beginning of the page, a sentence for people who wait for the rest, and the address of the page that is shown
    /// instead if the work is cancelled.
    func begin(_ head: HTML, _ sentence: String, addressAfterCancelling: String) {
        lock.withLock {
            beginning = head
            self.sentence = sentence
            self.addressAfterCancelling = addressAfterCancelling
        }
    }

    /// Completes the work.
    func finish(_ answer: SiteAnswer) {
        lock.withLock {
            self.answer = answer
            waiting?.finish()
        }
    }

    /// The answer, if it is complete within a number of seconds; otherwise nil. At most one caller may wait.
    func answer(within seconds: Double) async -> SiteAnswer? {
        let (stream, continuation) = AsyncStream<Void>.makeStream()
        lock.withLock {
            waiting = continuation
            if answer != nil { continuation.finish() }
        }
        await withTaskGroup(of: Void.self) { group in
            // The iteration ends also when its task is cancelled.
            group.addTask { for await _ in stream {} }
            group.addTask { try? await Task.sleep(nanoseconds: UInt64(seconds * 1_000_000_000)) }
            await group.next()
            group.cancelAll()
        }
        return lock.withLock { answer }
    }
}

/// The work of the running requests, by id.
///
/// Unchecked, because its state is protected by a lock.
final class RunningWork: @unchecked Sendable {
    private let lock = NSLock()
    private var works: [String: RequestWork] = [:]

    func add(_ work: RequestWork) { lock.withLock { works[work.id] = work } }

    func remove(_ work: RequestWork) { lock.withLock { _ = works.removeValue(forKey: work.id) } }

    /// Cancels the work with an id, if it has not ended.
    func cancel(_ id: String) { lock.withLock { works[id] }?.cancel() }
}
