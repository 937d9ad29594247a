/// An error in a model or its file, and its position.
public struct ModelError: Error, Sendable, Hashable {
    /// The kind of error.
    public var code: Code
    /// A description of the error, in one sentence.
    public var message: String
    /// The path of the file, if known.
    public var file: String?
    /// The line in the file, starting at 1, if the file has lines.
    public var line: Int?
    /// The entity, if the error concerns one.
    public var entity: String?
    /// The property of ``entity``, if the error concerns one.
    public var property: String?

    /// Creates an error.
    public init(
        _ code: Code, _ message: String, file: String? = nil, line: Int? = nil, entity: String? = nil,
        property: String? = nil
    ) {
        self.code = code
        self.message = message
        self.file = file
        self.line = line
        self.entity = entity
        self.property = property
    }

    /// The kinds of errors. More may be added, so a switch needs a default.
    public struct Code: RawRepresentable, Sendable, Hashable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The file does not exist or cannot be read or written.
        public static let unreadableFile = Code(rawValue: "unreadableFile")
        /// The file does not have any of the formats of a model.
        public static let unknownFormat = Code(rawValue: "unknownFormat")
        /// The file is damaged.
        public static let malformedFile = Code(rawValue: "malformedFile")
        /// A value in the file is not valid for its field.
        public static let invalidValue = Code(rawValue: "invalidValue")
        /// A predicate or expression cannot be parsed.
        public static let invalidPredicate = Code(rawValue: "invalidPredicate")
        /// A name is missing or is not valid.
        public static let invalidName = Code(rawValue: "invalidName")
        /// Two parts of the model have the same name.
        public static let duplicateName = Code(rawValue: "duplicateName")
        /// A name refers to an entity that does not exist.
        public static let unknownEntity = Code(rawValue: "unknownEntity")
        /// A name refers to a property that does not exist.
        public static let unknownProperty = Code(rawValue: "unknownProperty")
        /// A name refers to a composite type that does not exist.
        public static let unknownComposite = Code(rawValue: "unknownComposite")
        /// An entity inherits from itself, or a composite type contains itself.
        public static let inheritanceCycle = Code(rawValue: "inheritanceCycle")
        /// A relationship has no destination.
        public static let missingDestination = Code(rawValue: "missingDestination")
        /// A relationship and its inverse do not agree.
        public static let inverseMismatch = Code(rawValue: "inverseMismatch")
        /// A stored attribute has no type.
        public static let missingType = Code(rawValue: "missingType")
        /// A default value is outside its limits, or the limits exclude each other.
        public static let contradictoryLimits = Code(rawValue: "contradictoryLimits")
    }
}

extension ModelError: CustomStringConvertible {
    /// The error as tools print it: `file:line: sentence (Entity.property)`.
    public var description: String {
        let place = [file, line.map(String.init)].compactMap { $0 }.joined(separator: ":")
        let subject = [entity, property].compactMap { $0 }.joined(separator: ".")
        return (place.isEmpty ? "" : place + ": ") + message + (subject.isEmpty ? "" : " (\(subject))")
    }
}
