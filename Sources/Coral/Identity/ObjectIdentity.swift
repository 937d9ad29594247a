import CoreData
import GraphDocuments

/// How an import determines the object of a record.
///
///     options.identity.setKey(\Item.note, \Item.name)
///
/// The first of these that applies is used: the key declared here; the key declared in the model's user info
/// (`coral.identity` of an entity: names of attributes and to-one relationships, separated by commas); the model's
/// uniqueness constraints; the id, if the document comes from the same store; the content, with `matchesContent`.
/// Otherwise the record is a new object. The keys of an entity also apply to those that inherit from it.
///
/// If a record has both a key and an id of the same store, and these belong to different objects, the plan contains
/// a conflict. The key takes precedence, or the id with `prefersObjectURIs`.
public struct ObjectIdentity: Sendable, Hashable {
    /// The key of the directive in the user info of entities.
    package static let userInfoKey = "coral.identity"

    /// For each entity the attributes and to-one relationships that identify an object. A relationship in a key makes
    /// it unique per parent: the other values and the destination must be equal. A record nested in its parent need not
    /// repeat the reference to it.
    public var keys: [String: [String]]
    /// Whether the model's uniqueness constraints identify objects.
    public var usesUniquenessConstraints: Bool
    /// Whether ids of the same store (`Note/p12`, `x-coredata://…`) identify objects.
    public var usesObjectURIs: Bool
    /// Whether an id of the same store takes precedence over keys: a record with the id of a stored object and another
    /// key changes that object's key. False by default, because a copy of a store has the same UUID, and its ids may be
    /// those of other objects.
    public var prefersObjectURIs = false
    /// Whether a record of an entity without a key is matched with an object that has the same attribute values; false
    /// by default.
    public var matchesContent: Bool
    /// Whether keys declared in the model's user info are used.
    package var usesDeclaredKeys = true

    /// Creates an identity of declared keys and other criteria.
    public init(
        keys: [String: [String]] = [:], usesUniquenessConstraints: Bool = true, usesObjectURIs: Bool = true,
        matchesContent: Bool = false
    ) {
        self.keys = keys
        self.usesUniquenessConstraints = usesUniquenessConstraints
        self.usesObjectURIs = usesObjectURIs
        self.matchesContent = matchesContent
    }

    /// Sets the attributes and to-one relationships that identify the objects of a class.
    ///
    ///     options.identity.setKey(\Item.note, \Item.name)
    public mutating func setKey<Object: NSManagedObject>(_ parts: PartialKeyPath<Object>...) {
        keys[Object.ruleName] = Object.ruleNames(parts)
    }
}
