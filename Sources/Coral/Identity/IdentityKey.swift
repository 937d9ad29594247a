import CoreData
import GraphDocuments

/// The value of a key, which identifies one object.
struct IdentityKey: Hashable {
    let rule: IdentityRule
    let parts: [Part]
    /// The hash, computed once, because every key is looked up several times.
    private let digest: Int

    enum Part: Hashable {
        case value(GraphValue)
        /// An object in the store.
        case object(NSManagedObjectID)
        /// An object that exists only in the payload: the number of its node.
        case node(Int)
    }

    init(rule: IdentityRule, parts: [Part]) {
        self.rule = rule
        self.parts = parts
        var hasher = Hasher()
        hasher.combine(rule.digest)
        hasher.combine(parts)
        digest = hasher.finalize()
    }

    static func == (left: IdentityKey, right: IdentityKey) -> Bool {
        left.digest == right.digest && left.rule == right.rule && left.parts == right.parts
    }

    func hash(into hasher: inout Hasher) { hasher.combine(digest) }
}
