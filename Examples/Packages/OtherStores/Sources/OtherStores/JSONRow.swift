import CoreData

/// One object as JSON: attributes by name, to-one relationships as a reference, to-many relationships as an array of them.
public struct JSONRow: @unchecked Sendable {  // because the values are never changed
    /// The object's reference: a file's name, or the last component of a URL.
    public let reference: String
    /// Incremented by each change.
    public let version: UInt64
    let members: [String: Any]

    /// Creates a row of parsed JSON.
    public init(reference: String, version: UInt64, members: [String: Any]) {
        self.reference = reference
        self.version = version
        self.members = members
    }

    /// The values of an `NSIncrementalStoreNode`: attributes in Core Data's types, to-one relationships as IDs.
    func values(of entity: NSEntityDescription, in store: NSIncrementalStore) throws -> [String: Any] {
        var values: [String: Any] = [:]
        for (name, attribute) in entity.attributesByName {
            values[name] = try value(of: members[name], of: attribute)
        }
        for (name, relationship) in entity.relationshipsByName where !relationship.isToMany {
            let destination = members[name] as? String
            values[name] =
                destination.flatMap { reference in
                    relationship.destinationEntity.map { store.newObjectID(for: $0, referenceObject: reference) }
                } ?? NSNull()
        }
        return values
    }

    /// The members of a to-many relationship.
    func destinations(of relationship: NSRelationshipDescription, in store: NSIncrementalStore) -> [NSManagedObjectID] {
        guard let entity = relationship.destinationEntity else { return [] }
        let references = members[relationship.name] as? [String] ?? []
        return references.map { store.newObjectID(for: entity, referenceObject: $0) }
    }

    /// JSON has numbers, strings and Booleans only; dates are ISO 8601, data Base64.
    private func value(of json: Any?, of attribute: NSAttributeDescription) throws -> Any? {
        guard let json, !(json is NSNull) else { return nil }
        let value: Any? =
            switch attribute.attributeType {
            case .dateAttributeType: (json as? String).flatMap { ISO8601DateFormatter().date(from: $0) }
            case .binaryDataAttributeType: (json as? String).flatMap { Data(base64Encoded: $0) }
            case .UUIDAttributeType: (json as? String).flatMap { UUID(uuidString: $0) }
            case .URIAttributeType: (json as? String).flatMap { URL(string: $0) }
            case .decimalAttributeType: NSDecimalNumber(string: "\(json)")
            case .stringAttributeType: json as? String
            default: json as? NSNumber
            }
        guard let value else { throw StoreFailure.wrongValue(attribute.name, reference) }
        return value
    }
}

/// The errors of these stores, with Core Data's codes.
enum StoreFailure {
    static func wrongValue(_ name: String, _ reference: String) -> CocoaError {
        CocoaError(
            .fileReadCorruptFile,
            userInfo: [NSLocalizedDescriptionKey: "“\(name)” of “\(reference)” has a wrong value."])
    }

    /// `NSManagedObjectReferentialIntegrityError`: an object that the store does not have.
    static var missing: CocoaError { CocoaError(CocoaError.Code(rawValue: 133000)) }

    /// `NSManagedObjectMergeError`: an object that was changed by another client since it was read.
    static var conflict: CocoaError { CocoaError(CocoaError.Code(rawValue: 133020)) }

    /// `NSPersistentStoreUnsupportedRequestTypeError`.
    static var unsupportedRequest: CocoaError { CocoaError(CocoaError.Code(rawValue: 134091)) }
}
