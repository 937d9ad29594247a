import Foundation
import Observation

// Support for Swift's Observation, which replaces `objectWillChange` of Apple's platforms: `withObservationTracking`
// and everything based on it observes changes to the properties that were read. An addition to Core Data's API.

// Every managed object is observable, including those of generated classes and of `@Managed`, in a context with
// ``NSManagedObjectContext/isObservable`` set. The class does not conform to `Observable`, as it does not on Apple's platforms:
// classes of apps declare the conformance themselves.

extension NSManagedObject {
    /// Notifies Observation that a property is read.
    @inline(__always)
    final func noteReading(_ name: PropertyName) {
        if isObservable { noteObservedReading(name) }
    }

    /// Whether the context is observable. Asked at each access, so the context is not retained.
    @inline(__always)
    private final var isObservable: Bool {
        unmanagedContext?._withUnsafeGuaranteedRef { $0.isObservable } ?? false
    }

    @inline(never)
    private final func noteObservedReading(_ name: PropertyName) {
        context?.observationRegistrar.access(ObservedField.subject, keyPath: ObservedField.keyPath(of: name, in: self))
    }

    /// Notifies Observation that the property with a key is read.
    final func noteReading(ofKey key: String) {
        if isObservable { noteObservedReading(PropertyName(key)) }
    }

    /// Notifies Observation that a property is about to change.
    final func noteWillChange(_ key: String) {
        guard isObservable, let context else { return }
        context.observationRegistrar.willSet(
            ObservedField.subject, keyPath: ObservedField.keyPath(of: PropertyName(key), in: self))
    }

    /// Notifies Observation that a property has changed.
    final func noteDidChange(_ key: String) {
        guard isObservable, let context else { return }
        context.observationRegistrar.didSet(
            ObservedField.subject, keyPath: ObservedField.keyPath(of: PropertyName(key), in: self))
    }

    /// Notifies Observation that all properties may have changed.
    final func noteRefreshing() {
        for key in layout.fields.keys {
            noteWillChange(key)
            noteDidChange(key)
        }
    }
}

/// The key paths that represent properties of objects in a context's registrar.
///
/// A registrar for each object would need an allocation for each object. Instead a context has one registrar, and each
/// property of an object is hashed to one of 4096 key paths. Observers of two properties with the same hash are
/// notified of both; this causes unnecessary notifications, but never a missing one.
private enum ObservedField {
    /// The object to which the key paths belong.
    final class Subject: Observable, Sendable {
        /// Exists only so that there is a key path for each index.
        fileprivate subscript(field field: Int) -> Int { field }
    }

    /// A registrar distinguishes observed properties by key paths only, so that one subject represents all objects.
    static let subject = Subject()

    private static let count = 4096
    // Unsafe because the array is never changed, and key paths with constant subscripts are immutable.
    private nonisolated(unsafe) static let keyPaths: [KeyPath<Subject, Int>] = (0..<count).map {
        \Subject.[field: $0]
    }

    static func keyPath(of name: PropertyName, in object: NSManagedObject) -> KeyPath<Subject, Int> {
        // Addresses are multiples of 16. The last factor is that of Knuth's multiplicative hashing, which spreads
        // neighbouring values.
        let address = UInt(bitPattern: ObjectIdentifier(object)) >> 4
        let mixed = (UInt64(address) &+ UInt64(name.number) &* 0x1F3D_5B79) &* 0x9E37_79B9_7F4A_7C15
        return keyPaths[Int(mixed >> 52)]
    }
}

// MARK: - Key-value observing

// Observing one property of one object, with the API of Swift on Apple's platforms: `object.observe(\.title) { … }`.
// Outside Apple's platforms Foundation has no key-value observing, so its names are declared here, for managed objects.

/// The values in a change, and additional calls.
public struct NSKeyValueObservingOptions: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }
    /// The value after the change.
    public static let new = NSKeyValueObservingOptions(rawValue: 1)
    /// The value before the change.
    public static let old = NSKeyValueObservingOptions(rawValue: 2)
    /// An additional call immediately, before there is any change.
    public static let initial = NSKeyValueObservingOptions(rawValue: 4)
    /// An additional call before each change.
    public static let prior = NSKeyValueObservingOptions(rawValue: 8)
}

/// One change of an observed property.
public struct NSKeyValueObservedChange<Value> {
    /// The value before the change, if requested.
    public let oldValue: Value?
    /// The value after the change, if requested.
    public let newValue: Value?
    /// True in the call that comes before the change.
    public let isPrior: Bool
}

/// An observation. It ends when it is deallocated, or with ``invalidate()``.
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

/// The protocol with which ``observe(_:options:changeHandler:)`` refers to its object's class.
public protocol KeyValueObservable: AnyObject {}

extension NSManagedObject: KeyValueObservable {}

extension KeyValueObservable where Self: NSManagedObject {
    /// Calls a block whenever a property has been set, on the queue of the object's context: by key, by a generated
    /// accessor, from the other side of a relationship, or by undo. Values that a merge or a refresh reads from the
    /// store are not observed; `NSManagedObjectContextObjectsDidChange` reports these.
    ///
    /// - Parameter keyPath: A property that has a name; see ``KeyPathRegistry``.
    /// - Returns: The observation. Keep a reference to it: it ends when it is deallocated.
    public func observe<Value>(
        _ keyPath: KeyPath<Self, Value>, options: NSKeyValueObservingOptions = [],
        changeHandler: @escaping (Self, NSKeyValueObservedChange<Value>) -> Void
    ) -> NSKeyValueObservation {
        observe(
            KeyPathRegistry.requiredName(of: keyPath), options: options, value: { $0[keyPath: keyPath] }, changeHandler)
    }

    /// Calls a block whenever the property with a name has been set. An addition to Foundation's API, for objects
    /// without a class of their own.
    ///
    /// - Returns: The observation. Keep a reference to it: it ends when it is deallocated.
    public func observe(
        key: String, options: NSKeyValueObservingOptions = [],
        changeHandler: @escaping (Self, NSKeyValueObservedChange<Any?>) -> Void
    ) -> NSKeyValueObservation {
        observe(key, options: options, value: { $0.value(forKey: key) }, changeHandler)
    }

    /// The values of a property, starting with the current one: an addition to Foundation's API. The observation ends
    /// when the sequence is terminated; the object is not retained.
    public func values<Value: Sendable>(of keyPath: KeyPath<Self, Value>) -> AsyncStream<Value> {
        AsyncStream { continuation in
            let observation = observe(keyPath, options: [.initial, .new]) { _, change in
                if let value = change.newValue { continuation.yield(value) }
            }
            // Unsafe because the observation is only released there.
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
        checkQueue()
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
        // A deallocated object may have had the same address.
        var list = (entries[id] ?? []).filter { $0.observation?.object === object }
        list.append(Entry(observation: observation))
        entries[id] = list
        object.state.mark(.observed)
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

/// The kinds of changes of sets, with the names of key-value observing.
public enum NSKeyValueSetMutationKind: UInt, Sendable {
    /// Members are added.
    case union = 1
    /// Members are removed.
    case minus
    /// All but some members are removed.
    case intersect
    /// The members are replaced.
    case set
}
