@_exported import CodedErrors  // because the errors of this module have its type

extension GraphFormat: ErrorDomain {
    /// The position in a document.
    public typealias Place = DocumentPlace
}

/// The reason why a document cannot be read or written, and the position.
public typealias DocumentError = CodedError<GraphFormat>

extension DocumentError.Code {
    /// The text does not follow the format's grammar.
    public static let syntax = Self(rawValue: "syntax")
    /// The document is truncated.
    public static let truncated = Self(rawValue: "truncated")
    /// Invalid UTF-8, or an unpaired surrogate.
    public static let invalidText = Self(rawValue: "invalidText")
    /// A duplicate key in one object.
    public static let duplicateKey = Self(rawValue: "duplicateKey")
    /// A limit of `DocumentLimits` is exceeded.
    public static let limit = Self(rawValue: "limit")
    /// A number outside the range of the declared type.
    public static let outOfRange = Self(rawValue: "outOfRange")
    /// A value that does not fit the declared type.
    public static let wrongType = Self(rawValue: "wrongType")
    /// An entity that the schema does not have.
    public static let unknownEntity = Self(rawValue: "unknownEntity")
    /// The format, layout, version or encoding of the document is not supported.
    public static let unsupported = Self(rawValue: "unsupported")
    /// A value that the format cannot represent.
    public static let notRepresentable = Self(rawValue: "notRepresentable")
    /// The file could not be read or written.
    public static let file = Self(rawValue: "file")
    /// The writer or reader was used in the wrong order.
    public static let misuse = Self(rawValue: "misuse")
}
