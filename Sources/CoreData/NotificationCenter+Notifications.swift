// `notifications(named:object:)`, which Foundation has on Apple's platforms only. Data layers await saves and remote changes with it.
import Foundation

extension NotificationCenter {
    /// The notifications with a name, of one object or of all, as an asynchronous sequence.
    ///
    /// ```swift
    /// for await notification in NotificationCenter.default.notifications(named: .NSPersistentStoreRemoteChange) { … }
    /// ```
    ///
    /// An iterator receives what is posted after it was made, and keeps it until it is asked for. The loop ends when its task is
    /// cancelled.
    public func notifications(named name: Notification.Name, object: AnyObject? = nil) -> Notifications {
        Notifications(center: self, name: name, object: object)
    }

    /// The notifications with a name as they are posted.
    public final class Notifications: AsyncSequence, Sendable {
        public typealias Element = Notification
        public typealias Failure = Never

        private let center: NotificationCenter
        private let name: Notification.Name
        // `nonisolated(unsafe)` because the object is only handed on to the centre, which compares its identity.
        private nonisolated(unsafe) let object: AnyObject?

        fileprivate init(center: NotificationCenter, name: Notification.Name, object: AnyObject?) {
            (self.center, self.name, self.object) = (center, name, object)
        }

        /// A notification on its way to the task that iterates.
        fileprivate struct Posted: @unchecked Sendable {  // because who posts it does not change it
            let notification: Notification
        }

        /// An observer that is removed from its centre.
        private struct Observer: @unchecked Sendable {  // because the centre locks
            let center: NotificationCenter
            let token: any NSObjectProtocol
        }

        public func makeAsyncIterator() -> Iterator {
            let (stream, continuation) = AsyncStream.makeStream(of: Posted.self)
            let token = center.addObserver(forName: name, object: object, queue: nil) {
                continuation.yield(Posted(notification: $0))
            }
            let observer = Observer(center: center, token: token)
            continuation.onTermination = { _ in observer.center.removeObserver(observer.token) }
            return Iterator(posted: stream.makeAsyncIterator())
        }

        /// Observes until it is released.
        public struct Iterator: AsyncIteratorProtocol {
            fileprivate var posted: AsyncStream<Posted>.Iterator

            public mutating func next() async -> Notification? { await posted.next()?.notification }

            public mutating func next(isolation actor: isolated (any Actor)?) async -> Notification? {
                await posted.next(isolation: actor)?.notification
            }
        }
    }
}
