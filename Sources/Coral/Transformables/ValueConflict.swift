import CoreData

/// What becomes of an attribute that was changed here and, meanwhile, saved by somebody else.
public enum ValueConflictPolicy: Sendable {
    /// The value of this context stays.
    case keepMine
    /// The saved value is taken.
    case takeTheirs
    /// A closure makes one value of three: the one that both began with, the one here, and the saved one.
    case merge(@Sendable (_ base: Any?, _ mine: Any?, _ theirs: Any?) throws -> Any?)
}

/// An attribute that was changed twice, and what came of it.
public struct ValueConflict: CustomStringConvertible {
    /// The object that was changed here and there.
    public let object: NSManagedObject
    /// The attribute's name.
    public let attribute: String
    /// The value that both began with.
    public let base: Any?
    /// The value here.
    public let mine: Any?
    /// The value that was saved there.
    public let theirs: Any?
    /// The value that the attribute has now.
    public let result: Any?

    public var description: String {
        "\(object.entity.name ?? "").\(attribute) of \(object.objectID.uriRepresentation().absoluteString) was changed "
            + "here and saved elsewhere."
    }
}

/// Merges what other contexts have saved, and settles conflicts of attributes instead of losing one side.
///
///     var rules = ValueConflictRules()
///     rules.set("Note.tags", .merge { base, mine, theirs in … })
///     let conflicts = try context.mergeChanges(fromContextDidSave: notification, resolvingBy: rules)
public struct ValueConflictRules: Sendable {
    /// For attributes that have no policy of their own.
    public var standard: ValueConflictPolicy

    private var policies: [String: ValueConflictPolicy] = [:]

    /// Rules by which every conflict is settled alike, until one is set for an attribute.
    public init(_ standard: ValueConflictPolicy = .keepMine) {
        self.standard = standard
    }

    /// Says what becomes of an attribute, named `Entity.attribute`. Entities that inherit it follow.
    public mutating func set(_ attribute: String, _ policy: ValueConflictPolicy) {
        policies[attribute] = policy
    }

    /// The value that an attribute gets.
    func result(
        of attribute: String, _ entity: NSEntityDescription, base: Any?, mine: Any?, theirs: Any?
    ) throws -> Any? {
        let own = sequence(first: entity) { $0.superentity }.lazy
            .compactMap { policies["\($0.name ?? "").\(attribute)"] }.first
        switch own ?? standard {
        case .keepMine: return mine
        case .takeTheirs: return theirs
        case .merge(let closure): return try closure(base, mine, theirs)
        }
    }
}

extension NSManagedObjectContext {
    /// Merges what another context has saved, as `mergeChanges(fromContextDidSave:)` does, and settles every
    /// attribute that has unsaved changes here and was saved there with another value.
    ///
    /// Throws what merging closures throw, after all else is merged; attributes whose closures throw keep this
    /// context's value. Cost: one comparison for each changed attribute of the objects that were updated in both.
    ///
    /// - Returns: The conflicts, with what came of them.
    @discardableResult
    public func mergeChanges(
        fromContextDidSave notification: Notification, resolvingBy rules: ValueConflictRules
    ) throws -> [ValueConflict] {
        let updated = notification.userInfo?[NSUpdatedObjectsKey] as? Set<NSManagedObject> ?? []
        let objects = (updated.isEmpty ? (notification.userInfo?[NSUpdatedObjectsKey] as? NSSet)?.allObjects ?? [] : [])
            .compactMap { $0 as? NSManagedObject }
        let ids = (updated.isEmpty ? objects : Array(updated)).map(\.objectID)
        var changes: [(NSManagedObject, String, base: Any?, mine: Any?)] = []
        for object in ids.compactMap({ registeredObject(for: $0) }) where object.isUpdated {
            let changed = object.changedValues()
            for name in object.entity.attributesByName.keys.sorted() where changed[name] != nil {
                let base = object.committedValues(forKeys: [name])[name].flatMap(Self.present)
                changes.append((object, name, base, changed[name].flatMap(Self.present)))
            }
        }
        mergeChanges(fromContextDidSave: notification)
        var conflicts: [ValueConflict] = []
        var failure: (any Error)?
        for (object, name, base, mine) in changes {
            let theirs = object.committedValues(forKeys: [name])[name].flatMap(Self.present)
            guard !TransformableEquality.areSame(theirs, base), !TransformableEquality.areSame(theirs, mine) else {
                continue
            }
            var result = mine
            do {
                result = try rules.result(of: name, object.entity, base: base, mine: mine, theirs: theirs)
            } catch {
                failure = failure ?? error
            }
            if !TransformableEquality.areSame(result, object.value(forKey: name)) {
                object.setValue(result, forKey: name)
            }
            conflicts.append(
                ValueConflict(object: object, attribute: name, base: base, mine: mine, theirs: theirs, result: result))
        }
        if let failure { throw failure }
        return conflicts
    }

    private static func present(_ value: Any) -> Any? { value is NSNull ? nil : value }
}
