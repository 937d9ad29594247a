import CoreData

/// One object as JSON: attributes by name, to-one relationships as a reference, to-many relationships as an array of them.
public struct JSONRow: @unchecked Sendable {  // because the values are never changed
    /// The object's name in its store: a file name, or the last component of a URL.
    public let reference: String
    /// Increases with each change.
    public let version: UInt64
    let members: [String: Any]

    /// A row of parsed JSON.
    public init(reference: String, version: UInt64, members: [String: Any]) {
        self.reference = reference
        self.version = version
        self.members = members
    }

    /// The values for an `NSIncrementalStoreNode`: attributes as in Core Data, to-one relationships as IDs.
    func values(of entity: NSEntityDescription, in store: NSIncrementalStore) throws -> [String: Any] {
        var values: [String: Any] = [:]
        for (name, attribute) in entity.attributesByName {
            values[name] = try value(of: members[name], of: attribute)
        }
        for (name, relationship) in entity.relationshipsByName where !relationship.isToMany {
            values[name] =
                try references(of: relationship).first.flatMap { reference in
                    relationship.destinationEntity.map { store.newObjectID(for: $0, referenceObject: reference) }
                } ?? NSNull()
        }
        return values
    }

    /// The members of a to-many relationship.
    func destinations(
        of relationship: NSRelationshipDescription, in store: NSIncrementalStore
    ) throws -> [NSManagedObjectID] {
        guard let entity = relationship.destinationEntity else { return [] }
        return try references(of: relationship).map { store.newObjectID(for: entity, referenceObject: $0) }
    }

    private func references(of relationship: NSRelationshipDescription) throws -> [String] {
        guard let json = members[relationship.name], !(json is NSNull) else { return [] }
        if relationship.isToMany, let references = json as? [String] { return references }
        if !relationship.isToMany, let reference = json as? String { return [reference] }
        throw StoreFailure.wrongValue(relationship.name, reference)
    }

    /// A date as text: ISO 8601, in UTC, with milliseconds.
    static func text(of date: Date) -> String {
        date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }

    private static func date(_ text: String) -> Date? {
        try? Date(text, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: text.contains(".")))
    }

    /// JSON has only numbers, strings and booleans: dates are ISO 8601, data is Base64, decimals may be strings.
    private func value(of json: Any?, of attribute: NSAttributeDescription) throws -> Any? {
        guard let json, !(json is NSNull) else { return nil }
        let value: Any? =
            switch attribute.attributeType {
            case .dateAttributeType: (json as? String).flatMap(Self.date)
            case .binaryDataAttributeType: (json as? String).flatMap { Data(base64Encoded: $0) }
            case .UUIDAttributeType: (json as? String).flatMap { UUID(uuidString: $0) }
            case .URIAttributeType: (json as? String).flatMap { URL(string: $0) }
            case .decimalAttributeType: Decimal(string: "\(json)").map { $0 as NSDecimalNumber }
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

    static func wrongDocument(_ reference: String) -> CocoaError {
        CocoaError(
            .fileReadCorruptFile,
            userInfo: [NSLocalizedDescriptionKey: "The document of “\(reference)” does not have the expected form."])
    }

    /// `NSCoreDataError`: a request that a store does not support.
    static func notCarriedOut(_ sentence: String) -> CocoaError {
        CocoaError(CocoaError.Code(rawValue: 134060), userInfo: [NSLocalizedDescriptionKey: sentence])
    }

    /// `NSManagedObjectReferentialIntegrityError`: an object that the store does not have.
    static var missing: CocoaError { CocoaError(CocoaError.Code(rawValue: 133000)) }

    /// `NSManagedObjectMergeError`: an object that has changed since it was read.
    static var conflict: CocoaError { CocoaError(CocoaError.Code(rawValue: 133020)) }

    /// `NSPersistentStoreUnsupportedRequestTypeError`.
    static var unsupportedRequest: CocoaError { CocoaError(CocoaError.Code(rawValue: 134091)) }
}
