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
