import Synchronization

/// What announces that it is out of date.
protocol ChangingResults: AnyObject {
    func announceChange()
}

/// Whether results are out of date. Noted by any thread, announced where the observer was made.
final class Staleness: @unchecked Sendable {  // because a lock guards the flag, and the results are set only once
    weak var results: (any ChangingResults)?
    private let isolation: (any Actor)?
    private let isStale = Mutex(false)

    init(_ isolation: (any Actor)?) { self.isolation = isolation }

    /// Announces the first of several changes.
    func note(isLocal: Bool) {
        let isFirst = isStale.withLock { isStale in
            defer { isStale = true }
            return !isStale
        }
        guard isFirst else { return }
        guard !isLocal, let isolation else { return announce() }
        Task { await announce(in: isolation) }
    }

    private func announce(in isolation: isolated any Actor) { announce() }

    private func announce() { results?.announceChange() }

    /// Whether the results are out of date, for a fetch that follows.
    func take() -> Bool {
        isStale.withLock { isStale in
            defer { isStale = false }
            return isStale
        }
    }
}
