import Dispatch
import Foundation

// Observing one property of one object, with the API of Swift on Apple's platforms: `object.observe(\.title) { … }`.
// Outside Apple's platforms Foundation has no key-value observing, so its names are declared here, and the observation of a `Progress`.
// Managed objects and migration managers declare their own `observe`.

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
    /// How the property has changed: another value was set, or members of a to-many relationship were added, removed or replaced.
    public let kind: NSKeyValueChange
    /// The value before the change, if requested. Where members were removed or replaced, only those.
    public let oldValue: Value?
    /// The value after the change, if requested. Where members were added or are replacements, only those.
    public let newValue: Value?
    /// The places of the members in an ordered relationship; nil for other properties, and where another value was set.
    public let indexes: IndexSet?
    /// True in the call that comes before the change.
    public let isPrior: Bool
}

/// The members that a change adds to a to-many relationship or removes from it, in the form that observers receive.
package struct MemberChange {
    package let kind: NSKeyValueChange
    package var added: [NSObject]
    package var removed: [NSObject]
    /// The places in an ordered relationship; nil in one without an order.
    package let indexes: IndexSet?

    package init(
        _ kind: NSKeyValueChange, added: [NSObject] = [], removed: [NSObject] = [], indexes: IndexSet? = nil
    ) {
        (self.kind, self.added, self.removed, self.indexes) = (kind, added, removed, indexes)
    }

    fileprivate func oldValue<Value>() -> Value? { kind == .insertion ? nil : value(of: removed) }
    fileprivate func newValue<Value>() -> Value? { kind == .removal ? nil : value(of: added) }

    /// The members as a value of the property's type, if it can have them: those of an ordered relationship are an array.
    private func value<Value>(of members: [NSObject]) -> Value? {
        if indexes != nil { return NSArray(array: members) as? Value ?? members as? Value }
        return NSSet(array: members) as? Value ?? Set(members) as? Value
    }
}

/// The kinds of changes of properties, with the names of key-value observing.
public enum NSKeyValueChange: UInt, Sendable {
    /// The property has another value.
    case setting = 1
    /// Objects are added to a to-many relationship.
    case insertion
    /// Objects are removed from a to-many relationship.
    case removal
    /// Objects of a to-many relationship are replaced by others.
    case replacement
}

/// An observation. It ends when it is deallocated, or with ``invalidate()``.
public final class NSKeyValueObservation: NSObject {
    /// The key of the property; nil is all properties.
    package let key: String?
    package private(set) weak var object: NSObject?
    /// To be called before and after a change, with the members that change; nil where another value is set.
    package private(set) var willChange: ((MemberChange?) -> Void)?
    package private(set) var didChange: ((MemberChange?) -> Void)?
    private var end: (() -> Void)?

    /// An observation of a value that is read before and after each change.
    package init<Object: NSObject, Value>(
        of object: Object, key: String?, options: NSKeyValueObservingOptions, value: @escaping (Object) -> Value,
        _ handler: @escaping (Object, NSKeyValueObservedChange<Value>) -> Void
    ) {
        self.object = object
        self.key = key
        super.init()
        // One for each change that has begun: changes of members may be part of another one.
        var before: [Value?] = []
        willChange = { [weak object] members in
            guard let object else { return }
            var old: Value?
            if options.contains(.old) {
                if let members { old = members.oldValue() } else { old = value(object) }
                before.append(old)
            }
            guard options.contains(.prior) else { return }
            handler(
                object,
                NSKeyValueObservedChange(
                    kind: members?.kind ?? .setting, oldValue: old, newValue: nil, indexes: members?.indexes,
                    isPrior: true))
        }
        didChange = { [weak object] members in
            guard let object else { return }
            let old = before.popLast() ?? nil
            var new: Value?
            if options.contains(.new) {
                if let members { new = members.newValue() } else { new = value(object) }
            }
            handler(
                object,
                NSKeyValueObservedChange(
                    kind: members?.kind ?? .setting, oldValue: old, newValue: new, indexes: members?.indexes,
                    isPrior: false))
        }
    }

    /// An observation of changes that nothing announces.
    ///
    /// - Parameter end: Is called by ``invalidate()``. What it retains exists as long as the observation.
    package init(end: @escaping () -> Void) {
        key = nil
        self.end = end
    }

    /// Ends the observation.
    public func invalidate() {
        willChange = nil
        didChange = nil
        let end = end
        self.end = nil
        end?()
    }
}

/// The protocol with which `observe(_:options:changeHandler:)` refers to its object's class.
public protocol KeyValueObservable: AnyObject {}

// Foundation's `Progress` does not announce its changes outside Apple's platforms, so its values are compared at short intervals.

extension Progress: KeyValueObservable {}

extension KeyValueObservable where Self: Progress {
    /// Calls a block when a property has changed: a hundredth of a second later, on a queue of the observation, and without the values
    /// in between. ``NSKeyValueObservation/invalidate()`` reports a change that has not been reported. There are no calls before changes.
    ///
    /// - Returns: The observation. Keep a reference to it: it ends when it is deallocated.
    @preconcurrency
    public func observe<Value: Equatable>(
        _ keyPath: KeyPath<Self, Value>, options: NSKeyValueObservingOptions = [],
        changeHandler: @escaping @Sendable (Self, NSKeyValueObservedChange<Value>) -> Void
    ) -> NSKeyValueObservation {
        let comparison = ProgressComparison(self, keyPath, options, changeHandler)
        comparison.begin()
        return NSKeyValueObservation { comparison.report() }
    }
}

/// Compares a property of a progress with the value that was reported last.
private final class ProgressComparison<Object: Progress, Value: Equatable>: @unchecked Sendable {
    // Unchecked because the lock guards what changes. Key paths to properties are immutable.
    private weak var progress: Object?
    private let keyPath: KeyPath<Object, Value>
    private let options: NSKeyValueObservingOptions
    private let handler: @Sendable (Object, NSKeyValueObservedChange<Value>) -> Void
    private let timer: any DispatchSourceTimer
    private let lock = NSLock()
    private var reported: Value

    init(
        _ progress: Object, _ keyPath: KeyPath<Object, Value>, _ options: NSKeyValueObservingOptions,
        _ handler: @escaping @Sendable (Object, NSKeyValueObservedChange<Value>) -> Void
    ) {
        (self.progress, self.keyPath, self.options, self.handler) = (progress, keyPath, options, handler)
        reported = progress[keyPath: keyPath]
        timer = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "CoreData.progress"))
    }

    deinit { timer.cancel() }

    func begin() {
        if options.contains(.initial) { call(old: nil, new: reported) }
        timer.schedule(deadline: .now() + .milliseconds(10), repeating: .milliseconds(10))
        timer.setEventHandler { [weak self] in self?.report() }
        timer.activate()
    }

    /// Calls the block if the value has changed.
    func report() {
        guard let new = progress?[keyPath: keyPath] else { return }
        let old: Value? = lock.withLock {
            guard reported != new else { return nil }
            defer { reported = new }
            return reported
        }
        if let old { call(old: old, new: new) }
    }

    private func call(old: Value?, new: Value) {
        guard let progress else { return }
        handler(
            progress,
            NSKeyValueObservedChange(
                kind: .setting, oldValue: options.contains(.old) ? old : nil,
                newValue: options.contains(.new) ? new : nil, indexes: nil, isPrior: false))
    }
}

/// The kinds of changes of sets, with the names of key-value observing.
public enum NSKeyValueSetMutationKind: UInt, Sendable {
    /// Members are added: the kind ``NSKeyValueChange/insertion``.
    case union = 1
    /// Members are removed: the kind ``NSKeyValueChange/removal``.
    case minus
    /// All but some members are removed: the kind ``NSKeyValueChange/removal``.
    case intersect
    /// The members are replaced: the kind ``NSKeyValueChange/replacement``.
    case set
}
