import FoundationAdditions
import Foundation

// Observing managed objects: `object.observe(\.title) { … }`.

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

    /// Calls a block before any property of the object is set, and after a merge or a refresh has given it other values. An addition to
    /// Foundation's API, for publishers such as `objectWillChange`.
    ///
    /// - Returns: The observation. Keep a reference to it: it ends when it is deallocated.
    public func observeChanges(_ handler: @escaping (Self) -> Void) -> NSKeyValueObservation {
        observe(nil, options: .prior, value: { _ in }) { object, change in
            if change.isPrior { handler(object) }
        }
    }

    private func observe<Value>(
        _ key: String?, options: NSKeyValueObservingOptions, value: @escaping (Self) -> Value,
        _ handler: @escaping (Self, NSKeyValueObservedChange<Value>) -> Void
    ) -> NSKeyValueObservation {
        checkQueue()
        let observation = NSKeyValueObservation(of: self, key: key, options: options, value: value, handler)
        context?.observations.add(observation, of: self)
        if options.contains(.initial) { observation.didChange?() }
        return observation
    }
}

extension NSManagedObject {
    /// To be called before a primitive value of an ordered relationship changes at some places.
    public func willChange(_ changeKind: NSKeyValueChange, valuesAt indexes: IndexSet, forKey key: String) {
        willChangeValue(forKey: key)
    }

    /// To be called after a primitive value of an ordered relationship has changed at some places.
    public func didChange(_ changeKind: NSKeyValueChange, valuesAt indexes: IndexSet, forKey key: String) {
        didChangeValue(forKey: key)
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

    /// Informs the observers of all properties that some objects have other values.
    func didRefresh(_ objects: Set<NSManagedObject>) {
        guard !entries.isEmpty else { return }
        for object in objects {
            for observation in observations(of: nil, of: object) { observation.willChange?() }
        }
    }

    /// The observations of a property and those of all properties.
    private func observations(of key: String?, of object: NSManagedObject) -> [NSKeyValueObservation] {
        (entries[ObjectIdentifier(object)] ?? []).compactMap(\.observation).filter {
            ($0.key == key || $0.key == nil) && $0.object === object
        }
    }
}
