/// The reason why a document cannot be read or written, and the position.
public struct DocumentError: Error, Sendable, Hashable {
    /// The kind of error.
    public var code: Code
    /// A description of the error, in one sentence.
    public var message: String
    /// The position, for an error in a document.
    public var place: DocumentPlace?

    /// Creates an error with a description.
    public init(_ code: Code, _ message: String, at place: DocumentPlace? = nil) {
        self.code = code
        self.message = message
        self.place = place
    }

    /// The kinds of errors. A struct, so that adding one does not break a `switch`.
    public struct Code: Sendable, Hashable, RawRepresentable {
        /// The name of the kind.
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The text does not follow the format's grammar.
        public static let syntax = Code(rawValue: "syntax")
        /// The document is truncated.
        public static let truncated = Code(rawValue: "truncated")
        /// Invalid UTF-8, or an unpaired surrogate.
        public static let invalidText = Code(rawValue: "invalidText")
        /// A duplicate key in one object.
        public static let duplicateKey = Code(rawValue: "duplicateKey")
        /// A limit of `DocumentLimits` is exceeded.
        public static let limit = Code(rawValue: "limit")
        /// A number outside the range of the declared type.
        public static let outOfRange = Code(rawValue: "outOfRange")
        /// A value that does not fit the declared type.
        public static let wrongType = Code(rawValue: "wrongType")
        /// An entity that the schema does not have.
        public static let unknownEntity = Code(rawValue: "unknownEntity")
        /// The document does not have the layout of its shape, or has a newer version.
        public static let unsupported = Code(rawValue: "unsupported")
        /// A value that the format cannot represent.
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
