import Dispatch
import Foundation

/// The queue that a context's work is done on.
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
        case .privateQueueConcurrencyType: DispatchQueue.getSpecific(key: Self.ownerKey) == ObjectIdentifier(self)
        }
    }

    func sync<T, E: Error>(_ work: () throws(E) -> T) throws(E) -> T {
        guard let queue, !isCurrent else { return try work() }
        return try withoutActuallyEscaping(work) { work throws(E) in
            queue.sync { Result(catching: work) }
        }.get()
    }

    func async(_ work: @escaping () -> Void) {
        guard let queue else { return work() }
        // Unsafe because Core Data's signature has no @Sendable; the block runs once, on the context's queue.
        nonisolated(unsafe) let work = work
        queue.async { work() }
    }
}
