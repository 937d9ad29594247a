import CoreData

/// Values of reference types that are changed in place: what a context has handed out, and what it was then.
///
///     let colours = try context.mutableValues.value(of: palette, forKey: "colours", as: NSMutableArray.self)
///     colours.add("red")
///     try context.mutableValues.save()
///
/// A changed value is noticed when `notice()` or `save()` is called, and when the context saves for another reason:
/// by comparison with a copy, once for each value that was handed out. For value types, `Tracked` notices each change
/// by itself.
public final class MutableValues {
    private unowned let context: NSManagedObjectContext
    private var entries: [Key: Entry] = [:]
    private var observer: (any NSObjectProtocol)?
    /// What becomes of a value that was changed in place and, meanwhile, in the object: by a merge, a refresh, an undo.
    public var rules = ValueConflictRules()
    /// The conflicts that were met, until they are taken away.
    public var conflicts: [ValueConflict] = []

    private struct Key: Hashable {
        var object: ObjectIdentifier
        var attribute: String
    }

    private struct Entry {
        /// Held, since nobody else may hold an object whose only change is not noticed yet.
        var object: NSManagedObject
        /// What is changed in place.
        var working: NSObject
        /// The object's value when the working value was equal to it.
        var base: NSObject
    }

    fileprivate init(_ context: NSManagedObjectContext) {
        self.context = context
        observer = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextWillSave, object: context, queue: nil
        ) { notification in
            // Found by its context, so that the block holds nothing.
            try? (notification.object as? NSManagedObjectContext)?.mutableValues.notice()
        }
    }

    deinit {
        if let observer { NotificationCenter.default.removeObserver(observer) }
    }

    /// The value of a transformable attribute, for changing in place: a mutable copy, the same one each time.
    ///
    /// Throws `TransformableError` where there is no such attribute, no value, or one of another class.
    public func value<Value: NSObject & NSMutableCopying>(
        of object: NSManagedObject, forKey attribute: String, as type: Value.Type
    ) throws -> Value {
        let place = "\(object.entity.name ?? "").\(attribute)"
        guard object.entity.attributesByName[attribute] != nil else {
            throw TransformableError(
                .unknownAttribute,
                "\(object.entity.name ?? "") has no attribute \"\(attribute)\"."
                    + NameSuggestion.question(for: attribute, in: object.entity.attributesByName.keys))
        }
        let key = Key(object: ObjectIdentifier(object), attribute: attribute)
        try notice(key)
        if let working = entries[key]?.working as? Value { return working }
        guard let raw = object.value(forKey: attribute) as? NSObject else {
            throw TransformableError(.wrongType, "\(place) has no value of class \(Value.self).")
        }
        guard let working = (raw as? any NSMutableCopying)?.mutableCopy(with: nil) as? Value else {
            throw TransformableError(.wrongType, "\(place) holds a \(Swift.type(of: raw)), not a \(Value.self).")
        }
        entries[key] = Entry(object: object, working: working, base: raw)
        return working
    }

    /// Gives the objects what was changed in place, so that `hasChanges`, `changedValues` and undo know. Throws what
    /// merging closures throw. Cost: one comparison for each value that was handed out.
    public func notice() throws {
        for key in entries.keys { try notice(key) }
    }

    /// Notices what was changed in place, and saves the context.
    public func save() throws {
        try notice()
        if context.hasChanges { try context.save() }
    }

    /// Forgets what was handed out: values that are still held somewhere are no longer the objects'.
    public func forgetAll() {
        entries = [:]
    }

    private func notice(_ key: Key) throws {
        guard let entry = entries[key] else { return }
        guard entry.object.managedObjectContext === context, !entry.object.isDeleted else {
            entries[key] = nil
            return
        }
        let current = entry.object.value(forKey: key.attribute) as? NSObject
        let isChangedHere = !TransformableEquality.areSame(entry.working, entry.base)
        let isChangedThere = !TransformableEquality.areSame(current, entry.base)
        guard isChangedHere else {
            // The next who asks gets the new value.
            if isChangedThere { entries[key] = nil }
            return
        }
        let mine = entry.working.copy() as? NSObject
        var result: Any? = mine
        if isChangedThere {
            result = try rules.result(
                of: key.attribute, entry.object.entity, base: entry.base, mine: mine, theirs: current)
            conflicts.append(
                ValueConflict(
                    object: entry.object, attribute: key.attribute, base: entry.base, mine: mine, theirs: current,
                    result: result))
        }
        if !TransformableEquality.areSame(result, current) { entry.object.setValue(result, forKey: key.attribute) }
        if let value = result as? NSObject, TransformableEquality.areSame(value, mine) {
            entries[key]?.base = value
        } else {
            entries[key] = nil
        }
    }
}

extension NSManagedObjectContext {
    private static let mutableValuesKey = "coral.mutableValues"

    /// The values that this context has handed out for changing in place.
    public var mutableValues: MutableValues {
        if let values = userInfo[Self.mutableValuesKey] as? MutableValues { return values }
        let values = MutableValues(self)
        userInfo[Self.mutableValuesKey] = values
        return values
    }
}
