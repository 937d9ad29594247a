/// Why objects cannot be written to a document.
public struct ExportError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kinds of errors. A struct, so that adding one does not break a `switch`.
    public struct Code: Sendable, Hashable, RawRepresentable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        /// A transformable value cannot be archived.
        public static let missingTransformer = Code(rawValue: "missingTransformer")
        /// An object has no context, or the objects belong to several contexts.
        public static let noContext = Code(rawValue: "noContext")
        /// The external file of a value does not exist.
        public static let missingFile = Code(rawValue: "missingFile")
        /// A reference to an object outside the document has no natural key, and the document must be portable.
        public static let keylessReference = Code(rawValue: "keylessReference")
        /// Objects are nested deeper than the shape's depth limit, and the result can have only one object at the top.
        public static let depthLimit = Code(rawValue: "depthLimit")
        /// A combination of format and shape that is not supported.
        public static let unsupported = Code(rawValue: "unsupported")
    }

    /// The kind of error.
    public var code: Code
    /// A description of the error, in one sentence with the entity and property.
    public var message: String

    /// An error of a kind, with a sentence.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    public var description: String { message }
}
