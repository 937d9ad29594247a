/// Something in a mapping that does not fit the model, or is none of the known words.
public struct MappingMistake: Sendable, Hashable, CustomStringConvertible {
    /// The kinds of mistakes. A struct, so that a new kind breaks no `switch`.
    public struct Code: Sendable, Hashable, RawRepresentable {
        /// The word for the kind.
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        /// An entity that the model does not have.
        public static let unknownEntity = Code(rawValue: "unknownEntity")
        /// A property that the entity does not have.
        public static let unknownProperty = Code(rawValue: "unknownProperty")
        /// A directive in the user info that is nearly, but not quite, a known one.
        public static let unknownDirective = Code(rawValue: "unknownDirective")
        /// A directive whose value is none of the known words.
        public static let wrongDirective = Code(rawValue: "wrongDirective")
        /// A key that is no path.
        public static let wrongPath = Code(rawValue: "wrongPath")
        /// A transformer that is not registered.
        public static let unknownTransformer = Code(rawValue: "unknownTransformer")
        /// A declaration that this kind of property, or this type of attribute, cannot have.
        public static let wrongType = Code(rawValue: "wrongType")
        /// Two properties that would be written in one another's place.
        public static let conflictingKeys = Code(rawValue: "conflictingKeys")
    }

    /// The kind.
    public var code: Code
    /// The entity that the declaration is about.
    public var entity: String
    /// The property; nil where it is about the entity.
    public var property: String?
    /// What is wrong, as a sentence.
    public var message: String
    /// Whether the mapping can be used nevertheless, because the library whose words these are goes on as well.
    public var isWarning: Bool

    /// A mistake; `message` is a sentence.
    public init(
        _ code: Code, _ message: String, entity: String, property: String? = nil, isWarning: Bool = false
    ) {
        self.code = code
        self.entity = entity
        self.property = property
        self.message = message
        self.isWarning = isWarning
    }

    public var description: String {
        "\(entity)\(property.map { ".\($0)" } ?? ""): \(message)"
    }
}

/// A mapping that cannot be used, and all that is wrong with it.
public struct MappingError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The mistakes, sorted by entity and property.
    public var mistakes: [MappingMistake]

    /// An error of these mistakes.
    public init(_ mistakes: [MappingMistake]) {
        self.mistakes = mistakes
    }

    public var description: String { mistakes.map(\.description).joined(separator: "\n") }
}
