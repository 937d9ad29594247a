import CoreData

/// How copies differ from their originals: values, conditions, unique values, and the treatment of single objects. Which objects are
/// copied is the shape's.
///
///     var rules = CopyRules()
///     rules.setValue("Note.title") { _, title in "\(title ?? "") (copy)" }
///     let copy = try note.deepCopy(rules: rules)
///
/// A value set in code comes before the directives in the model's user info (see `CopyDirectiveKeys`). Transient and derived
/// attributes are not copied.
public struct CopyRules: Sendable {
    /// The treatment of a link that would remove an object from the original, because the inverse is to-one.
    package enum ExclusiveLinks: String, Sendable, Hashable, CaseIterable {
        /// The link is omitted and reported. If the relationship is required, the object is copied.
        case omit
        /// The object is copied.
        case copy
    }

    /// How values of uniqueness constraints that another object has are made unique.
    public enum Uniqueness: Sendable, Hashable {
        /// Text gets a suffix, followed by a number from the second copy on, up to a limit; UUIDs are replaced by new ones. If
        /// a constraint contains neither text nor a UUID, copying fails, unless `countsUpNumbers` applies.
        case suffix(String, limit: Int)
        /// An error, before the object is copied.
        case fail
        /// Not checked; the save detects conflicts.
        case unchecked
    }

    /// Determines the rule for one related object. Called with the owner and the related object.
    package typealias RuleClosure = @Sendable (NSManagedObject, NSManagedObject) throws -> RelationshipRule
    /// Computes a value. Called with the original and its value.
    package typealias ValueClosure = @Sendable (NSManagedObject, Any?) throws -> Any?

    /// The keys of the directives.
    public var directiveKeys = CopyDirectiveKeys()
    /// The treatment of links that would remove an object from its original.
    package var exclusiveLinks = ExclusiveLinks.omit
    /// How values of uniqueness constraints are made unique.
    public var uniqueness = Uniqueness.suffix(" copy", limit: 1000)
    /// Whether an integer of a uniqueness constraint is replaced by the number after the largest one where copying would
    /// otherwise fail. In a constraint with a UUID, the UUID is replaced instead. Cost: one fetch for each constraint.
    public var countsUpNumbers = false
    /// Whether links that change the object at their other end are omitted, so that no existing object is changed.
    public var leavesOthersUntouched = false
    /// Finds the object to link to if the copies are in another store or model. Called with the object that the original is
    /// related to, and the copies' context. If nil, the object with the same values of the uniqueness constraint is used.
    public var linkedObject: (@Sendable (NSManagedObject, NSManagedObjectContext) throws -> NSManagedObject?)?
    /// Called with each original and its copy after the copy's attributes are set and before its relationships are set.
    public var didCopy: (@Sendable (NSManagedObject, NSManagedObject) throws -> Void)?
    /// Called with each original and its copy after all copies are connected.
    public var didConnect: (@Sendable (NSManagedObject, NSManagedObject) throws -> Void)?

    var choices: [String: RuleClosure] = [:]
    var values: [String: ValueClosure] = [:]
    var conditions: [String: @Sendable (NSManagedObject) throws -> Bool] = [:]
    var excludedNames: Set<String> = []
    package var excludedRootNames: Set<String> = []
    /// Whether the copies are the content of a new store: values are not changed, and required objects are always
    /// copied.
    package var isSubset = false
    /// Whether linked objects are copied too, without the objects that they own.
    package var takesLinkedObjects = false

    /// Creates rules that change nothing but what the model's directives do.
    public init() {}

    // MARK: - Relationships

    /// Sets a closure that determines the rule for each destination of a relationship. It is called with the owner and the related
    /// object.
    public mutating func set(
        _ keyPath: String, by choice: @escaping @Sendable (NSManagedObject, NSManagedObject) throws -> RelationshipRule
    ) {
        choices[keyPath] = choice
    }

    /// Sets a closure that determines the rule for each destination of a relationship, given as a key path such as `\Note.tags`. It is
    /// called with the owner and the related object.
    public mutating func set<Owner: NSManagedObject>(
        _ keyPath: PartialKeyPath<Owner>,
        by choice: @escaping @Sendable (Owner, NSManagedObject) throws -> RelationshipRule
    ) {
        let path = keyPath.ruleText
        set(path) { owner, related in
            try choice(Self.typed(owner, at: path), related)
        }
    }

    /// Excludes all relationships with these names, in any entity.
    ///
    /// - Parameters:
    ///   - names: Names of relationships.
    ///   - passedDown: Whether they are excluded everywhere; otherwise only for the requested objects.
    public mutating func excludeRelationships(named names: Set<String>, passedDown: Bool = true) {
        if passedDown { excludedNames.formUnion(names) } else { excludedRootNames.formUnion(names) }
    }

    /// Whether a closure was set for exactly this key path.
    package func hasRule(for keyPath: String) -> Bool { choices[keyPath] != nil || values[keyPath] != nil }

    // MARK: - Objects and values

    /// Copies only those objects of an entity, and of entities that inherit from it, for which a condition holds.
    /// Others are linked if that is possible. Requested objects are always copied.
    public mutating func copy(_ entity: String, where condition: @escaping @Sendable (NSManagedObject) throws -> Bool) {
        conditions[entity] = condition
    }

    /// Copies only those objects of a class for which a condition holds, as `copy(_:where:)` does for an entity:
    ///
    ///     rules.copy(Note.self) { note in !note.isArchived }
    public mutating func copy<Object: NSManagedObject>(
        _ type: Object.Type, where condition: @escaping @Sendable (Object) throws -> Bool
    ) {
        let name = Object.ruleName
        copy(name) { object in try condition(Self.typed(object, at: name)) }
    }

    /// Sets the value of an attribute, such as `Note.title`, by a closure, which is called with the original and its value.
    public mutating func setValue(
        _ keyPath: String, by closure: @escaping @Sendable (NSManagedObject, Any?) throws -> Any?
    ) {
        values[keyPath] = closure
    }

    /// Sets the value of an attribute, such as `\Note.title`, by a closure, which is called with the original.
    public mutating func setValue<Object: NSManagedObject, Value>(
        _ keyPath: KeyPath<Object, Value>, by closure: @escaping @Sendable (Object) throws -> Value
    ) {
        let path = keyPath.ruleText
        setValue(path) { original, _ in
            let value = try closure(Self.typed(original, at: path))
            // As `Any`, a nil would be a value.
            let mirror = Mirror(reflecting: value)
            return mirror.displayStyle == .optional ? mirror.children.first?.value : value
        }
    }

    /// The object as one of the class of a key path. Throws for objects of another class, which an entity can have in another model.
    private static func typed<Object: NSManagedObject>(_ object: NSManagedObject, at path: String) throws -> Object {
        guard let object = object as? Object else {
            throw CopyError(
                .modelMismatch, "The objects of \(object.entity.name ?? "") are not of the class \(Object.self).",
                at: path)
        }
        return object
    }
}
