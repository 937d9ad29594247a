import CodedErrors

extension ValueCoder: ErrorDomain {}

/// The reason why an attribute's value cannot be read or written.
public typealias TransformableError = CodedError<ValueCoder>

extension TransformableError.Code {
    /// The entity has no such attribute.
    public static let unknownAttribute = Self(rawValue: "unknownAttribute")
    /// The value does not have the type of the property.
    public static let wrongType = Self(rawValue: "wrongType")
    /// The value cannot be encoded.
    public static let encoding = Self(rawValue: "encoding")
    /// The attribute's transformer is not registered.
    public static let missingTransformer = Self(rawValue: "missingTransformer")
    /// The stored bytes cannot be decoded.
    public static let decoding = Self(rawValue: "decoding")
}
