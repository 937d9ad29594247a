import CodedErrors

extension GraphCopier: ErrorDomain {
    /// The entity or `Entity.property` of the error.
    public typealias Place = String

    /// The message alone, because it contains the place.
    public static func description(of message: String, at place: String?) -> String { message }
}

/// The reason why objects cannot be copied. No copies were created, or they were removed again.
public typealias CopyError = CodedError<GraphCopier>

extension CopyError.Code {
    /// An invalid directive in the model's user info, or an invalid rule in code.
    public static let wrongDirective = Self(rawValue: "wrongDirective")
    /// An object has no context, or the objects belong to several.
    public static let noContext = Self(rawValue: "noContext")
    /// An object to copy does not exist or was deleted.
    public static let missingObject = Self(rawValue: "missingObject")
    /// The model of the copies does not have an entity, or has an attribute of another type.
    public static let modelMismatch = Self(rawValue: "modelMismatch")
    /// A value that must be unique cannot be made unique.
    public static let notUnique = Self(rawValue: "notUnique")
    /// A closure returned a value that the attribute does not accept.
    public static let wrongValue = Self(rawValue: "wrongValue")
}
