import CodedErrors

extension PlainExporter: ErrorDomain {}

/// The reason why a plain Swift object cannot be read from a document, or written to one. Its place is a JSON pointer such as
/// `/children/3/name`.
public typealias PlainObjectError = CodedError<PlainExporter>

extension PlainObjectError.Code {
    /// A value that does not fit the property's type.
    public static let wrongType = Self(rawValue: "wrongType")
    /// A key that a `Decodable` type requires is missing in the document.
    public static let missingKey = Self(rawValue: "missingKey")
    /// A key without a property.
    public static let unknownKey = Self(rawValue: "unknownKey")
    /// A reference to an object that is not in the document, or has another class.
    public static let unknownReference = Self(rawValue: "unknownReference")
    /// Objects exceed the depth limit of documents.
    public static let limit = Self(rawValue: "limit")
    /// The declaration of a class does not match its instances.
    public static let misuse = Self(rawValue: "misuse")
}

extension PlainObjectError {
    init(_ code: Code, _ message: String, at path: PlainPath) {
        self.init(code, message, at: path.pointer.isEmpty ? nil : path.pointer)
    }
}

/// The path to a value in a tree.
struct PlainPath {
    private(set) var keys: [any CodingKey] = []

    /// The path as a JSON pointer.
    var pointer: String {
        keys.map { key in
            key.intValue.map { "/\($0)" }
                ?? "/"
                + key.stringValue.split(separator: "~", omittingEmptySubsequences: false).joined(separator: "~0")
                .split(separator: "/", omittingEmptySubsequences: false).joined(separator: "~1")
        }.joined()
    }

    init(_ keys: [any CodingKey] = []) { self.keys = keys }

    static func + (path: PlainPath, key: String) -> PlainPath { PlainPath(path.keys + [PlainKey(key)]) }
    static func + (path: PlainPath, index: Int) -> PlainPath { PlainPath(path.keys + [PlainKey(index)]) }
    static func + (path: PlainPath, key: any CodingKey) -> PlainPath { PlainPath(path.keys + [key]) }
}

/// A member or an element, as a coding key.
struct PlainKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    init(_ name: String) {
        stringValue = name
        intValue = nil
    }

    init(_ index: Int) {
        stringValue = String(index)
        intValue = index
    }

    init?(stringValue: String) { self.init(stringValue) }
    init?(intValue: Int) { self.init(intValue) }
}
