import Foundation

extension Thread {
    /// Whether the caller runs on the main queue, and may use a context of that queue.
    ///
    /// In a program with an asynchronous `main` the main thread does not execute the main queue and the work of the main actor:
    /// `isMainThread` is false there.
    public static var executesMainQueue: Bool { ContextQueue.isMain }
}
