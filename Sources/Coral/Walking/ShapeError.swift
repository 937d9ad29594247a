import CodedErrors

extension GraphShape: ErrorDomain {
    /// The invalid entity, key path or directive, as it was given.
    public typealias Place = String

    /// The sentence alone, which names the place.
    public static func description(of message: String, at place: String?) -> String { message }
}

/// The reason why a shape does not fit a model.
public typealias ShapeError = CodedError<GraphShape>

extension ShapeError.Code {
    /// The model has no such entity.
    public static let unknownEntity = Self(rawValue: "unknownEntity")
    /// The entity has no such property.
    public static let unknownProperty = Self(rawValue: "unknownProperty")
    /// A rule for a relationship names another property, or a directive has an unknown value.
    public static let wrongKind = Self(rawValue: "wrongKind")
}
