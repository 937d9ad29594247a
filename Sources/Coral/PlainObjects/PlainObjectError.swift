import GraphDocuments

/// Why a plain Swift object cannot be read from a document, or written to one.
public struct PlainObjectError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kinds of reasons. A struct, so that a new kind breaks no `switch`.
    public struct Code: Sendable, Hashable, RawRepresentable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        /// A value that the property's type cannot take.
        public static let wrongType = Code(rawValue: "wrongType")
        /// A key that a `Decodable` type wants and the document does not have.
        public static let missingKey = Code(rawValue: "missingKey")
        /// A key that no property has.
        public static let unknownKey = Code(rawValue: "unknownKey")
        /// A reference to an object that the document does not have, or that is of another class.
        public static let unknownReference = Code(rawValue: "unknownReference")
        /// Objects that nest deeper than a document may.
        public static let limit = Code(rawValue: "limit")
        /// The declaration of a class does not fit its instances.
        public static let misuse = Code(rawValue: "misuse")
    }

    /// The kind of reason.
    public var code: Code
    /// What is wrong, as a sentence.
    public var message: String
    /// Where, as a JSON pointer such as `/children/3/name`; empty for the document as a whole.
    public var pointer: String

    /// An error of a kind, with a sentence, and the place as a JSON pointer.
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
