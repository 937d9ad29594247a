import CoreData
import GraphDocuments

/// The value of a key, which identifies one object.
struct IdentityKey: Hashable {
    var rule: IdentityRule
    var parts: [Part]

    enum Part: Hashable {
        case value(GraphValue)
        /// An object in the store.
        case object(NSManagedObjectID)
        /// An object that is only in the payload: the index of its node.
        case node(Int)
    }
}
