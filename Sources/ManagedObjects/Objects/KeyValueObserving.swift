import Foundation

// Observing one property of one object, as Swift spells it on Apple's platforms: `object.observe(\.title) { … }`. Foundation
// has no key-value observing elsewhere, so these names are declared here, for managed objects.

/// What an observer is told of a change.
public struct NSKeyValueObservingOptions: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }
    /// The value after the change.
    public static let new = NSKeyValueObservingOptions(rawValue: 1)
    /// The value before the change.
    public static let old = NSKeyValueObservingOptions(rawValue: 2)
    /// A call at once, before there is any change.
    public static let initial = NSKeyValueObservingOptions(rawValue: 4)
    /// A call before each change, too.
    public static let prior = NSKeyValueObservingOptions(rawValue: 8)
}

/// One change of an observed property.
public struct NSKeyValueObservedChange<Value> {
    /// The value before, if it was asked for.
    public let oldValue: Value?
    /// The value after, if it was asked for.
    public let newValue: Value?
    /// True in the call that comes before the change.
    public let isPrior: Bool
}

/// An observation; it ends when it is let go, or by ``invalidate()``.
public final class NSKeyValueObservation: NSObject {
    fileprivate let key: String
    fileprivate let options: NSKeyValueObservingOptions
    fileprivate weak var object: NSManagedObject?
    fileprivate var willChange: (() -> Void)?
    fileprivate var didChange: (() -> Void)?

    fileprivate init(of object: NSManagedObject, key: String, options: NSKeyValueObservingOptions) {
        self.object = object
        self.key = key
        self.options = options
    }

    /// Ends the observation.
    public func invalidate() {
        willChange = nil
        didChange = nil
    }
}

/// What ``observe(_:options:changeHandler:)`` needs to know of its object's class.
public protocol KeyValueObservable: AnyObject {}

extension NSManagedObject: KeyValueObservable {}

extension KeyValueObservable where Self: NSManagedObject {
    /// Calls a block whenever a property has been set, on the queue of the object's context. Every way of setting counts:
    /// by key, by a generated accessor, from the other side of a relationship, by undo; not what a merge or a refresh reads
    /// from the store, of which `NSManagedObjectContextObjectsDidChange` tells.
    ///
    /// - Parameter keyPath: A property that has a name; see ``KeyPathRegistry``.
    /// - Returns: The observation. Keep it: it ends when it is let go.
    public func observe<Value>(
        _ keyPath: KeyPath<Self, Value>, options: NSKeyValueObservingOptions = [],
        changeHandler: @escaping (Self, NSKeyValueObservedChange<Value>) -> Void
    ) -> NSKeyValueObservation {
        observe(
            KeyPathRegistry.requiredName(of: keyPath), options: options, value: { $0[keyPath: keyPath] }, changeHandler)
    }

    /// Calls a block whenever the property of a name has been set: an addition to Foundation's API, for objects without a
    /// class of their own.
    ///
    /// - Returns: The observation. Keep it: it ends when it is let go.
    public func observe(
        key: String, options: NSKeyValueObservingOptions = [],
        changeHandler: @escaping (Self, NSKeyValueObservedChange<Any?>) -> Void
    ) -> NSKeyValueObservation {
        observe(key, options: options, value: { $0.value(forKey: key) }, changeHandler)
    }

    /// The values that a property is given, from the present one on: an addition to Foundation's API. The sequence ends when
    /// nobody waits for it any more; the object is not kept alive.
    public func values<Value: Sendable>(of keyPath: KeyPath<Self, Value>) -> AsyncStream<Value> {
        AsyncStream { continuation in
            let observation = observe(keyPath, options: [.initial, .new]) { _, change in
                if let value = change.newValue { continuation.yield(value) }
            }
            // Unsafe because the observation is only let go there.
            nonisolated(unsafe) var held: NSKeyValueObservation? = observation
            continuation.onTermination = { _ in
                held?.invalidate()
                held = nil
            }
        }
    }

    private func observe<Value>(
        _ key: String, options: NSKeyValueObservingOptions, value: @escaping (Self) -> Value,
        _ handler: @escaping (Self, NSKeyValueObservedChange<Value>) -> Void
    ) -> NSKeyValueObservation {
        let observation = NSKeyValueObservation(of: self, key: key, options: options)
        var before: Value?
        observation.willChange = { [weak self] in
            guard let self else { return }
            before = options.contains(.old) ? value(self) : nil
            if options.contains(.prior) {
                handler(self, NSKeyValueObservedChange(oldValue: before, newValue: nil, isPrior: true))
            }
        }
        observation.didChange = { [weak self] in
            guard let self else { return }
            handler(
                self,
                NSKeyValueObservedChange(
                    oldValue: before, newValue: options.contains(.new) ? value(self) : nil, isPrior: false))
        }
        context?.observations.add(observation, of: self)
        if options.contains(.initial) {
            handler(
                self,
                NSKeyValueObservedChange(
                    oldValue: nil, newValue: options.contains(.new) ? value(self) : nil, isPrior: false))
        }
        return observation
    }
}

/// The observations of a context's objects.
struct ObjectObservations {
    private struct Entry {
        weak var observation: NSKeyValueObservation?
    }

    private var entries: [ObjectIdentifier: [Entry]] = [:]

    fileprivate mutating func add(_ observation: NSKeyValueObservation, of object: NSManagedObject) {
        let id = ObjectIdentifier(object)
        // An object that has died may have left its place to this one.
        var list = (entries[id] ?? []).filter { $0.observation?.object === object }
        list.append(Entry(observation: observation))
        entries[id] = list
        object.state.insert(.observed)
    }

    func willChange(_ key: String, of object: NSManagedObject) {
        for observation in observations(of: key, of: object) { observation.willChange?() }
    }

    func didChange(_ key: String, of object: NSManagedObject) {
        for observation in observations(of: key, of: object) { observation.didChange?() }
    }

    private func observations(of key: String, of object: NSManagedObject) -> [NSKeyValueObservation] {
        (entries[ObjectIdentifier(object)] ?? []).compactMap(\.observation).filter {
            $0.key == key && $0.object === object
        }
    }
}
