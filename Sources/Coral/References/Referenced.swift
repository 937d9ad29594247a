import CoreData

/// A managed object in a Codable value: encoded as a reference, and looked up when it is decoded.
///
///     struct Selection: Codable {
///         @Referenced var note: Note?
///     }
///     let decoder = JSONDecoder()
///     decoder.userInfo[.managedObjectContext] = context
///
/// Decoding without a context in the decoder's user info is a `ReferenceError`; an object that does not exist is nil,
/// and the projected value says why.
@propertyWrapper
public struct Referenced<Object: NSManagedObject>: Codable {
    /// The object, or nil where there is none.
    public var wrappedValue: Object? {
        didSet {
            reference = nil
            missing = nil
        }
    }

    /// Why there is no object, where there was a reference that led nowhere.
    public var projectedValue: MissingReason? { missing }

    private var missing: MissingReason?
    /// The reference that led nowhere: it is encoded again as it was.
    private var reference: ManagedObjectReference?

    /// Refers to an object.
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
                .noContextInCoder, "The decoder's user info holds no context under managedObjectContext.")
        }
        let reference = try container.decode(ManagedObjectReference.self)
        let resolution = reference.resolve(in: context)
        self.init(wrappedValue: resolution.object as? Object)
        if wrappedValue == nil {
            self.reference = reference
            missing =
                resolution.reason
                ?? MissingReason(.wrongClass, "\(reference) is no \(String(describing: Object.self)).")
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

extension CodingUserInfoKey {
    /// The context in which a decoder looks up managed objects.
    public static let managedObjectContext: CodingUserInfoKey = {
        guard let key = CodingUserInfoKey(rawValue: "coral.managedObjectContext") else {
            preconditionFailure("Any text is a key.")
        }
        return key
    }()
}
