import CoreData

/// How a graph is copied: which relationships are followed, which lead to the originals' neighbours, and what the
/// attributes of copies are.
///
///     var rules = CopyRules.ownership.with("Note.tags", .link)
///     rules.setValue("Note.title") { _, title in "\(title ?? "") (copy)" }
///
/// For each relationship the first of these decides that has something to say: a rule given in code, which is closest to
/// the call; the directives in the model's user info (see `CopyDirectiveKeys`); the `base`. So it is for the values of
/// attributes. Transient and derived attributes are not copied.
public struct CopyRules: Sendable {
    /// What becomes of a relationship that no rule and no directive names.
    public enum Base: String, Sendable, Hashable, CaseIterable {
        /// Everything that can be reached is copied.
        case everything
        /// What an object owns is copied: what its cascading relationships lead to. The rest is linked.
        case ownership
        /// As MOCloner does: what others may have relationships to as well, because the way back is to many, is
        /// linked; the rest is copied.
        case moCloner
    }

    /// What becomes of a link that would take an object away from the original, because the way back is to one.
    public enum ExclusiveLinks: String, Sendable, Hashable, CaseIterable {
        /// The copy has no such object, and the result says where; but a mandatory one is copied.
        case leaveOut
        /// The object is copied.
        case copy
    }

    /// How values of uniqueness constraints that an object has already are made unique.
    public enum Uniqueness: Sendable, Hashable {
        /// Text gets a suffix, and from the second copy on a number, up to a limit; UUIDs are made anew. What has
        /// neither is an error.
        case suffix(String, limit: Int)
        /// An error, before anything is made of the object.
        case error
        /// Left to the save.
        case unchecked
    }

    /// Decides about one related object. Called with the owner and with the object that the relationship leads to.
    public typealias RuleClosure = @Sendable (NSManagedObject, NSManagedObject) throws -> CopyRule
    /// Makes a value. Called with the original and its value.
    public typealias ValueClosure = @Sendable (NSManagedObject, Any?) throws -> Any?
    /// Called with an original and its copy.
    public typealias Hook = @Sendable (NSManagedObject, NSManagedObject) throws -> Void

    /// What becomes of a relationship that no rule and no directive names.
    public var base: Base
    /// Whether directives in the model's user info count.
    public var honoursUserInfo = true
    /// What the directives are called.
    public var directiveKeys = CopyDirectiveKeys()
    /// What becomes of links that would take an object away from its original.
    public var exclusiveLinks = ExclusiveLinks.leaveOut
    /// What becomes of text in uniqueness constraints.
    public var uniqueness = Uniqueness.suffix(" copy", limit: 1000)
    /// Whether whole numbers of uniqueness constraints get the next free number, the one after the largest, in place of
    /// an error. Where a constraint has a UUID that is made anew instead. Cost: one fetch for each constraint.
    public var countsUpNumbers = false
    /// Whether links that change the object at their other end are left out: then nothing that exists is changed.
    public var leavesOthersUntouched = false
    /// Finds the object that stands for an original's neighbour where the copies live in another store or model.
    /// Without it the natural key decides: the values of the entity's uniqueness constraint.
    public var linkedObject: (@Sendable (NSManagedObject, NSManagedObjectContext) throws -> NSManagedObject?)?
    /// Called when a copy has its attributes, and no relationships yet.
    public var didMake: Hook?
    /// Called when all copies are connected.
    public var didConnect: Hook?

    var rules: [String: CopyRule] = [:]
    var choices: [String: RuleClosure] = [:]
    var values: [String: ValueClosure] = [:]
    var conditions: [String: @Sendable (NSManagedObject) throws -> Bool] = [:]
    var excludedEntities: Set<String> = []
    var excludedProperties: Set<String> = []
    var excludedNames: Set<String> = []
    var excludedRootNames: Set<String> = []
    /// Whether the copies are the beginning of a store of their own: values stay as they are, and nobody may lack what is
    /// mandatory.
    var isSubset = false
    /// Whether objects that rules link to are copied too, without what belongs to them.
    var takesNeighbours = false

    /// Rules that say nothing but what their base says.
    public init(_ base: Base = .ownership) {
        self.base = base
    }

    /// Everything that can be reached.
    public static let everything = CopyRules(.everything)
    /// What an object owns; links to the rest.
    public static let ownership = CopyRules(.ownership)
    /// As MOCloner copies.
    public static let moCloner = CopyRules(.moCloner)

    // MARK: - Relationships

    /// Says what becomes of a relationship, named by its entity and the way to it, as in `GraphShape.set(_:_:)`:
    /// `Note.items`, or `Note.items.tags`. Entities that inherit the relationship follow the rule unless they have
    /// one of their own.
    public mutating func set(_ keyPath: String, _ rule: CopyRule) {
        rules[keyPath] = rule
    }

    /// The rules with one more; see `set(_:_:)`.
    public func with(_ keyPath: String, _ rule: CopyRule) -> CopyRules {
        var copy = self
        copy.set(keyPath, rule)
        return copy
    }

    /// Lets a closure decide for each object that a relationship leads to.
    public mutating func set(_ keyPath: String, by choice: @escaping RuleClosure) {
        choices[keyPath] = choice
    }

    /// Leaves out an entity, with those that inherit from it, or a property such as `Note.body`.
    public mutating func exclude(_ name: String) {
        if name.contains(".") { excludedProperties.insert(name) } else { excludedEntities.insert(name) }
    }

    /// The rules without an entity or a property; see `exclude(_:)`.
    public func excluding(_ names: String...) -> CopyRules {
        var copy = self
        for name in names { copy.exclude(name) }
        return copy
    }

    /// Leaves out all relationships of these names, whatever entity has them.
    ///
    /// - Parameters:
    ///   - names: Names of relationships.
    ///   - passedDown: Whether that is so everywhere; else only at the objects that are asked for.
    public mutating func excludeRelationships(named names: Set<String>, passedDown: Bool = true) {
        if passedDown { excludedNames.formUnion(names) } else { excludedRootNames.formUnion(names) }
    }

    // MARK: - Objects and values

    /// Copies only those objects of an entity, and of those that inherit from it, for which a condition holds. Others
    /// are linked where that is possible. Objects that are asked for are always copied.
    public mutating func copy(_ entity: String, where condition: @escaping @Sendable (NSManagedObject) throws -> Bool) {
        conditions[entity] = condition
    }

    /// Gives an attribute, such as `Note.title`, the value that a closure makes.
    public mutating func setValue(_ keyPath: String, by closure: @escaping ValueClosure) {
        values[keyPath] = closure
    }
}
