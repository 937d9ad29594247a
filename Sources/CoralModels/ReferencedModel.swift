import Coral
import SwiftData

/// A model, or an array of models, in a Codable value: encoded as references, and found in a context when it is decoded.
///
///     struct Selection: Codable {
///         @ReferencedModel var recipe: Recipe?
///         @ReferencedModel var pinned: [Recipe] = []
///     }
///     let data = try JSONEncoder().encode(selection)
///     let again = try context.decode(Selection.self, from: data)
///
/// A model that does not exist is nil, or is left out of the array, and the projected value has the reasons. The value is encoded
/// again with the same references until it is set. Another store finds a model by its key; see ``RuledModel``.
@propertyWrapper
public struct ReferencedModel<Value: ReferencedModelValue>: Codable {
    /// The model, or nil if there is none; or the models.
    public var wrappedValue: Value {
        didSet { decoded = nil }
    }

    /// The reasons why models are missing.
    public var projectedValue: [ReferenceError] { decoded?.projectedValue ?? [] }

    /// What was decoded, which is encoded again unchanged.
    private var decoded: Referenced<[NSManagedObject]>?

    /// Refers to a model, or to models.
    public init(wrappedValue: Value) { self.wrappedValue = wrappedValue }

    public init(from decoder: any Decoder) throws {
        guard let context = (decoder.userInfo[.modelContext] as? ModelContextBox)?.context else {
            throw ReferenceError(.noContext, "Decode the value by the method decode(_:from:) of a ModelContext.")
        }
        let found = try Referenced<[NSManagedObject]>(from: decoder)
        wrappedValue = Value(_models: found.wrappedValue.compactMap { context.model(of: $0) })
        decoded = found
    }

    public func encode(to encoder: any Encoder) throws {
        let objects = try wrappedValue._models.map { try $0.managedObject }
        try (decoded ?? Referenced(wrappedValue: objects)).encode(to: encoder)
    }
}

/// What ``ReferencedModel`` can wrap: an optional model, or an array of models. No other type conforms to it.
public protocol ReferencedModelValue {
    /// The models.
    var _models: [any PersistentModel] { get }
    /// The value with the models that exist and are of its class.
    init(_models models: [any PersistentModel])
}

extension Optional: ReferencedModelValue where Wrapped: PersistentModel {
    public var _models: [any PersistentModel] { map { [$0] } ?? [] }
    public init(_models models: [any PersistentModel]) { self = models.lazy.compactMap { $0 as? Wrapped }.first }
}

extension Array: ReferencedModelValue where Element: PersistentModel {
    public var _models: [any PersistentModel] { self }
    public init(_models models: [any PersistentModel]) { self = models.compactMap { $0 as? Element } }
}

extension KeyedDecodingContainer {
    /// A reference whose key may be missing, as in data that were encoded before the property was added: then it is nil, or the
    /// array is empty.
    public func decode<Value>(_ type: ReferencedModel<Value>.Type, forKey key: Key) throws -> ReferencedModel<Value> {
        try decodeIfPresent(type, forKey: key) ?? ReferencedModel(wrappedValue: Value(_models: []))
    }
}

extension ModelContext {
    /// Decodes a value with properties that are ``ReferencedModel``, whose models are those of this context.
    ///
    ///     let selection = try context.decode(Selection.self, from: data)
    ///
    /// - Parameter decoder: How the value is decoded otherwise.
    /// - Throws: The errors of the decoder. A model that does not exist is not an error.
    public func decode<Value: Decodable>(
        _ type: Value.Type, from data: Data, by decoder: JSONDecoder = JSONDecoder()
    ) throws -> Value {
        let userInfo = decoder.userInfo
        defer { decoder.userInfo = userInfo }
        decoder.userInfo[.modelContext] = ModelContextBox(context: self)
        decoder.userInfo[.managedObjectContext] = managedContext
        return try decoder.decode(type, from: data)
    }
}

/// The context for which a decoder decodes.
private struct ModelContextBox: @unchecked Sendable {  // because it exists only while its context calls the decoder
    let context: ModelContext
}

extension CodingUserInfoKey {
    fileprivate static let modelContext: CodingUserInfoKey = {
        guard let key = CodingUserInfoKey(rawValue: "coral.modelContext") else {
            preconditionFailure("Every string is a valid key.")
        }
        return key
    }()
}
