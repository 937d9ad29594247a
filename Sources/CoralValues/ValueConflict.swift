import Coral
import CoreData

/// The treatment of an attribute that has unsaved changes here and was saved with another value by another context.
public enum ValueConflictPolicy: Sendable {
    /// The value of this context is kept.
    case keepMine
    /// The saved value is used.
    case takeTheirs
    /// A closure merges three values: the common original value, the one of this context, and the saved one.
    case merge(@Sendable (_ base: Any?, _ mine: Any?, _ theirs: Any?) throws -> Any?)
}

/// An attribute that was changed in two contexts, and the result.
public struct ValueConflict: CustomStringConvertible {
    /// The object with the conflict.
    public let object: NSManagedObject
    /// The attribute's name.
    public let attribute: String
    /// The common original value.
    public let base: Any?
    /// The value in this context.
    public let mine: Any?
    /// The saved value.
    public let theirs: Any?
    /// The resulting value of the attribute.
    public let result: Any?

    public var description: String {
        "\(object.entity.name ?? "").\(attribute) of \(object.objectID.uriRepresentation().absoluteString) was changed "
            + "here and saved elsewhere."
    }
}

/// Merges the saves of other contexts, and resolves conflicts of attributes by rules instead of discarding one side.
///
///     var rules = ValueConflictRules()
///     rules.set("Note.tags", .merge { base, mine, theirs in … })
///     let conflicts = try context.mergeChanges(fromContextDidSave: notification, resolvingBy: rules)
public struct ValueConflictRules: Sendable {
    /// The policy of attributes that have none of their own.
    public var standard: ValueConflictPolicy

    private var policies: [String: ValueConflictPolicy] = [:]

    /// Creates rules with one policy for all attributes, until another is set for an attribute.
    public init(_ standard: ValueConflictPolicy = .keepMine) {
        self.standard = standard
    }

    /// Sets the policy of an attribute, given as `Entity.attribute`, and for entities that inherit it.
    public mutating func set(_ attribute: String, _ policy: ValueConflictPolicy) {
        policies[attribute] = policy
    }

    /// Sets the policy of an attribute, given as a key path such as `\Note.keywords`, and for entities that inherit it. The entity
    /// has the name of the class.
    public mutating func set(_ attribute: PartialKeyPath<some NSManagedObject>, _ policy: ValueConflictPolicy) {
        set(attribute.ruleText, policy)
    }

    /// The resulting value of an attribute.
    package func result(
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
    /// Merges the save of another context, as `mergeChanges(fromContextDidSave:)` does, and resolves every attribute
    /// that has unsaved changes here and was saved there with another value.
    ///
    /// Throws the errors of merging closures, after everything else is merged; attributes whose closures throw keep
    /// this context's value. Cost: one comparison for each changed attribute of the objects that were updated in both.
    ///
    /// - Returns: The conflicts, with their results.
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
