import Foundation

/// An error or warning in a mapping: a part that does not fit the model, or an invalid directive.
public struct MappingMistake: Sendable, Hashable, CustomStringConvertible {
    /// The kinds of errors. A struct, so that adding one does not break a `switch`.
    public struct Code: Sendable, Hashable, RawRepresentable {
        /// The name of the kind.
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        /// An entity that the model does not have.
        public static let unknownEntity = Code(rawValue: "unknownEntity")
        /// A property that the entity does not have.
        public static let unknownProperty = Code(rawValue: "unknownProperty")
        /// A directive in the user info that is similar to a known one.
        public static let unknownDirective = Code(rawValue: "unknownDirective")
        /// A directive with an invalid value.
        public static let wrongDirective = Code(rawValue: "wrongDirective")
        /// An invalid path.
        public static let wrongPath = Code(rawValue: "wrongPath")
        /// A transformer that is not registered.
        public static let unknownTransformer = Code(rawValue: "unknownTransformer")
        /// A declaration that is not allowed for this kind of property or type of attribute.
        public static let wrongType = Code(rawValue: "wrongType")
        /// Two properties that would be written at conflicting paths.
        public static let conflictingKeys = Code(rawValue: "conflictingKeys")
    }

    /// The kind.
    public var code: Code
    /// The entity of the declaration.
    public var entity: String
    /// The property; nil if the error concerns the entity.
    public var property: String?
    /// A description of the error, in one sentence.
    public var message: String
    /// Whether the mapping can be used nevertheless, because the library of the dialect also ignores the error.
    public var isWarning: Bool

    /// Creates an error with a description.
    package init(
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

/// A mapping that cannot be used, with all its errors.
public struct MappingError: Error, Sendable, Hashable, CustomStringConvertible, LocalizedError {
    /// The errors, sorted by entity and property.
    public var mistakes: [MappingMistake]

    /// Creates an error with its list.
    package init(_ mistakes: [MappingMistake]) {
        self.mistakes = mistakes
    }

    public var description: String { mistakes.map(\.description).joined(separator: "\n") }
    public var errorDescription: String? { description }
}
