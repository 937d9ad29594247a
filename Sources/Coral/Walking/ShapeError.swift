/// The reason why a shape does not fit a model.
public struct ShapeError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kinds of errors. A struct, so that adding one does not break a `switch`.
    public struct Code: Sendable, Hashable, RawRepresentable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The model has no such entity.
        public static let unknownEntity = Code(rawValue: "unknownEntity")
        /// The entity has no such property.
        public static let unknownProperty = Code(rawValue: "unknownProperty")
        /// A rule for a relationship names another property, or a directive has an unknown value.
        public static let wrongKind = Code(rawValue: "wrongKind")
    }

    /// The kind of error.
    public var code: Code
    /// A description of the error, in one sentence.
    public var message: String
    /// The invalid entity, key path or directive, as it was given.
    public var place: String

    /// Creates an error of a kind, with a description, and the place in the model.
    public init(_ code: Code, _ message: String, at place: String) {
        self.code = code
        self.message = message
        self.place = place
    }

    public var description: String { message }
}
