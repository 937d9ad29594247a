import CoreData

/// A managed object, or an array of them, in a Codable value: encoded as references, and looked up in a context when it is decoded.
///
///     struct Selection: Codable {
///         @Referenced var note: Note?
///         @Referenced var pinned: [Note] = []
///     }
///     let decoder = JSONDecoder()
///     decoder.userInfo[.managedObjectContext] = context
///
/// Decoding without a context in the decoder's user info throws `ReferenceError`. An object that does not exist is nil, or is left out
/// of the array, and the projected value contains the reasons. The value is encoded again with the same references until it is set.
@propertyWrapper
public struct Referenced<Value: ReferencedValue>: Codable {
    /// The object, or nil if there is none; or the objects.
    public var wrappedValue: Value {
        didSet { references = nil }
    }

    /// The reason why there is no object, if a reference could not be resolved; of an array the reasons of all missing objects.
    public var projectedValue: Value.Reasons {
        Value._reasons(references?.compactMap { $0.reason } ?? [])
    }

    /// The decoded references, which are encoded again unchanged, with the reasons why they have no object.
    private var references: [(reference: ManagedObjectReference, reason: ReferenceError?)]?

    /// Refers to an object, or to objects.
    public init(wrappedValue: Value) {
        self.wrappedValue = wrappedValue
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard !container.decodeNil() else {
            self.init(wrappedValue: Value(_referencedObjects: []))
            return
        }
        guard let context = decoder.userInfo[.managedObjectContext] as? NSManagedObjectContext else {
            throw ReferenceError(
                .noContext, "The decoder's user info contains no context under managedObjectContext.")
        }
        let references =
            try Value._isArray
            ? container.decode([ManagedObjectReference].self) : [container.decode(ManagedObjectReference.self)]
        var objects: [Value.Object] = []
        let known = references.map { reference -> (ManagedObjectReference, ReferenceError?) in
            switch reference.resolve(in: context) {
            case .success(let object as Value.Object):
                objects.append(object)
                return (reference, nil)
            case .success:
                let name = String(describing: Value.Object.self)
                return (reference, ReferenceError(.wrongClass, "\(reference) is not a \(name)."))
            case .failure(let reason): return (reference, reason)
            }
        }
        self.init(wrappedValue: Value(_referencedObjects: objects))
        self.references = known
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        let references =
            try references?.map(\.reference) ?? wrappedValue._referencedObjects.map { try ManagedObjectReference($0) }
        if Value._isArray {
            try container.encode(references)
        } else if let reference = references.first {
            try container.encode(reference)
        } else {
            try container.encodeNil()
        }
    }
}

/// What `Referenced` can wrap: an optional object, or an array of objects. No other type conforms to it.
public protocol ReferencedValue {
    /// The class of the objects.
    associatedtype Object: NSManagedObject
    /// The reason why an object is missing, or the reasons.
    associatedtype Reasons

    /// Whether the value is encoded as an array.
    static var _isArray: Bool { get }
    /// The objects.
    var _referencedObjects: [Object] { get }
    /// The value with the objects that exist.
    init(_referencedObjects objects: [Object])
    /// The projected value.
    static func _reasons(_ reasons: [ReferenceError]) -> Reasons
}

extension Optional: ReferencedValue where Wrapped: NSManagedObject {
    public static var _isArray: Bool { false }
    public var _referencedObjects: [Wrapped] { map { [$0] } ?? [] }
    public init(_referencedObjects objects: [Wrapped]) { self = objects.first }
    public static func _reasons(_ reasons: [ReferenceError]) -> ReferenceError? { reasons.first }
}

extension Array: ReferencedValue where Element: NSManagedObject {
    public static var _isArray: Bool { true }
    public var _referencedObjects: [Element] { self }
    public init(_referencedObjects objects: [Element]) { self = objects }
    public static func _reasons(_ reasons: [ReferenceError]) -> [ReferenceError] { reasons }
}

extension KeyedDecodingContainer {
    /// A reference whose key may be missing, as in data that were encoded before the property was added: then it is nil, or the
    /// array is empty.
    public func decode<Value>(_ type: Referenced<Value>.Type, forKey key: Key) throws -> Referenced<Value> {
        try decodeIfPresent(type, forKey: key) ?? Referenced(wrappedValue: Value(_referencedObjects: []))
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
