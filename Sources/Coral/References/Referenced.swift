import CoreData

/// A managed object in a Codable value: encoded as a reference, and looked up in a context when it is decoded.
///
///     struct Selection: Codable {
///         @Referenced var note: Note?
///     }
///     let decoder = JSONDecoder()
///     decoder.userInfo[.managedObjectContext] = context
///
/// Decoding without a context in the decoder's user info throws `ReferenceError`; an object that does not exist is nil,
/// and the projected value contains the reason.
@propertyWrapper
public struct Referenced<Object: NSManagedObject>: Codable {
    /// The object, or nil if there is none.
    public var wrappedValue: Object? {
        didSet {
            reference = nil
            missing = nil
        }
    }

    /// The reason why there is no object, if a reference could not be resolved.
    public var projectedValue: MissingReason? { missing }

    private var missing: MissingReason?
    /// The unresolved reference, which is encoded again unchanged.
    private var reference: ManagedObjectReference?

    /// Creates a reference to an object.
    public init(wrappedValue: Object?) {
        self.wrappedValue = wrappedValue
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard !container.decodeNil() else {
            self.init(wrappedValue: nil)
            return
        }
        guard let context = decoder.userInfo[.managedObjectContext] as? NSManagedObjectContext else {
            throw ReferenceError(
                .noContext, "The decoder's user info contains no context under managedObjectContext.")
        }
        let reference = try container.decode(ManagedObjectReference.self)
        let resolution = reference.resolve(in: context)
        self.init(wrappedValue: resolution.object as? Object)
        if wrappedValue == nil {
            self.reference = reference
            missing =
                resolution.reason
                ?? MissingReason(.wrongClass, "\(reference) is not a \(String(describing: Object.self)).")
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        if let object = wrappedValue {
            try container.encode(ManagedObjectReference(object))
        } else if let reference {
            try container.encode(reference)
        } else {
            try container.encodeNil()
        }
    }
}

extension KeyedDecodingContainer {
    /// A reference whose key may be missing, as in data that were encoded before the property was added: then it is nil.
    public func decode<Object>(_ type: Referenced<Object>.Type, forKey key: Key) throws -> Referenced<Object> {
        try decodeIfPresent(type, forKey: key) ?? Referenced(wrappedValue: nil)
    }

    /// An embedded object whose key may be missing: then it is nil.
    public func decode<Object>(_ type: Embedded<Object>.Type, forKey key: Key) throws -> Embedded<Object> {
        try decodeIfPresent(type, forKey: key) ?? Embedded(wrappedValue: nil)
    }
}

extension CodingUserInfoKey {
    /// The context in which a decoder looks up managed objects.
    public static let managedObjectContext: CodingUserInfoKey = {
        guard let key = CodingUserInfoKey(rawValue: "coral.managedObjectContext") else {
            preconditionFailure("Every string is a valid key.")
        }
        return key
    }()
}
