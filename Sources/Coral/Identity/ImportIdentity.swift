import CoreData
import GraphDocuments

/// How an import determines the object of a record.
///
/// For each record the first of these that says something decides: the key declared here; the key declared in the model's
/// user info (`coral.identity` of an entity: names of attributes and to-one relationships, with commas between); the model's
/// uniqueness constraints; the id, where the document comes from the very store; the content, where `matchesContent` says
/// so. A record that nothing identifies is a new object. What an entity declares holds for those that inherit from it.
///
/// Where a record has both a key and an id of the very store, and these do not belong to one object, the plan has a conflict
/// that says so. The key decides, or the id where `prefersObjectURIs` says so.
public struct ImportIdentity: Sendable, Hashable {
    /// The key of the directive in the user info of entities.
    public static let userInfoKey = "coral.identity"

    /// For each entity the attributes and to-one relationships that identify an object. A relationship in a key makes
    /// it unique per parent: the other values and the destination must be equal. A record nested in its parent need not
    /// repeat the reference to it.
    public var keys: [String: [String]]
    /// Whether the model's uniqueness constraints identify objects.
    public var usesUniquenessConstraints: Bool
    /// Whether ids of the same store (`Note/p12`, `x-coredata://…`) identify objects.
    public var usesObjectURIs: Bool
    /// Whether an id of the store's own decides before keys do: a record with the id of a stored object and another key
    /// changes that object's key. Off unless said otherwise, because a copy of a store has its UUID, and its ids may be those
    /// of other objects.
    public var prefersObjectURIs = false
    /// Whether a record of an entity without a key is the object that has all the same attributes. Off unless said otherwise.
    public var matchesContent: Bool
    /// Whether keys declared in the model's user info are used.
    public var usesDeclaredKeys = true

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
}
