import CodedErrors

extension PlainExporter: ErrorDomain {
    /// The position, as a JSON pointer such as `/children/3/name`.
    public typealias Place = String
}

/// The reason why a plain Swift object cannot be read from a document, or written to one.
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
