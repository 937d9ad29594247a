@_exported import CodedErrors  // because the errors of this module have its type

/// The domain of ``ModelError``.
public enum ModelErrorDomain: ErrorDomain {
    /// The position in a file, and the part of the model.
    public typealias Place = ModelErrorPlace

    /// The error as tools print it: `file:line: sentence (Entity.property)`.
    public static func _description(of message: String, at place: ModelErrorPlace?) -> String {
        let position = [place?.file, place?.line.map(String.init)].compactMap { $0 }.joined(separator: ":")
        let subject = [place?.entity, place?.property].compactMap { $0 }.joined(separator: ".")
        return (position.isEmpty ? "" : position + ": ") + message + (subject.isEmpty ? "" : " (\(subject))")
    }
}

/// An error in a model or its file, and its position.
public typealias ModelError = CodedError<ModelErrorDomain>

extension ModelError.Code {
    /// The file does not exist or cannot be read or written.
    public static let unreadableFile = Self(rawValue: "unreadableFile")
    /// The file does not have any of the formats of a model.
    public static let unknownFormat = Self(rawValue: "unknownFormat")
    /// The file is damaged.
    public static let malformedFile = Self(rawValue: "malformedFile")
    /// A value in the file is not valid for its field.
    public static let invalidValue = Self(rawValue: "invalidValue")
    /// An XML attribute of a source has no meaning in a model.
    public static let unknownAttribute = Self(rawValue: "unknownAttribute")
    /// A predicate or expression cannot be parsed or compiled.
    public static let invalidPredicate = Self(rawValue: "invalidPredicate")
    /// A name is missing or is not valid.
    public static let invalidName = Self(rawValue: "invalidName")
    /// Two parts of the model have the same name.
    public static let duplicateName = Self(rawValue: "duplicateName")
    /// A name refers to an entity that does not exist.
    public static let unknownEntity = Self(rawValue: "unknownEntity")
    /// A name refers to a property that does not exist.
    public static let unknownProperty = Self(rawValue: "unknownProperty")
    /// A name refers to a composite type that does not exist.
    public static let unknownComposite = Self(rawValue: "unknownComposite")
    /// An entity inherits from itself, or a composite type contains itself.
    public static let inheritanceCycle = Self(rawValue: "inheritanceCycle")
    /// A relationship has no destination.
    public static let missingDestination = Self(rawValue: "missingDestination")
    /// A relationship and its inverse do not agree.
    public static let inverseMismatch = Self(rawValue: "inverseMismatch")
    /// A stored attribute has no type.
    public static let missingType = Self(rawValue: "missingType")
    /// A default value is outside its limits, or the limits exclude each other.
    public static let contradictoryLimits = Self(rawValue: "contradictoryLimits")
}

/// Where an error in a model is.
public struct ModelErrorPlace: Sendable, Hashable {
    /// The path of the file, if known.
    public var file: String?
    /// The line in the file, starting at 1, if the file has lines.
    public var line: Int?
    /// The entity, if the error concerns one.
    public var entity: String?
    /// The property of ``entity``, if the error concerns one.
    public var property: String?

    /// Creates a place from its parts.
    public init(file: String? = nil, line: Int? = nil, entity: String? = nil, property: String? = nil) {
        self.file = file
        self.line = line
        self.entity = entity
        self.property = property
    }
}

extension ModelErrorPlace: CustomStringConvertible {
    public var description: String {
        [file, line.map(String.init), entity, property].compactMap { $0 }.joined(separator: ":")
    }
}

extension ModelError {
    /// Creates an error with the parts of its place.
    public init(
        _ code: Code, _ message: String, file: String? = nil, line: Int? = nil, entity: String? = nil,
        property: String? = nil
    ) {
        self.init(
            code, message, at: ModelErrorPlace(file: file, line: line, entity: entity, property: property))
    }

    /// The path of the file, if known.
    public var file: String? {
        get { place?.file }
        set { knownPlace.file = newValue }
    }
    /// The line in the file, starting at 1, if the file has lines.
    public var line: Int? {
        get { place?.line }
        set { knownPlace.line = newValue }
    }
    /// The entity, if the error concerns one.
    public var entity: String? {
        get { place?.entity }
        set { knownPlace.entity = newValue }
    }
    /// The property of ``entity``, if the error concerns one.
    public var property: String? {
        get { place?.property }
        set { knownPlace.property = newValue }
    }

    /// This error, and the others that were found with it, each alone.
    package var all: [ModelError] {
        var first = self
        (first.others, first.otherCount) = ([], 0)
        return [first] + others
    }

    private var knownPlace: ModelErrorPlace {
        get { place ?? ModelErrorPlace() }
        set { place = newValue }
    }
}
