// Observers that belong to an object, as those with a selector do on Apple's platforms: `removeObserver(self)` ends them. Foundation
// here knows an observer only by the token that it returns, and ignores any other object. `coral-port` writes these calls where code
// adds `self` with a selector.
import Foundation
import Synchronization

extension NotificationCenter {
    /// Adds an object as an observer, until it is released or removed with ``removeObserver(_:)``. The centre does not retain it.
    ///
    /// - Parameters:
    ///   - observer: The object to which the block belongs, which it receives.
    ///   - name: The name of the notifications; nil for all names.
    ///   - object: The object that posts them; nil for all objects.
    ///   - block: What is called for each notification, on the thread that posts it.
    public func addObserver<Observer: AnyObject>(
        _ observer: Observer, name: Notification.Name?, object: Any?,
        using block: @escaping (Observer, Notification) -> Void
    ) {
        OwnedObservation.begin(of: self, for: observer, name: name, object: object, block)
    }

    /// Ends all observations of an object, or the one of a token that ``addObserver(forName:object:queue:using:)`` has returned.
    public func removeObserver(_ observer: AnyObject) {
        OwnedObservation.end(of: self, for: observer, name: nil, object: nil)
        removeObserver(observer as Any)
    }

    /// Ends the observations of an object of notifications with a name that another object posts.
    ///
    /// - Parameters:
    ///   - observer: The object that was added, or a token.
    ///   - name: The name; nil ends the observations of all names.
    ///   - object: The object that posts them; nil ends the observations of all objects.
    public func removeObserver(_ observer: AnyObject, name: Notification.Name?, object: Any?) {
        OwnedObservation.end(of: self, for: observer, name: name, object: object)
        removeObserver(observer as Any, name: name, object: object)
    }
}

/// An observation that belongs to an object.
private final class OwnedObservation: @unchecked Sendable {  // because what changes is guarded by the lock of `all`
    private weak var center: NotificationCenter?
    private weak var owner: AnyObject?
    private let name: Notification.Name?
    /// Compared, and not used otherwise.
    private let object: ObjectIdentifier?
    private var token: (any NSObjectProtocol)?

    /// The observations by their owner's identifier, which another object may get after the owner's release.
    private struct Observations {
        var byOwner: [ObjectIdentifier: [OwnedObservation]] = [:]
        /// How many owners there may be before the released ones are searched for.
        var limit = 64
    }

    private static let all = Mutex(Observations())

    private init(
        _ center: NotificationCenter, _ owner: AnyObject, _ name: Notification.Name?, _ object: ObjectIdentifier?
    ) {
        (self.center, self.owner, self.name, self.object) = (center, owner, name, object)
    }

    /// A function that the centre hands to other threads, as it does with methods that have a selector on Apple's platforms.
    private struct Block<Owner: AnyObject>: @unchecked Sendable {
        weak var owner: Owner?
        let call: (Owner, Notification) -> Void
    }

    static func begin<Owner: AnyObject>(
        of center: NotificationCenter, for owner: Owner, name: Notification.Name?, object: Any?,
        _ call: @escaping (Owner, Notification) -> Void
    ) {
        let observation = OwnedObservation(center, owner, name, identifier(of: object))
        let block = Block(owner: owner, call: call)
        let token = center.addObserver(forName: name, object: object, queue: nil) { notification in
            if let owner = block.owner { block.call(owner, notification) }
        }
        let released = all.withLock { all in
            observation.token = token
            var observations = all.byOwner[ObjectIdentifier(owner)] ?? []
            var released = observations.filter { $0.owner == nil }
            observations.removeAll { $0.owner == nil }
            all.byOwner[ObjectIdentifier(owner)] = observations + [observation]
            if all.byOwner.count > all.limit {
                released += all.byOwner.values.flatMap { $0.filter { $0.owner == nil } }
                all.byOwner = all.byOwner.compactMapValues { observations in
                    let living = observations.filter { $0.owner != nil }
                    return living.isEmpty ? nil : living
                }
                all.limit = max(64, 2 * all.byOwner.count)
            }
            return released
        }
        for observation in released { observation.end() }
    }

    /// Ends what matches. An owner that is being released calls this, too, and its weak references are nil then.
    static func end(of center: NotificationCenter, for owner: AnyObject, name: Notification.Name?, object: Any?) {
        let object = identifier(of: object)
        let ended = all.withLock { all in
            guard let observations = all.byOwner[ObjectIdentifier(owner)] else { return [OwnedObservation]() }
            func ends(_ observation: OwnedObservation) -> Bool {
                observation.center === center && (name == nil || observation.name == name)
                    && (object == nil || observation.object == object)
            }
            let remaining = observations.filter { !ends($0) }
            all.byOwner[ObjectIdentifier(owner)] = remaining.isEmpty ? nil : remaining
            return observations.filter(ends)
        }
        for observation in ended { observation.end() }
    }

    private func end() {
        let token = Self.all.withLock { _ in
            defer { self.token = nil }
            return self.token
        }
        if let token { center?.removeObserver(token as Any) }
    }

    private static func identifier(of object: Any?) -> ObjectIdentifier? {
        object.map { ObjectIdentifier($0 as AnyObject) }
    }
}
