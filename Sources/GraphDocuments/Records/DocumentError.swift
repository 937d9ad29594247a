/// Why a document cannot be read or written, and where.
public struct DocumentError: Error, Sendable, Hashable {
    /// What kind of mistake it is.
    public var code: Code
    /// What is wrong, as a sentence.
    public var message: String
    /// Where, for what was found in a document.
    public var place: DocumentPlace?

    /// An error; `message` is a sentence.
    public init(_ code: Code, _ message: String, at place: DocumentPlace? = nil) {
        self.code = code
        self.message = message
        self.place = place
    }

    /// The kinds of mistakes. A struct, so that a new kind breaks no `switch`.
    public struct Code: Sendable, Hashable, RawRepresentable {
        /// The word for the kind.
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The text does not follow the format's grammar.
        public static let syntax = Code(rawValue: "syntax")
        /// The document ends in the middle.
        public static let truncated = Code(rawValue: "truncated")
        /// Bytes that are no UTF-8, or half a surrogate pair.
        public static let invalidText = Code(rawValue: "invalidText")
        /// One object says the same key twice.
        public static let duplicateKey = Code(rawValue: "duplicateKey")
        /// A limit of `DocumentLimits` is exceeded.
        public static let limit = Code(rawValue: "limit")
        /// A number that the declared type cannot hold.
        public static let outOfRange = Code(rawValue: "outOfRange")
        /// A value that does not fit the declared type.
        public static let wrongType = Code(rawValue: "wrongType")
        /// An entity that the schema does not have.
        public static let unknownEntity = Code(rawValue: "unknownEntity")
        /// The document is not laid out as its shape says, or of a newer version.
        public static let unsupported = Code(rawValue: "unsupported")
        /// A value that the format cannot hold.
        public static let notRepresentable = Code(rawValue: "notRepresentable")
        /// The file could not be read or written.
        public static let file = Code(rawValue: "file")
        /// The writer or reader was used in the wrong order.
        public static let misuse = Code(rawValue: "misuse")
    }
}

extension DocumentError: CustomStringConvertible {
    public var description: String {
        place.map { "\(message) (\($0))" } ?? message
    }
}
