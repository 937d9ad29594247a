import Dispatch
import Foundation
import StoreSupport
import Synchronization

// Who may wait for whom.
//
// Work of a queue waits in two ways:
//   sync    until another queue has executed a block: a child reads from its parent, a program calls `performAndWait`;
//   claim   until another queue is idle, or until that queue's work waits for the claimant: a child that merges what others have
//           saved holds its ancestors.
//
// While a queue's work waits, the queue is held: the block that it waits for may use the queue's context as if it ran there.
//
// No cycle of waits contains a claim. Assume one does: claimant C waits for owner O, and O's work waits for C, directly or
// through others. Each wait is registered before it begins, under one lock. The last wait of the cycle to be registered is either
// C's claim, and `register()` finds the path from O to C, or a wait on that path, and `began` finds it. In both cases the claim
// is granted at once, because O's work is suspended until C's has ended. So C does not wait.
//
// A cycle of sync waits only is the program's: two contexts that call `performAndWait` of each other at the same time. The engine
// itself makes such waits from a child to its parent only, and these have no cycles. `TangledFamilyTests` and `QueueClaimTests` let
// families of contexts wait at random.

/// The queue on which a context's work is executed.
final class ContextQueue: Sendable {
    let type: NSManagedObjectContextConcurrencyType
    /// Nil if the context belongs to the thread that created it.
    private let queue: SharedThreadQueue?
    private static let ownerKey = DispatchSpecificKey<ObjectIdentifier>()
    /// Whether the end of the context's event has been submitted to the main queue.
    let hasScheduledEndOfEvent = Atomic<Bool>(false)

    /// The main queue, with its identity set as a specific value. In a program with an asynchronous `main`, Dispatch
    /// runs the main queue on a thread that is not Foundation's main thread after the first suspension, so the thread
    /// alone does not identify the queue.
    private static let mainQueue: DispatchQueue = {
        DispatchQueue.main.setSpecific(key: ownerKey, value: mainIdentity)
        return .main
    }()

    /// Whether the caller runs on the main queue.
    static var isMain: Bool { executing == mainIdentity }

    /// The identity of the main queue, the same for all main-queue contexts. The queue object cannot be used:
    /// `DispatchQueue.main` may be another object at each access.
    private static let mainIdentity = ObjectIdentifier(DispatchQueue.self)

    init(_ type: NSManagedObjectContextConcurrencyType) {
        self.type = type
        switch type {
        case .confinementConcurrencyType: queue = nil
        case .mainQueueConcurrencyType: queue = SharedThreadQueue(main: Self.mainQueue)
        case .privateQueueConcurrencyType:
            let own = DispatchQueue(label: "NSManagedObjectContext", autoreleaseFrequency: .workItem)
            queue = SharedThreadQueue(own)
            own.setSpecific(key: Self.ownerKey, value: identity)
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
        // The main queue has its identity from its first use on.
        _ = mainQueue
        return DispatchQueue.getSpecific(key: ownerKey) ?? (Thread.isMainThread ? mainIdentity : nil)
    }

    /// The queues that are held further up the caller's stack: a child context that is used on its parent's queue reads
    /// from that parent, and must not wait for that queue again. Stored by thread, not by task: a task that is
    /// started there holds no queue.
    ///
    /// The values of a thread are not in its `threadDictionary`, which converts them at each access.
    private static var held: [ObjectIdentifier] { heldQueues?.identities ?? [] }

    /// Whether work of the main queue waits for the caller's, which runs on the thread that executes the main queue.
    static var isMainWaiting: Bool { heldQueues?.isMainWaiting ?? false }

    private static var heldQueues: HeldQueues? {
        pthread_getspecific(heldKey).map { Unmanaged<HeldQueues>.fromOpaque($0).takeUnretainedValue() }
    }

    private final class HeldQueues {
        var identities: [ObjectIdentifier] = []
        var isMainWaiting = false
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
    private static func holding<T>(
        _ queues: [ObjectIdentifier], isMainWaiting: Bool = false, _ work: () -> T
    ) -> T {
        let values: HeldQueues
        if let present = heldQueues {
            values = present
        } else {
            values = HeldQueues()
            pthread_setspecific(heldKey, Unmanaged.passRetained(values).toOpaque())
        }
        let before = (values.identities, values.isMainWaiting)
        values.identities += queues
        values.isMainWaiting = isMainWaiting || values.isMainWaiting
        defer { (values.identities, values.isMainWaiting) = before }
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
        let isMainWaiting = caller == Self.mainIdentity || Self.isMainWaiting
        QueueClaim.began(waiting, waitingFor: identity)
        defer { QueueClaim.ended(waiting, waitingFor: identity) }
        return try withoutActuallyEscaping(work) { work throws(E) in
            queue.sync { Self.holding(waiting, isMainWaiting: isMainWaiting) { Result(catching: work) } }
        }.get()
    }

    /// - Parameter isNext: See ``SharedThreadQueue/async(isNext:_:)``.
    func async(isNext: Bool = false, _ work: @escaping () -> Void) {
        guard let queue else { return work() }
        // Unsafe because Core Data's signature has no @Sendable; the block runs once, on the context's queue.
        nonisolated(unsafe) let work = work
        queue.async(isNext: isNext) { work() }
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
                queue.asyncWithoutTurn { claim.grantByQueue() }
                claim.wait()
                claims.append(claim)
            }
            Self.holding(claims.map(\.owner), work)
            for claim in claims.reversed() { claim.release() }
        }
    }
}

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

// MARK: - Kinds of queues

/// The kinds of queues of contexts.
public enum NSManagedObjectContextConcurrencyType: UInt, Sendable {
    /// No queue of its own; the context belongs to the thread that created it. Kept for old code.
    case confinementConcurrencyType = 0
    /// A queue of its own.
    case privateQueueConcurrencyType = 1
    /// The main queue.
    case mainQueueConcurrencyType = 2
}

extension NSManagedObjectContextConcurrencyType {
    init(_ type: NSManagedObjectContext.ConcurrencyType) {
        self = type == .mainQueue ? .mainQueueConcurrencyType : .privateQueueConcurrencyType
    }
}

extension NSManagedObjectContext {
    /// The kinds of queues, as Swift names them.
    public struct ConcurrencyType: Hashable, Equatable, RawRepresentable, Sendable {
        public typealias RawValue = UInt
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }
        /// The main queue: for the user interface.
        public static let mainQueue = ConcurrencyType(rawValue: 2)
        /// A queue of the context's own.
        public static let privateQueue = ConcurrencyType(rawValue: 1)
    }

    /// When a block given to `perform` runs.
    public enum ScheduledTaskType: Sendable {
        /// Immediately, if the caller is on the context's queue.
        case immediate
        /// After all blocks submitted before.
        case enqueued
    }
}

// MARK: - Checks

/// Whether contexts and objects check that they are used on their queue.
///
/// Off unless the program is started with the argument `-com.apple.CoreData.ConcurrencyDebug 1`, or has an environment variable
/// of that name before Core Data is used first. Use on another queue then stops the program with a message. Cost: one comparison
/// with a constant in each method of a context, each access to an object by key, and at an object's first change.
enum ConcurrencyDebug {
    static let name = "com.apple.CoreData.ConcurrencyDebug"

    static let isEnabled: Bool = {
        let arguments = ProcessInfo.processInfo.arguments
        if let position = arguments.firstIndex(of: "-" + name) {
            return position + 1 == arguments.count || isOn(arguments[position + 1])
        }
        return getenv(name).map { isOn(String(cString: $0)) } ?? false
    }()

    /// Called on a violation. Stops the program, except in the test that calls all methods.
    // Unsafe because only that test sets it, before any context is used.
    nonisolated(unsafe) static var violation: (String) -> Void = { sentence in preconditionFailure(sentence) }

    private static func isOn(_ value: String) -> Bool { !["0", "no", "false"].contains(value.lowercased()) }
}

extension NSManagedObjectContext {
    /// Stops the program if the context is used on the wrong queue, if checking is enabled.
    @inline(__always)
    final func checkQueue() {
        if ConcurrencyDebug.isEnabled { requireQueue() }
    }

    private func requireQueue() {
        guard !queue.isCurrent else { return }
        ConcurrencyDebug.violation(
            "Core Data concurrency violation: \(name.map { "the context “\($0)”" } ?? "a context") of the "
                + "\(queue.type == .mainQueueConcurrencyType ? "main" : "private") queue was used on another one. Use "
                + "perform(_:) or performAndWait(_:).")
    }
}

extension NSManagedObject {
    /// Stops the program if the object's context is used on the wrong queue, if checking is enabled. The context is not retained
    /// otherwise, because every access to a value calls this.
    @inline(__always)
    package final func checkQueue() {
        if ConcurrencyDebug.isEnabled { context?.checkQueue() }
    }
}

extension Thread {
    /// Whether the caller runs on the main queue, and may use a context of that queue, or in a block that work of the main queue has
    /// given to `performAndWait(_:)` of any context: it is executed on the same thread.
    ///
    /// In a program with an asynchronous `main` the main thread does not execute the main queue and the work of the main actor:
    /// `isMainThread` is false there.
    public static var executesMainQueue: Bool {
        ContextQueue.isMain || ContextQueue.isMainWaiting || Thread.isMainThread
    }
}
