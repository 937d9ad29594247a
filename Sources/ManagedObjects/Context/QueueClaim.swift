import Dispatch
import Foundation
import Synchronization

/// A claim of one queue's work for exclusive use of another queue.
///
/// It is granted by the first of two events: the claimed queue executes the block submitted to it, and waits in it
/// until the claim is released; or the claimed queue's current work waits for the claiming queue, and is therefore
/// suspended.
final class QueueClaim: Sendable {
    /// The queue that is claimed.
    let owner: ObjectIdentifier
    private let claimant: ObjectIdentifier
    private enum State { case open, grantedByQueue, grantedByWaiting }
    private let state = Mutex(State.open)
    private let granted = DispatchSemaphore(value: 0)
    private let released = DispatchSemaphore(value: 0)

    init(of owner: ObjectIdentifier, by claimant: ObjectIdentifier) {
        self.owner = owner
        self.claimant = claimant
    }

    private struct Registry {
        /// For each queue whose work waits: the queues that it waits for. A queue can wait several times, nested.
        var waits: [ObjectIdentifier: [ObjectIdentifier]] = [:]
        var claims: [QueueClaim] = []

        /// Whether the work of a queue waits for another queue, directly or through others.
        func waits(_ queue: ObjectIdentifier, for other: ObjectIdentifier) -> Bool {
            var seen: Set<ObjectIdentifier> = []
            var open = [queue]
            while let next = open.popLast() {
                guard let targets = waits[next], seen.insert(next).inserted else { continue }
                if targets.contains(other) { return true }
                open += targets
            }
            return false
        }
    }
    /// Unsafe because it is only accessed with `lock`. It is not in a `Mutex`, because the thread sanitizer reports a
    /// contended `Mutex` as a race.
    nonisolated(unsafe) private static var registry = Registry()
    private static let lock = NSLock()

    /// Called before the work of queues begins to wait for another queue.
    static func began(_ queues: [ObjectIdentifier], waitingFor target: ObjectIdentifier) {
        let open = lock.withLock {
            for queue in queues { registry.waits[queue, default: []].append(target) }
            return registry.claims.filter { registry.waits($0.owner, for: $0.claimant) }
        }
        for claim in open { claim.grantByWaiting() }
    }

    /// Called when the work of queues no longer waits for another queue. A queue's other waits may have begun earlier or later:
    /// those of its work, and that for a claim.
    static func ended(_ queues: [ObjectIdentifier], waitingFor target: ObjectIdentifier) {
        lock.withLock {
            for queue in queues {
                if let last = registry.waits[queue]?.lastIndex(of: target) { registry.waits[queue]?.remove(at: last) }
                if registry.waits[queue]?.isEmpty == true { registry.waits[queue] = nil }
            }
        }
    }

    /// Registers the claim, so that it is granted when the claimed queue begins to wait.
    func register() {
        let isGranted = Self.lock.withLock {
            Self.registry.claims.append(self)
            return Self.registry.waits(owner, for: claimant)
        }
        if isGranted { grantByWaiting() }
    }

    private func grant(_ new: State) -> Bool {
        let isFirst = state.withLock { state in
            guard state == .open else { return false }
            state = new
            return true
        }
        if isFirst { granted.signal() }
        return isFirst
    }

    private func grantByWaiting() { _ = grant(.grantedByWaiting) }

    /// Grants the claim on the claimed queue itself, and keeps that queue until the claim is released.
    func grantByQueue() {
        guard grant(.grantedByQueue) else { return }
        Self.began([owner], waitingFor: claimant)
        released.wait()
        Self.ended([owner], waitingFor: claimant)
    }

    /// Waits until the claim is granted.
    func wait() {
        granted.wait()
        Self.lock.withLock { Self.registry.claims.removeAll { $0 === self } }
    }

    /// Releases the claimed queue.
    func release() {
        if state.withLock({ $0 == .grantedByQueue }) { released.signal() }
    }
}
