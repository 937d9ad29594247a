/// Bits of an attribute's `NSFlagsKey`.
enum AttributeFlags {
    static let allowsExternalBinaryDataStorage = 4
    static let preservesValueInHistory = 16
}

/// Bits of a fetch request's `NSFetchRequestFlags`. A request with all options at their defaults has 30.
enum FetchRequestFlags {
    static let returnsDistinctResults = 1
    static let includesSubentities = 2
    static let includesPropertyValues = 4
    static let returnsObjectsAsFaults = 8
    static let includesPendingChanges = 16
}

/// Bits of a property's `_P`, which summarises other fields.
enum PropertyFlags {
    static let always = 1
    static let isOptional = 2
    static let isReadOnly = 4
    static let isTransient = 8
    static let hasNoValidation = 16 + 32
    static let hasNoUserInfo = 64
    static let hasNoVersionHashModifier = 128
    static let isIndexedBySpotlight = 256
    static let isOrdered = 1024
    static let allowsCloudEncryption = 2048

    /// The value of `_P` for a property.
    static func sum(_ property: any ModelProperty) -> Int {
        var sum = always
        if property.isOptional { sum += isOptional }
        if property.isReadOnly { sum += isReadOnly }
        if property.isTransient { sum += isTransient }
        if property.validations.isEmpty { sum += hasNoValidation }
        if property.userInfo.isEmpty { sum += hasNoUserInfo }
        if property.versionHashModifier == nil { sum += hasNoVersionHashModifier }
        if property.isIndexedBySpotlight { sum += isIndexedBySpotlight }
        if (property as? ModelRelationship)?.isOrdered == true { sum += isOrdered }
        if (property as? ModelAttribute)?.allowsCloudEncryption == true { sum += allowsCloudEncryption }
        return sum
    }
}

extension ModelAttributeType {
    /// The value class that a compiled model has for the type; nil if the type implies none.
    var valueClassName: String? {
        switch self {
        case .integer16, .integer32, .integer64, .double, .float, .boolean: "NSNumber"
        case .decimal: "NSDecimalNumber"
        case .string: "NSString"
        case .date: "NSDate"
        case .binaryData: "NSData"
        case .uuid: "NSUUID"
        case .uri: "NSURL"
        case .composite: "NSDictionary"
        case .undefined, .transformable, .objectID: nil
        }
    }
}
