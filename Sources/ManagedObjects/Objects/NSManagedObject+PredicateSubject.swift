import Foundation
import PredicateLanguage

extension NSManagedObject: PredicateSubject {
    /// An object equals its ID, and the object of the same row in another context, so that predicates accept either.
    public var predicateIdentity: AnyHashable? { AnyHashable(objectID) }

    public func predicateValue(forKey key: String) throws -> Any? {
        if let place = place(of: key) { return publicValue(at: place) }
        switch key {
        case "objectID": return objectID
        case "entity": return entity
        case "self": return self
        default:
            throw CocoaError(
                .keyValueValidation,
                userInfo: [NSLocalizedDescriptionKey: "\(entity.name ?? "") has no property \"\(key)\"."])
        }
    }
}

extension NSEntityDescription: PredicateSubject {
    public func predicateValue(forKey key: String) throws -> Any? {
        switch key {
        case "name": return name
        case "managedObjectClassName": return managedObjectClassName
        case "superentity": return superentity
        default:
            throw CocoaError(
                .keyValueValidation,
                userInfo: [NSLocalizedDescriptionKey: "An entity has no key \"\(key)\" for predicates."])
        }
    }
}
