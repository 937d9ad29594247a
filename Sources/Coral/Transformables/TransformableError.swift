import CoreData

/// Why an attribute's value cannot be read or written.
public struct TransformableError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kinds of reasons. A struct, so that a new kind breaks no `switch`.
    public struct Code: Sendable, Hashable, RawRepresentable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The entity has no such attribute.
        public static let unknownAttribute = Code(rawValue: "unknownAttribute")
        /// The value is of another type than the property.
        public static let wrongType = Code(rawValue: "wrongType")
        /// The value cannot be encoded.
        public static let encoding = Code(rawValue: "encoding")
        /// The attribute's transformer is not registered.
        public static let missingTransformer = Code(rawValue: "missingTransformer")
        /// The stored bytes cannot be decoded.
        public static let decoding = Code(rawValue: "decoding")
    }

    /// The kind of reason.
    public var code: Code
    /// What is wrong, as a sentence that names the entity and attribute.
    public var message: String

    /// An error of a kind, with a sentence.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    public var description: String { message }
}
