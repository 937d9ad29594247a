/// Why objects cannot be written to a document.
public struct ExportError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kinds of reasons. A struct, so that a new kind breaks no `switch`.
    public struct Code: Sendable, Hashable, RawRepresentable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        /// A transformable value cannot be archived.
        public static let missingTransformer = Code(rawValue: "missingTransformer")
        /// An object belongs to no context any more, or the objects belong to several.
        public static let noContext = Code(rawValue: "noContext")
        /// A file that holds a value does not exist.
        public static let missingFile = Code(rawValue: "missingFile")
        /// Objects stand inside each other deeper than the shape's limit, and what is written can have one at the top only.
        public static let depthLimit = Code(rawValue: "depthLimit")
        /// A format and a shape that do not go together.
        public static let unsupported = Code(rawValue: "unsupported")
    }

    /// The kind of reason.
    public var code: Code
    /// What is wrong, as a sentence that names the entity and property.
    public var message: String

    /// An error of a kind, with a sentence.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    public var description: String { message }
}
