import CodedErrors

extension GraphExporter: ErrorDomain {}

/// Why objects cannot be written to a document.
public typealias ExportError = CodedError<GraphExporter>

extension ExportError.Code {
    /// A transformable value cannot be archived.
    public static let missingTransformer = Self(rawValue: "missingTransformer")
    /// An object has no context, or the objects belong to several contexts.
    public static let noContext = Self(rawValue: "noContext")
    /// The external file of a value does not exist.
    public static let missingFile = Self(rawValue: "missingFile")
    /// A reference to an object outside the document has no natural key, and the document must be portable.
    public static let keylessReference = Self(rawValue: "keylessReference")
    /// Objects are nested deeper than the shape's depth limit, and the result can have only one object at the top.
    public static let depthLimit = Self(rawValue: "depthLimit")
    /// A combination of format and shape that is not supported.
    public static let unsupported = Self(rawValue: "unsupported")
}
