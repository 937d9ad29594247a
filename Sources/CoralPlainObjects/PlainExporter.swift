import Coral
import Foundation
import GraphDocuments

/// Writes plain Swift objects and values, which need not be managed objects, to documents.
///
///     let json = try PlainExporter().encoded(settings)                  // `settings` is Encodable
///     let xml = try PlainExporter(format: .xml).encoded(reflecting: game) // any object
///
/// Values that a format has no type for, such as dates in JSON, are written as text, from which properties of that type
/// read them back exactly. The same value gives the same bytes. A whole document is built in memory, and nests at
/// most 256 levels.
public struct PlainExporter: Sendable {
    /// The format of the documents.
    public var format: GraphFormat
    /// Whether values for which the format has no type are tagged with their type (`{"$date": …}`), for readers without typed
    /// properties, such as collections of `Any`.
    public var tagsTypes: Bool
    /// The names in documents of properties without a mapping, and of the coding keys of `Encodable` types.
    public var keys = KeyStrategy.same
    /// The format of dates without a mapping; nil for ISO 8601 with full precision.
    public var dates: MappedDates?

    /// Creates an exporter for a format.
    public init(format: GraphFormat = .json, tagsTypes: Bool = false) {
        self.format = format
        self.tagsTypes = tagsTypes
    }

    private var style: PlainStyle {
        var style = PlainStyle()
        style.keys = keys
        style.dates = dates
        return style
    }

    // MARK: - Codable values

    /// An encodable value as a document. Throws `PlainObjectError`, `DocumentError`, and the errors of encoding.
    public func encoded(_ value: some Encodable) throws -> Data {
        try TreeDocument.data(PlainEncoder.tree(value, style: self.style), as: format, tagsTypes: tagsTypes)
    }

    /// An encodable value as Foundation objects: a dictionary, an array or a scalar.
    public func foundationObject(_ value: some Encodable, style: DictionaryStyle = .json) throws -> Any {
        TreeDocument.foundationObject(
            try PlainEncoder.tree(value, style: self.style), style: style, tagsTypes: tagsTypes)
    }

    // MARK: - Any objects

    /// Any object or value as a document: the properties that its class maps (`Mapped`), else its stored properties,
    /// found by `Mirror`. A class instance that occurs more than once, or in a cycle, is written once, with `$id`, and
    /// referred to by `$ref` after that. Functions are omitted.
    ///
    /// Throws `PlainObjectError` and `DocumentError`. Cost: every value is traversed twice.
    public func encoded(reflecting value: Any) throws -> Data {
        try TreeDocument.data(PlainWriting.tree(value, style: self.style), as: format, tagsTypes: tagsTypes)
    }

    /// An object of a mapped class as a document, as `encoded(reflecting:)` writes it.
    public func encoded(_ object: some Mapped) throws -> Data {
        try encoded(reflecting: object)
    }

    /// Any object or value as Foundation objects, as `encoded(reflecting:)` writes it.
    public func foundationObject(reflecting value: Any, style: DictionaryStyle = .json) throws -> Any {
        TreeDocument.foundationObject(
            try PlainWriting.tree(value, style: self.style), style: style, tagsTypes: tagsTypes)
    }
}

/// The format of plain values in documents: the options of an exporter in the form that writing uses.
struct PlainStyle {
    var keys = KeyStrategy.same
    /// The format of dates without a mapping.
    var dates: MappedDates? {
        didSet { coder = dates.map(PlainDates.init) }
    }
    /// Finds transformers by their names in mappings.
    var transformers: MappedFunctionLookup = MappedFunctions.registered(named:)
    /// The user info of the encoder.
    var userInfo: [CodingUserInfoKey: Any] = [:]
    private var coder: PlainDates?

    /// A scalar in its document form.
    func scalar(_ value: GraphValue) -> ReadableValue {
        if case .date(let seconds) = value, let coder { return .value(coder.write(seconds)) }
        return .value(value)
    }

    /// A coding key in its document form.
    func key(_ name: String) -> String {
        if case .same = keys { return name }
        return keys.keys(of: name, in: "").first ?? name
    }

    /// The mapping of a property of a class. Throws `MappingError`.
    func mapping(_ property: MappedProperty, of type: any Mapped.Type) throws -> PlainPropertyMapping {
        try PlainPropertyMapping(
            property.mapping, of: property.name, in: "\(type)", keys: keys, dates: dates, transformers: transformers)
    }
}
