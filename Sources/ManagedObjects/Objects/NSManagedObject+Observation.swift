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
