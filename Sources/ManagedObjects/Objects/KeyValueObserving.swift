import FoundationAdditions
import Foundation

// Observing managed objects: `object.observe(\.title) { … }`.

extension NSManagedObject: KeyValueObservable {}

extension KeyValueObservable where Self: NSManagedObject {
    /// Calls a block whenever a property has been set, on the queue of the object's context: by key, by a generated
    /// accessor, from the other side of a relationship, or by undo. If members of a to-many relationship are added or removed, the
    /// change has its kind, the members, and their places in an ordered relationship. Values that a merge or a refresh reads from the
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
            // The whole value: of a relationship whose members change, the change has only these.
            let observation = observe(keyPath, options: .initial) { object, _ in
                continuation.yield(object[keyPath: keyPath])
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
        if options.contains(.initial) { observation.didChange?(nil) }
        return observation
    }
}

extension NSManagedObject {
    /// Calls observers. The list of calls is complete before the first one, because an observer may add observations.
    final func notifyObservers(_ calls: (inout ObjectObservations) -> [() -> Void]) {
        guard let context else { return }
        for call in calls(&context.observations) { call() }
    }
}

/// The observations of a context's objects.
struct ObjectObservations {
    private struct Entry {
        weak var observation: NSKeyValueObservation?
    }

    /// A change of members that has been announced and not completed.
    private struct Announcement {
        let object: ObjectIdentifier
        let key: String
        var members: MemberChange
        /// Whether this is one change with several parts: observers do not receive the parts.
        let isWhole: Bool
        /// How many calls announce a change within this one, which is the first.
        var depth = 0
    }

    private var entries: [ObjectIdentifier: [Entry]] = [:]
    private var announcements: [Announcement] = []

    fileprivate mutating func add(_ observation: NSKeyValueObservation, of object: NSManagedObject) {
        let id = ObjectIdentifier(object)
        // A deallocated object may have had the same address.
        var list = (entries[id] ?? []).filter { $0.observation?.object === object }
        list.append(Entry(observation: observation))
        entries[id] = list
        object.state.mark(.observed)
    }

    /// The calls that inform the observers of a property before a change: of the members that were announced, or that it is set.
    mutating func willChange(_ key: String, of object: NSManagedObject) -> [() -> Void] {
        var members: MemberChange?
        if let index = announcement(of: object, key) {
            announcements[index].depth += 1
            if announcements[index].depth == 1 {
                members = announcements[index].members
            } else if announcements[index].isWhole {
                return []
            }
        }
        return observations(of: key, of: object).map { observation in { observation.willChange?(members) } }
    }

    /// The calls that inform the observers of a property after a change.
    mutating func didChange(_ key: String, of object: NSManagedObject) -> [() -> Void] {
        var members: MemberChange?
        if let index = announcement(of: object, key) {
            announcements[index].depth -= 1
            if announcements[index].depth == 0 {
                members = announcements[index].members
            } else if announcements[index].isWhole {
                return []
            }
        }
        return observations(of: key, of: object).map { observation in { observation.didChange?(members) } }
    }

    // MARK: - Members

    /// Announces a change of members, of which the next calls of `willChange` and `didChange` inform the observers.
    mutating func announce(_ members: MemberChange, of object: NSManagedObject, _ key: String, isWhole: Bool) {
        announcements.append(
            Announcement(object: ObjectIdentifier(object), key: key, members: members, isWhole: isWhole))
    }

    /// The last announced change of members; nil if there is none.
    func announced(of object: NSManagedObject, _ key: String) -> MemberChange? {
        announcement(of: object, key).map { announcements[$0].members }
    }

    /// Replaces the members of the last announced change, before it is completed.
    mutating func correct(_ members: MemberChange, of object: NSManagedObject, _ key: String) {
        if let index = announcement(of: object, key) { announcements[index].members = members }
    }

    mutating func complete(of object: NSManagedObject, _ key: String) {
        if let index = announcement(of: object, key) { announcements.remove(at: index) }
    }

    /// Whether changes of the same members are parts of one that was announced.
    func isPart(of object: NSManagedObject, _ key: String) -> Bool {
        announcement(of: object, key).map { announcements[$0].isWhole && announcements[$0].depth > 0 } ?? false
    }

    private func announcement(of object: NSManagedObject, _ key: String) -> Int? {
        let id = ObjectIdentifier(object)
        return announcements.lastIndex { $0.object == id && $0.key == key }
    }

    // MARK: - All properties

    /// Informs the observers of all properties that some objects have other values.
    func didRefresh(_ objects: Set<NSManagedObject>) {
        guard !entries.isEmpty else { return }
        for object in objects {
            for observation in observations(of: nil, of: object) { observation.willChange?(nil) }
        }
    }

    /// The observations of a property and those of all properties.
    private func observations(of key: String?, of object: NSManagedObject) -> [NSKeyValueObservation] {
        (entries[ObjectIdentifier(object)] ?? []).compactMap(\.observation).filter {
            ($0.key == key || $0.key == nil) && $0.object === object
        }
    }
}
