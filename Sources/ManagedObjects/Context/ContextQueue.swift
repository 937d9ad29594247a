import Dispatch
import Foundation

/// The queue on which a context's work is executed.
final class ContextQueue: Sendable {
    let type: NSManagedObjectContextConcurrencyType
    private let queue: DispatchQueue?
    private static let ownerKey = DispatchSpecificKey<ObjectIdentifier>()

    init(_ type: NSManagedObjectContextConcurrencyType) {
        self.type = type
        switch type {
        case .confinementConcurrencyType: queue = nil
        case .mainQueueConcurrencyType: queue = .main
        case .privateQueueConcurrencyType:
            queue = DispatchQueue(label: "NSManagedObjectContext", autoreleaseFrequency: .workItem)
        }
        if type == .privateQueueConcurrencyType {
            queue?.setSpecific(key: Self.ownerKey, value: ObjectIdentifier(self))
        }
    }

    /// Whether the caller is on the queue.
    var isCurrent: Bool {
        switch type {
        case .confinementConcurrencyType: true
        case .mainQueueConcurrencyType: Thread.isMainThread
        case .privateQueueConcurrencyType:
            DispatchQueue.getSpecific(key: Self.ownerKey) == ObjectIdentifier(self)
                || Self.held.contains(ObjectIdentifier(self))
        }
    }

    /// The queues that are held further up the caller's stack: a child context that is used on its parent's queue reads
    /// from that parent, and must not wait for it. Stored by thread, not by task: a task started meanwhile holds no
    /// queue.
    private static var held: [ObjectIdentifier] {
        get { Thread.current.threadDictionary[heldKey] as? [ObjectIdentifier] ?? [] }
        set { Thread.current.threadDictionary[heldKey] = newValue }
    }
    private static let heldKey = "NSManagedObjectContext.heldQueues"

    func sync<T, E: Error>(_ work: () throws(E) -> T) throws(E) -> T {
        guard let queue, !isCurrent else { return try work() }
        guard let owner = DispatchQueue.getSpecific(key: Self.ownerKey) else {
            return try withoutActuallyEscaping(work) { work throws(E) in
                queue.sync { Result(catching: work) }
            }.get()
        }
        // When one context's queue waits for another's, the first one stays held.
        return try withoutActuallyEscaping(work) { work throws(E) in
            queue.sync {
                let before = Self.held
                Self.held = before + [owner]
                defer { Self.held = before }
                return Result(catching: work)
            }
        }.get()
    }

    func async(_ work: @escaping () -> Void) {
        guard let queue else { return work() }
        // Unsafe because Core Data's signature has no @Sendable; the block runs once, on the context's queue.
        nonisolated(unsafe) let work = work
        queue.async { work() }
    }
}
