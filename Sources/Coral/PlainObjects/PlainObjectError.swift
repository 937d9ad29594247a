import GraphDocuments

/// The reason why a plain Swift object cannot be read from a document, or written to one.
public struct PlainObjectError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kinds of errors. A struct, so that adding one does not break a `switch`.
    public struct Code: Sendable, Hashable, RawRepresentable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        /// A value that does not fit the property's type.
        public static let wrongType = Code(rawValue: "wrongType")
        /// A key that a `Decodable` type requires is missing in the document.
        public static let missingKey = Code(rawValue: "missingKey")
        /// A key without a property.
        public static let unknownKey = Code(rawValue: "unknownKey")
        /// A reference to an object that is not in the document, or has another class.
        public static let unknownReference = Code(rawValue: "unknownReference")
        /// Objects exceed the depth limit of documents.
        public static let limit = Code(rawValue: "limit")
        /// The declaration of a class does not match its instances.
        public static let misuse = Code(rawValue: "misuse")
    }

    /// The kind of error.
    public var code: Code
    /// A description of the error, in one sentence.
    public var message: String
    /// The position, as a JSON pointer such as `/children/3/name`; empty for the whole document.
    public var pointer: String

    /// Creates an error of a kind, with a description, and the position as a JSON pointer.
    public init(_ code: Code, _ message: String, pointer: String = "") {
        self.code = code
        self.message = message
        self.pointer = pointer
    }

    init(_ code: Code, _ message: String, at path: PlainPath) {
        self.init(code, message, pointer: path.pointer)
    }

    public var description: String { pointer.isEmpty ? message : "\(message) (\(pointer))" }
}
