import CoreData

/// Values of reference types that are changed in place: what a context has handed out, and what it was then.
///
///     let colours = try context.mutableValues.value(of: palette, forKey: "colours", as: NSMutableArray.self)
///     colours.add("red")
///     try context.mutableValues.save()
///
/// Values of transformable attributes may be of any class that their transformer takes, your own too. A changed value is
/// noticed when `notice()` or `save()` is called, and when the context saves for another reason: by comparison of what
/// would be stored, one encoding for each value that was handed out. For value types, `Tracked` notices each change by
/// itself.
public final class MutableValues {
    private unowned let context: NSManagedObjectContext
    private var entries: [Key: Entry] = [:]
    private var observer: (any NSObjectProtocol)?
    /// What becomes of a value that was changed in place and, meanwhile, in the object: by a merge, a refresh, an undo.
    public var rules = ValueConflictRules()
    /// The conflicts that were met, until they are taken away.
    public var conflicts: [ValueConflict] = []
    /// Why a changed value was not saved when the context last saved for another reason than `save()`, which throws it; nil
    /// where all were.
    public private(set) var error: (any Error)?

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
        /// What is stored of the base; nil for attributes that are not transformable.
        var stored: Data?
    }

    fileprivate init(_ context: NSManagedObjectContext) {
        self.context = context
        observer = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextWillSave, object: context, queue: nil
        ) { notification in
            // Found by its context, so that the block holds nothing.
            (notification.object as? NSManagedObjectContext)?.mutableValues.noticeBeforeSave()
        }
    }

    deinit {
        if let observer { NotificationCenter.default.removeObserver(observer) }
    }

    /// The value of an attribute, for changing in place: a copy that can be changed, the same one each time.
    ///
    /// Throws `TransformableError` where there is no such attribute, no value, or one of another class, and where its
    /// transformer is missing or fails. Cost: the first time one encoding and decoding.
    public func value<Value: NSObject>(
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
        let transformer = transformer(of: object, attribute)
        let stored = try transformer?.archive(of: raw)
        // Made anew of what is stored, so that nothing inside of it is shared with the object's value either.
        let copy = try transformer.flatMap { try stored.map($0.value) } ?? raw
        guard let working = copy as? Value ?? (copy as? any NSMutableCopying)?.mutableCopy(with: nil) as? Value,
            working !== raw
        else {
            throw TransformableError(.wrongType, "\(place) holds a \(Swift.type(of: raw)), not a \(Value.self).")
        }
        entries[key] = Entry(object: object, working: working, base: raw, stored: stored)
        return working
    }

    private func transformer(of object: NSManagedObject, _ name: String) -> AttributeTransformer? {
        object.entity.attributesByName[name].flatMap {
            $0.attributeType == .transformableAttributeType ? AttributeTransformer($0) : nil
        }
    }

    /// Whether a value is another than the one that an entry began with.
    private func differs(_ value: NSObject?, from entry: Entry, _ transformer: AttributeTransformer?) throws -> Bool {
        guard let value else { return true }
        guard let transformer, let stored = entry.stored else {
            return !TransformableEquality.areSame(value, entry.base)
        }
        return try !AttributeTransformer.areSame(transformer.archive(of: value), stored)
    }

    /// Gives the objects what was changed in place, so that `hasChanges`, `changedValues` and undo know. Throws what
    /// merging closures throw, and `TransformableError` for a value that can no longer be encoded. Cost: one encoding for
    /// each value that was handed out.
    public func notice() throws {
        for key in entries.keys { try notice(key) }
    }

    /// Nobody can stop a save that has begun: a value that cannot be noticed is told afterwards, and holds up no other.
    private func noticeBeforeSave() {
        error = nil
        for key in entries.keys {
            do { try notice(key) } catch { self.error = self.error ?? error }
        }
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
        let transformer = transformer(of: entry.object, key.attribute)
        let current = entry.object.value(forKey: key.attribute) as? NSObject
        let isChangedThere = try current !== entry.base && differs(current, from: entry, transformer)
        guard try differs(entry.working, from: entry, transformer) else {
            // The next who asks gets the new value.
            if isChangedThere { entries[key] = nil }
            return
        }
        let stored = try transformer?.archive(of: entry.working)
        let mine = try MutableValues.frozen(transformer.flatMap { try stored.map($0.value) } ?? entry.working)
        var result: Any? = mine
        if isChangedThere {
            result = try rules.result(
                of: key.attribute, entry.object.entity, base: entry.base, mine: mine, theirs: current)
            conflicts.append(
                ValueConflict(
                    object: entry.object, attribute: key.attribute, base: entry.base, mine: mine, theirs: current,
                    result: result))
        }
        let isSettledAsMine = result as? NSObject === mine || TransformableEquality.areSame(result, mine)
        if isSettledAsMine || !TransformableEquality.areSame(result, current) {
            entry.object.setValue(result, forKey: key.attribute)
        }
        guard isSettledAsMine, let value = entry.object.value(forKey: key.attribute) as? NSObject else {
            return entries[key] = nil
        }
        entries[key]?.base = value
        entries[key]?.stored = stored
    }

    /// A value that the working value shares nothing with, and that cannot be changed in place where its class has such.
    private static func frozen(_ value: Any) -> NSObject? {
        if value is any NSMutableCopying, let value = value as? any NSCopying {
            return value.copy(with: nil) as? NSObject
        }
        return value as? NSObject
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
