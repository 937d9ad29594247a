import Dispatch

/// Reads one element after another, on a thread of its own while the caller processes the one before.
final class ReadAhead<Element>: @unchecked Sendable {
    // Sendable because what the function uses, and the element that was read, are used either by the queue or, after waiting
    // for it, by the caller.

    private let read: () throws -> Element
    private let queue: DispatchQueue
    private let isRead = DispatchGroup()
    private var next: Result<Element, any Error>?

    /// - Parameter read: Reads the next element; called on another thread, and never concurrently with itself.
    init(label: String, _ read: @escaping () throws -> Element) {
        self.read = read
        queue = DispatchQueue(label: label)
    }

    /// Begins to read the next element.
    func begin() {
        next = nil
        queue.async(group: isRead) { self.next = Result(catching: self.read) }
    }

    /// The element that `begin()` started to read, after waiting for it; nil if `begin()` was not called. Throws the error
    /// of reading.
    func element() throws -> Element? {
        wait()
        return try next?.get()
    }

    /// Waits until a read in progress has finished.
    func wait() { isRead.wait() }
}
