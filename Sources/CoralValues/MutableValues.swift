import Coral
import CoreData

/// Values of reference types that are changed in place: the values that a context has returned, and their original
/// state.
///
///     let colours = try context.mutableValues.value(of: palette, forKey: "colours", as: NSMutableArray.self)
///     colours.add("red")
///     try context.mutableValues.save()
///
/// Values of transformable attributes may be of any class that their transformer accepts, including your own. A changed
/// value is detected when `notice()` or `save()` is called, and when the context is saved otherwise, by comparing
/// encodings: one encoding for each value that was returned. For value types, `Tracked` detects each change
/// immediately.
public final class MutableValues {
    private unowned let context: NSManagedObjectContext
    private var entries: [Key: Entry] = [:]
    private var observer: (any NSObjectProtocol)?
    /// The treatment of a value that was changed both in place and in the object: by a merge, a refresh, or undo.
    public var rules = ValueConflictRules()
    /// The conflicts so far, until they are removed.
    public var conflicts: [ValueConflict] = []
    /// The error that prevented a changed value from being saved when the context was last saved without
    /// `save()`, which throws it; nil if there was none.
    public private(set) var error: (any Error)?

    private struct Key: Hashable {
        var object: ObjectIdentifier
        var attribute: String
    }

    private struct Entry {
        /// Retained, since an object with an undetected change may have no other reference.
        var object: NSManagedObject
        /// The value that is changed in place.
        var working: NSObject
        /// The object's value when the working value was equal to it.
        var base: NSObject
        /// The encoding of the base; nil for attributes that are not transformable.
        var stored: Data?
    }

    fileprivate init(_ context: NSManagedObjectContext) {
        self.context = context
        observer = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextWillSave, object: context, queue: nil
        ) { notification in
            // The context is taken from the notification, so that the block does not retain it.
            (notification.object as? NSManagedObjectContext)?.mutableValues.noticeBeforeSave()
        }
    }

    deinit {
        if let observer { NotificationCenter.default.removeObserver(observer) }
    }

    /// The value of an attribute, for changing in place: a mutable copy, the same one each time.
    ///
    /// Throws `TransformableError` if the attribute does not exist, has no value, or one of another class, and if
    /// its transformer is missing or fails. Cost: one encoding and decoding the first time.
    public func value<Value: NSObject>(
        of object: NSManagedObject, forKey attribute: String, as type: Value.Type
    ) throws -> Value {
        let place = "\(object.entity.name ?? "").\(attribute)"
        guard object.entity.attributesByName[attribute] != nil else {
            throw TransformableError(
                .unknownAttribute,
                "\(object.entity.name ?? "") has no attribute \"\(attribute)\"."
                    + NameSuggestion.advice(for: attribute, in: object.entity.attributesByName.keys))
        }
        let key = Key(object: ObjectIdentifier(object), attribute: attribute)
        try notice(key)
        if let working = entries[key]?.working as? Value { return working }
        guard let raw = object.value(forKey: attribute) as? NSObject else {
            throw TransformableError(.wrongType, "\(place) has no value of class \(Value.self).")
        }
        let transformer = transformer(of: object, attribute)
        let stored = try transformer?.archive(of: raw)
        // Decoded from the stored bytes, so that the copy shares nothing with the object's value.
        let copy = try transformer.flatMap { try stored.map($0.value) } ?? raw
        guard let working = copy as? Value ?? (copy as? any NSMutableCopying)?.mutableCopy(with: nil) as? Value,
            working !== raw
        else {
            throw TransformableError(.wrongType, "\(place) is a \(Swift.type(of: raw)), not a \(Value.self).")
        }
        entries[key] = Entry(object: object, working: working, base: raw, stored: stored)
        return working
    }

    private func transformer(of object: NSManagedObject, _ name: String) -> AttributeTransformer? {
        object.entity.attributesByName[name].flatMap {
            $0.attributeType == .transformableAttributeType ? AttributeTransformer($0) : nil
        }
    }

    /// Whether a value differs from the base of an entry.
    private func differs(_ value: NSObject?, from entry: Entry, _ transformer: AttributeTransformer?) throws -> Bool {
        guard let value else { return true }
        guard let transformer, let stored = entry.stored else {
            return !TransformableEquality.areSame(value, entry.base)
        }
        return try !AttributeTransformer.areSame(transformer.archive(of: value), stored)
    }

    /// Assigns in-place changes to the objects, so that `hasChanges`, `changedValues` and undo include them. Throws the
    /// errors of merging closures, and `TransformableError` for a value that cannot be encoded any more. Cost: one
    /// encoding for each value that was returned.
    public func notice() throws {
        for key in entries.keys { try notice(key) }
    }

    /// A save that has started cannot be stopped: an error is kept in `error`, and does not affect other values.
    private func noticeBeforeSave() {
        error = nil
        for key in entries.keys {
            do { try notice(key) } catch { self.error = self.error ?? error }
        }
    }

    /// Assigns in-place changes, and saves the context.
    public func save() throws {
        try notice()
        if context.hasChanges { try context.save() }
    }

    /// Withdraws in-place changes, and rolls the context back, which by itself withdraws only those that were detected. Values that
    /// were returned before have no effect any longer.
    public func rollback() {
        entries = [:]
        context.rollback()
    }

    private func notice(_ key: Key) throws {
        guard let entry = entries[key] else { return }
        guard entry.object.managedObjectContext === context, !entry.object.isDeleted else {
            entries[key] = nil
            return
        }
        let transformer = transformer(of: entry.object, key.attribute)
        let current = entry.object.value(forKey: key.attribute) as? NSObject
        let isChangedThere = try current !== entry.base && differs(current, from: entry, transformer)
        guard try differs(entry.working, from: entry, transformer) else {
            // The next access returns the new value.
            if isChangedThere { entries[key] = nil }
            return
        }
        let stored = try transformer?.archive(of: entry.working)
        var mine = try MutableValues.frozen(transformer.flatMap { try stored.map($0.value) } ?? entry.working)
        // The attribute's class may be the mutable one.
        if let transformer, let frozen = mine { mine = try transformer.value(from: frozen) as? NSObject }
        var result: Any? = mine
        if isChangedThere {
            result = try rules.result(
                of: key.attribute, entry.object.entity, base: entry.base, mine: mine, theirs: current)
            conflicts.append(
                ValueConflict(
                    object: entry.object, attribute: key.attribute, base: entry.base, mine: mine, theirs: current,
                    result: result))
        }
        let isMine = result as? NSObject === mine || TransformableEquality.areSame(result, mine)
        if isMine || !TransformableEquality.areSame(result, current) {
            entry.object.setValue(result, forKey: key.attribute)
        }
        guard isMine, let value = entry.object.value(forKey: key.attribute) as? NSObject else {
            return entries[key] = nil
        }
        entries[key]?.base = value
        entries[key]?.stored = stored
    }

    /// A value that shares nothing with the working value, and is immutable if its class has an immutable variant.
    private static func frozen(_ value: Any) -> NSObject? {
        if value is any NSMutableCopying, let value = value as? any NSCopying {
            return value.copy(with: nil) as? NSObject
        }
        return value as? NSObject
    }
}

extension NSManagedObjectContext {
    private static let mutableValuesKey = "coral.mutableValues"

    /// The values that this context has returned for changing in place.
    public var mutableValues: MutableValues {
        if let values = userInfo[Self.mutableValuesKey] as? MutableValues { return values }
        let values = MutableValues(self)
        userInfo[Self.mutableValuesKey] = values
        return values
    }
}
