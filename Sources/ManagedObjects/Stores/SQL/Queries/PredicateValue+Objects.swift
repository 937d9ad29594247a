import PredicateLanguage

extension PredicateValue {
    /// The key of an object or an ID; nil for anything else.
    var objectKey: ObjectKey? {
        switch self {
        case .object(let object as NSManagedObject): object.key
        case .other(let other): NSManagedObjectID.id(other)?.key
        case .object(let id as NSManagedObjectID): id.key
        default: nil
        }
    }

    /// The entity of an object or an ID; nil for anything else.
    var objectEntity: NSEntityDescription? {
        switch self {
        case .object(let object as NSManagedObject): object.entity
        case .other(let other): NSManagedObjectID.id(other)?.entity
        case .object(let id as NSManagedObjectID): id.entity
        default: nil
        }
    }
}
