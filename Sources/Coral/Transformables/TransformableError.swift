import CoreData

/// The reason why an attribute's value cannot be read or written.
public struct TransformableError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kinds of errors. A struct, so that adding one does not break a `switch`.
    public struct Code: Sendable, Hashable, RawRepresentable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The entity has no such attribute.
        public static let unknownAttribute = Code(rawValue: "unknownAttribute")
        /// The value does not have the type of the property.
        public static let wrongType = Code(rawValue: "wrongType")
        /// The value cannot be encoded.
        public static let encoding = Code(rawValue: "encoding")
        /// The attribute's transformer is not registered.
        public static let missingTransformer = Code(rawValue: "missingTransformer")
        /// The stored bytes cannot be decoded.
        public static let decoding = Code(rawValue: "decoding")
    }

    /// The kind of error.
    public var code: Code
    /// A description of the error, in one sentence with the entity and attribute.
    public var message: String

    /// Creates an error of a kind, with a description.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    public var description: String { message }
}
