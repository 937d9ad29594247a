import CoreDataErrors
import Foundation
import PredicateLanguage

extension NSManagedObject: PredicateSubject {
    /// An object equals its ID, and the object of the same row in another context, so that predicates accept either.
    public var predicateIdentity: AnyHashable? { AnyHashable(objectID) }

    public func comparableValue(forKey key: String) throws -> PredicateValue {
        if case .slot(let slot)? = field(of: key) {
            if layout.kinds[slot] == .toOne { return relatedObject(slot: slot).map { .object($0) } ?? .null }
            if implementation(of: slot) == nil, let value = comparableValue(slot) { return value }
        }
        return PredicateValue(try predicateValue(forKey: key))
    }

    public func predicateValue(forKey key: String) throws -> Any? {
        if let field = field(of: key) {
            if case .slot(let slot) = field, let property = implementation(of: slot) {
                return value(of: property, slot: slot)
            }
            return publicValue(at: field)
        }
        if let object = ownObject(forKey: key) { return object }
        if let property = registeredProperty(key) { return property.value(self) }
        if let name = property(ofPrimitiveKey: key) { return primitiveValue(forKey: name) }
        state.mark(.askedForUndefinedKey)
        let value = value(forUndefinedKey: key)
        if flags.contains(.askedForUndefinedKey) {
            state.unmark(.askedForUndefinedKey)
            return value
        }
        throw CocoaError(
            .keyValueValidation,
            userInfo: [NSLocalizedDescriptionKey: "\(entity.name ?? "") has no property \"\(key)\"."])
    }

    /// The value of a key that every managed object has.
    final func ownObject(forKey key: String) -> Any? {
        switch key {
        case "objectID": objectID
        case "entity": entity
        case "self": self
        default: nil
        }
    }
}

extension NSManagedObject {
    /// The value of a slot for comparisons, without boxing it as `Any`; nil if the value is only available by key-value
    /// coding.
    final func comparableValue(_ slot: Int) -> PredicateValue? {
        let kind = layout.kinds[slot]
        return switch slotValue(slot) {
        case .null: kind == .transformable ? nil : .null
        case .integer(let number): kind == .boolean ? .bool(number != 0) : .integer(number)
        case .real(let number):
            kind == .date ? .date(Date(timeIntervalSinceReferenceDate: number)) : .double(number)
        case .string(let text): .string(text)
        case .data(let data): .data(data)
        case .uuid(let uuid): .uuid(uuid)
        case .decimal(let number): .decimal(number)
        case .object, .reference: nil
        }
    }
}

// The order of objects in predicates, `objectID > %@`, is that of their primary keys, as in SQL. It has no meaning
// between entities of different hierarchies, and unsaved objects have none.

extension NSManagedObject: PredicateRanked {
    public var predicateRank: Int64? { objectID.predicateRank }
}

extension NSManagedObjectID: PredicateRanked {
    public var predicateRank: Int64? { isTemporaryID ? nil : key.number }
}

/// In the predicate of a fetched property, `$FETCHED_PROPERTY` is its description: `$FETCHED_PROPERTY.userInfo.limit`.
extension NSPropertyDescription: PredicateSubject {
    public func predicateValue(forKey key: String) throws -> Any? {
        switch key {
        case "name": name
        case "userInfo": userInfo ?? [:]
        case "entity": entity
        default:
            throw PredicateEvaluationError(
                .unknownKey, "A property has the keys name, userInfo and entity for predicates, but not “\(key)”.")
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

// As of Foundation's values: so that an object can be written as an argument of a format.

extension NSManagedObject: CVarArg {
    public var _cVarArgEncoding: [Int] { description._cVarArgEncoding }
}

extension NSManagedObjectID: CVarArg {
    public var _cVarArgEncoding: [Int] { description._cVarArgEncoding }
}

extension PredicateValue {
    /// The key and the index of the root entity of a constant that is an object or an ID; nil for anything else.
    package var storedObject: (key: ObjectKey, root: Int)? {
        switch self {
        case .object(let object as NSManagedObject): (object.key, object.entity.rootIndex)
        case .other(let other): NSManagedObjectID.id(other).map { ($0.key, $0.entity.rootIndex) }
        case .object(let id as NSManagedObjectID): (id.key, id.entity.rootIndex)
        default: nil
        }
    }

    /// The name of a constant that is an entity.
    package var entityName: String? {
        if case .object(let entity as NSEntityDescription) = self { entity.name } else { nil }
    }
}
