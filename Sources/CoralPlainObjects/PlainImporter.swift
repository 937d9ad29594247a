import Coral
import Foundation
import GraphDocuments

/// Reads plain Swift objects and values from documents of any origin: JSON, this library's XML, property lists,
/// dictionaries.
///
///     let settings = try PlainImporter().make(Settings.self, from: json)     // `Settings` is Decodable
///     let person = try PlainImporter().make(Person.self, from: plist)          // `Person` is Mapped
///     try PlainImporter().populate(person, from: xml)
///
/// Properties that a document does not contain are not changed; null clears an optional property. Values are converted
/// to the types of properties if that is lossless (see `PlainImportOptions`).
public struct PlainImporter {
    /// The options.
    public var options: PlainImportOptions

    /// Creates an importer with options.
    public init(_ options: PlainImportOptions = PlainImportOptions()) {
        self.options = options
    }

    /// The source of a plain import.
    private enum Source {
        case data(Data)
        case object(Any)
    }

    // MARK: - Decodable

    /// A decodable value from a document of any format, which is detected by its first bytes.
    ///
    /// Throws `DocumentError` for unreadable documents, `PlainObjectError` for values that do not fit, and the errors
    /// of decoding.
    public func make<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
        try makeValue(type, from: .data(data))
    }

    /// A decodable value from a dictionary, such as one of `JSONSerialization`.
    public func make<Value: Decodable>(_ type: Value.Type, from dictionary: [String: Any]) throws -> Value {
        try makeValue(type, from: .object(dictionary))
    }

    /// Decodable values from dictionaries, in their order.
    ///
    ///     let settings = try PlainImporter().make([Settings].self, from: dictionaries)
    public func make<Value: Decodable>(_ type: [Value].Type, from dictionaries: [[String: Any]]) throws -> [Value] {
        try makeValue(type, from: .object(dictionaries))
    }

    /// A decodable value from any Foundation object: a dictionary, an array or a scalar.
    public func make<Value: Decodable>(_ type: Value.Type, fromFoundationObject object: Any) throws -> Value {
        try makeValue(type, from: .object(object))
    }

    private func makeValue<Value: Decodable>(_ type: Value.Type, from source: Source) throws -> Value {
        let tree = try tree(source)
        return try read { try $0.deferred(type, from: tree, at: PlainPath()) }
    }

    // MARK: - Mapped classes

    /// Creates an instance of a mapped class from a document. Throws as for a decodable value.
    public func make<Object: Mapped>(_ type: Object.Type, from data: Data) throws -> Object {
        try make(type, from: .data(data))
    }

    /// Creates an instance of a mapped class from a dictionary.
    public func make<Object: Mapped>(_ type: Object.Type, from dictionary: [String: Any]) throws -> Object {
        try make(type, from: .object(dictionary))
    }

    private func make<Object: Mapped>(_ type: Object.Type, from source: Source) throws -> Object {
        let object = Object()
        try fill(object, from: source, isNew: true)
        return object
    }

    /// Creates instances of a mapped class from a document that is an array. References to the same object give the
    /// same instance.
    ///
    ///     let people = try PlainImporter().make([Person].self, from: json)
    public func make<Object: Mapped>(_ type: [Object].Type, from data: Data) throws -> [Object] {
        let tree = try tree(.data(data))
        return try read { try $0.deferred(type, from: tree, at: PlainPath()) }
    }

    /// Creates instances of a mapped class from dictionaries.
    public func make<Object: Mapped>(_ type: [Object].Type, from dictionaries: [[String: Any]]) throws -> [Object] {
        let tree = try tree(.object(dictionaries))
        return try read { try $0.deferred(type, from: tree, at: PlainPath()) }
    }

    /// Updates an existing instance. Objects in its properties are updated too; collections are replaced.
    ///
    /// Throws as `make` does; then nothing is changed.
    public func populate(_ object: some Mapped, from data: Data) throws {
        try fill(object, from: .data(data))
    }

    /// Updates an existing instance from a dictionary.
    public func populate(_ object: some Mapped, from dictionary: [String: Any]) throws {
        try fill(object, from: .object(dictionary))
    }

    private func fill(_ object: some Mapped, from source: Source, isNew: Bool = false) throws {
        let tree = try tree(source)
        try read {
            try $0.fill(object, from: tree, isNew: isNew, at: PlainPath())
            return {}
        }
    }

    // MARK: - Reading

    /// The value that the body's function returns when all properties are assigned.
    private func read<Value>(_ body: (PlainReading) throws -> () -> Value) throws -> Value {
        let reading = PlainReading(options)
        let value = try body(reading)
        reading.finish()
        return value()
    }

    private func tree(_ source: Source) throws -> ReadableValue {
        switch source {
        case .data(let data): try TreeDocument.read(data, options: options.reading)
        case .object(let object): try TreeDocument.read(foundationObject: object, limits: options.limits)
        }
    }
}

/// Options for reading documents into plain Swift objects.
public struct PlainImportOptions {
    /// The policy for values that do not have the type of the property, as in `ImportOptions` for managed objects. `record` is
    /// the same as `convert` here.
    public var mismatchedValues = MismatchedValuePolicy.convert
    /// The names in documents of properties without a mapping, and of the coding keys of `Decodable` types.
    public var keys = KeyStrategy.same
    /// The format of dates without a mapping, in addition to ISO 8601.
    public var dates: MappedDates?
    /// The meaning of a number where a date is expected.
    public var numericDates = NumericDates.unix
    /// The policy for keys without a property. `record` is the same as `skip` here.
    public var unknownKeys = UnknownKeyPolicy.skip
    /// The user info of the decoder for `Decodable` types.
    public var userInfo: [CodingUserInfoKey: Any] = [:]
    /// Finds transformers by their names in mappings.
    var transformers: MappedFunctionLookup = MappedFunctions.registered(named:)
    /// The limits of documents.
    public var limits = DocumentLimits.standard
    /// Whether a trailing comma is accepted before a closing bracket.
    public var allowsTrailingCommas = false

    /// The standard options.
    public init() {}

    /// The same options for the parsers of documents.
    var reading: ReadingOptions { ReadingOptions(limits: limits, allowsTrailingCommas: allowsTrailingCommas) }

    /// The same options for the values of managed objects.
    var conversion: ValueConversion {
        var options = ImportOptions()
        options.mismatchedValues = mismatchedValues
        options.numericDates = numericDates
        return ValueConversion(options)
    }
}
