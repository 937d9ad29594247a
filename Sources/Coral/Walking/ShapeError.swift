/// Why a shape does not fit a model.
public struct ShapeError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kinds of mistakes. A struct, so that a new kind breaks no `switch`.
    public struct Code: Sendable, Hashable, RawRepresentable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The model has no such entity.
        public static let unknownEntity = Code(rawValue: "unknownEntity")
        /// The entity has no such property.
        public static let unknownProperty = Code(rawValue: "unknownProperty")
        /// A rule for a relationship names something else, or a directive says none of the known words.
        public static let wrongKind = Code(rawValue: "wrongKind")
    }

    /// The kind of reason.
    public var code: Code
    /// What is wrong, as a sentence.
    public var message: String
    /// The entity, key path or directive at fault, as it was given.
    public var place: String

    /// An error of a kind, with a sentence, and the place in the model.
    public init(_ code: Code, _ message: String, at place: String) {
        self.code = code
        self.message = message
        self.place = place
    }

    public var description: String { message }
}
