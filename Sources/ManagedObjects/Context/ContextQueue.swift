import Dispatch
import Foundation
import Synchronization

/// The queue on which a context's work is executed.
final class ContextQueue: Sendable {
    let type: NSManagedObjectContextConcurrencyType
    private let queue: DispatchQueue?
    private static let ownerKey = DispatchSpecificKey<ObjectIdentifier>()
    /// Whether the end of the context's event has been submitted to the main queue.
    let hasScheduledEndOfEvent = Atomic<Bool>(false)

    /// The main queue, with its identity set as a specific value. In a program with an asynchronous `main`, Dispatch
    /// runs the main queue on another thread than Foundation's main thread after the first suspension, so the thread
    /// alone does not identify the queue.
    private static let mainQueue: DispatchQueue = {
        DispatchQueue.main.setSpecific(key: ownerKey, value: mainIdentity)
        return .main
    }()

    /// The identity of the main queue, the same for all main-queue contexts. The queue object cannot be used:
    /// `DispatchQueue.main` may be another object at each access.
    private static let mainIdentity = ObjectIdentifier(DispatchQueue.self)

    init(_ type: NSManagedObjectContextConcurrencyType) {
        self.type = type
        switch type {
        case .confinementConcurrencyType: queue = nil
        case .mainQueueConcurrencyType: queue = Self.mainQueue
        case .privateQueueConcurrencyType:
            queue = DispatchQueue(label: "NSManagedObjectContext", autoreleaseFrequency: .workItem)
        }
        if type == .privateQueueConcurrencyType {
            queue?.setSpecific(key: Self.ownerKey, value: identity)
        }
    }

    /// The identity of the queue.
    private var identity: ObjectIdentifier {
        type == .mainQueueConcurrencyType ? Self.mainIdentity : ObjectIdentifier(self)
    }

    /// Whether the caller is on the queue.
    var isCurrent: Bool {
        switch type {
        case .confinementConcurrencyType: true
        case .mainQueueConcurrencyType: Thread.isMainThread || isExecuting
        case .privateQueueConcurrencyType: isExecuting
        }
    }

    private var isExecuting: Bool {
        DispatchQueue.getSpecific(key: Self.ownerKey) == identity || Self.held.contains(identity)
    }

    /// The identity of the context queue on which the caller runs; nil outside any context's queue.
    private static var executing: ObjectIdentifier? {
        DispatchQueue.getSpecific(key: ownerKey) ?? (Thread.isMainThread ? mainIdentity : nil)
    }

    /// The queues that are held further up the caller's stack: a child context that is used on its parent's queue reads
    /// from that parent, and must not wait for that queue again. Stored by thread, not by task: a task that is
    /// started there holds no queue.
    ///
    /// The values of a thread are not in its `threadDictionary`, which converts them at each access.
    private static var held: [ObjectIdentifier] {
        get {
            guard let values = pthread_getspecific(heldKey) else { return [] }
            return Unmanaged<HeldQueues>.fromOpaque(values).takeUnretainedValue().identities
        }
        set {
            if let values = pthread_getspecific(heldKey) {
                Unmanaged<HeldQueues>.fromOpaque(values).takeUnretainedValue().identities = newValue
            } else {
                pthread_setspecific(heldKey, Unmanaged.passRetained(HeldQueues(newValue)).toOpaque())
            }
        }
    }

    private final class HeldQueues {
        var identities: [ObjectIdentifier]
        init(_ identities: [ObjectIdentifier]) { self.identities = identities }
    }

    /// At the end of a thread its values are released.
    private static let heldKey: pthread_key_t = {
        var key = pthread_key_t()
        let error = pthread_key_create(&key) { values in
            if let values { Unmanaged<HeldQueues>.fromOpaque(values).release() }
        }
        precondition(error == 0, "The process has no more keys of thread-specific values.")
        return key
    }()

    /// Runs work with the queues added to those held by the caller.
    private static func holding<T>(_ queues: [ObjectIdentifier], _ work: () -> T) -> T {
        let before = held
        held = before + queues
        defer { held = before }
        return work()
    }

    /// Runs work that belongs to this queue on the queue of a store's connection, for whose end this queue waits.
    func lending<T>(_ work: () throws -> T) throws -> T {
        if queue == nil { return try work() }
        return try Self.holding([identity]) { Result { try work() } }.get()
    }

    func sync<T, E: Error>(_ work: () throws(E) -> T) throws(E) -> T {
        guard let queue, !isCurrent else { return try work() }
        guard let caller = Self.executing else {
            return try withoutActuallyEscaping(work) { work throws(E) in
                queue.sync { Result(catching: work) }
            }.get()
        }
        // When one context's queue waits for another's, the first one stays held, and claims on it are granted
        // meanwhile.
        let waiting = Self.held + [caller]
        QueueClaim.began(waiting, waitingFor: identity)
        defer { QueueClaim.ended(waiting, waitingFor: identity) }
        return try withoutActuallyEscaping(work) { work throws(E) in
            queue.sync { Self.holding(waiting) { Result(catching: work) } }
        }.get()
    }

    func async(_ work: @escaping () -> Void) {
        guard let queue else { return work() }
        // Unsafe because Core Data's signature has no @Sendable; the block runs once, on the context's queue.
        nonisolated(unsafe) let work = work
        queue.async { work() }
    }

    /// Runs work on this queue, after previously submitted work, with the queues of `others` held.
    ///
    /// Waits for each of the others until it is idle, or until its current work waits for this queue: such a queue is
    /// effectively held, because it cannot continue before the work here has ended. This avoids the deadlock that
    /// `sync(_:)` would cause with a queue that waits for this one.
    func async(holding others: [ContextQueue], _ work: @escaping () -> Void) {
        // Unsafe because the block runs once, on the context's queue.
        nonisolated(unsafe) let work = work
        async { [self] in
            var claims: [QueueClaim] = []
            for other in others where !other.isCurrent {
                guard let queue = other.queue else { continue }
                let claim = QueueClaim(of: other.identity, by: identity)
                claim.register()
                queue.async { claim.grantByQueue() }
                claim.wait()
                claims.append(claim)
            }
            Self.holding(claims.map(\.owner), work)
            for claim in claims.reversed() { claim.release() }
        }
    }
}
