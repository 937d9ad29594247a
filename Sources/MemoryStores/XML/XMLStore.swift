import Foundation
import KeyedArchives
import ManagedObjects

/// A store in one XML file, in Core Data's format on the Mac: `NSXMLStoreType`.
final class XMLStore: FileStore, @unchecked Sendable {  // because its state is used while the store is locked
    override class var format: any StoreFileFormat.Type { XMLStoreFormat.self }
}

/// The format of Core Data's XML stores, as Xcode writes it: its `.xcmappingmodel` files are such stores.
///
/// Names of entities are upper-cased, names of properties are lower-cased, and both are read without regard to case.
/// How Core Data names the elements of composite attributes is not known; they are named by their paths here.
enum XMLStoreFormat: StoreFileFormat {
    static var storeType: String { NSXMLStoreType }
    static func entityName(_ name: String) -> String { name.uppercased() }
    static func propertyName(_ name: String) -> String { name.lowercased() }

    static func typeName(_ kind: EntityLayout.Slot.Kind) -> String {
        switch kind {
        case .integer16: "int16"
        case .integer32: "int32"
        case .integer64: "int64"
        case .boolean: "bool"
        case .double: "double"
        case .float: "float"
        case .date: "date"
        case .decimal: "decimal"
        case .string: "string"
        case .data: "binary"
        case .uuid: "uuid"
        case .uri: "uri"
        case .transformable: "transformable"
        case .undefined, .toOne, .position: "undefined"
        }
    }

    static func document(from data: Data, url: URL) throws -> StoreDocument {
        try XMLStoreReader.document(from: data, url: url)
    }

    static func data(of document: StoreDocument, url: URL) throws -> Data {
        var writer = XMLStoreWriter(url: url)
        return try writer.data(of: document)
    }

    // MARK: - Values

    static func value(of stored: ReadableValue, kind: EntityLayout.Slot.Kind) -> Value? {
        guard case .string(let text) = stored else { return nil }
        switch kind {
        case .string: return .string(text)
        case .data, .transformable: return Data(base64Encoded: text, options: .ignoreUnknownCharacters).map(Value.data)
        default: return value(of: text.trimmingCharacters(in: .whitespacesAndNewlines), kind)
        }
    }

    private static func value(of text: String, _ kind: EntityLayout.Slot.Kind) -> Value? {
        switch kind {
        case .integer16, .integer32, .integer64: Int64(text).map(Value.integer)
        case .boolean: ["0": .integer(0), "1": .integer(1)][text]
        case .double, .date: Double(text).map(Value.real)
        case .float: Double(text).map { .real(Double(Float($0))) }
        case .decimal: decimal(text).map(Value.decimal)
        case .uuid: UUID(uuidString: text).map(Value.uuid)
        case .uri: URL(string: text).map { .object(ObjectValue($0)) }
        default: nil
        }
    }

    /// A decimal number. `Decimal(string:)` is not used because it accepts any text that begins with a number.
    private static func decimal(_ text: String) -> Decimal? {
        if text == "NaN" { return .nan }
        return text.allSatisfy { "0123456789+-.eE".contains($0) } ? Decimal(string: text) : nil
    }

    static func stored(_ value: Value, kind: EntityLayout.Slot.Kind) -> ReadableValue {
        switch value {
        case .integer(let number): .string(String(number))
        case .real(let number): .string(kind == .date ? date(number) : number.description)
        case .string(let text): .string(text)
        case .data(let data): .string(base64(data))
        case .uuid(let uuid): .string(uuid.uuidString)
        case .decimal(let number): .string(number.description)
        case .object(let box): .string((box.value as? URL)?.absoluteString ?? "")
        case .null, .reference: .null
        }
    }

    /// Seconds with twenty decimals, or with as many as are needed to represent the same number.
    private static func date(_ seconds: Double) -> String {
        let text = String(format: "%.20f", seconds)
        return Double(text) == seconds ? text : seconds.description
    }

    /// A line of 76 characters, a second line with the rest, and a line feed.
    private static func base64(_ data: Data) -> String {
        let text = data.base64EncodedString()
        guard text.utf8.count > 76 else { return text.isEmpty ? "" : text + "\n" }
        let end = text.utf8.index(text.startIndex, offsetBy: 76)
        return text[..<end] + "\n" + text[end...] + "\n"
    }
}
