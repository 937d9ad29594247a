import Foundation
import Observation

// Swift's Observation, which is here what `objectWillChange` is on Apple's platforms: `withObservationTracking` and what
// stands on it learn of changes to the properties that they have read. An addition to Core Data's API.

/// Every managed object is observable, those of generated classes and of `@Managed` included, in a context that has
/// ``NSManagedObjectContext/isObservable`` set.
extension NSManagedObject: Observable {}

extension NSManagedObject {
    /// Tells Observation that a property is read.
    @inline(__always)
    final func noteReading(_ name: PropertyName) {
        guard let unmanagedContext, unmanagedContext._withUnsafeGuaranteedRef({ $0.isObservable }) else { return }
        noteObservedReading(name)
    }

    @inline(never)
    private final func noteObservedReading(_ name: PropertyName) {
        context?.observationRegistrar.access(self, keyPath: ObservedPlace.keyPath(of: name, in: self))
    }

    /// Tells Observation that a property is read, by its key.
    final func noteReading(ofKey key: String) {
        if context?.isObservable == true { noteObservedReading(PropertyName(key)) }
    }

    /// Tells Observation that a property is about to change.
    final func noteWillChange(_ key: String) {
        guard let context, context.isObservable else { return }
        context.observationRegistrar.willSet(self, keyPath: ObservedPlace.keyPath(of: PropertyName(key), in: self))
    }

    /// Tells Observation that a property has changed.
    final func noteDidChange(_ key: String) {
        guard let context, context.isObservable else { return }
        context.observationRegistrar.didSet(self, keyPath: ObservedPlace.keyPath(of: PropertyName(key), in: self))
    }

    /// Tells Observation that any property may have changed.
    final func noteRefreshing() {
        for key in layout.places.keys {
            noteWillChange(key)
            noteDidChange(key)
        }
    }
}

/// The key paths that stand for properties of objects in a context's registrar.
///
/// A registrar for each object would be an allocation for each object. So a context has one, and a property of an object has one
/// of some thousand places there. Two that share a place by chance are told of each other's changes too: a needless look, never
/// a missing one.
private enum ObservedPlace {
    private static let count = 4096
    // Unsafe because it is never changed, and key paths of a constant are immutable.
    private nonisolated(unsafe) static let keyPaths: [KeyPath<NSManagedObject, Int>] = (0..<count).map {
        \NSManagedObject.[observedPlace: $0]
    }

    static func keyPath(of name: PropertyName, in object: NSManagedObject) -> KeyPath<NSManagedObject, Int> {
        // Addresses are multiples of 16. The factor is Knuth's, and spreads neighbours.
        let address = UInt(bitPattern: ObjectIdentifier(object).hashValue) >> 4
        let mixed = (UInt64(address) &+ UInt64(name.number) &* 0x1F3D_5B79) &* 0x9E37_79B9_7F4A_7C15
        return keyPaths[Int(mixed >> 52)]
    }
}

extension NSManagedObject {
    /// Nothing but what a key path of a place leads to.
    fileprivate final subscript(observedPlace place: Int) -> Int { place }
}
