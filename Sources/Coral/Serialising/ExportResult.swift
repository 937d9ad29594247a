import CodedErrors
import GraphDocuments

/// The counts of an export, and its first dangling references and missing files.
public struct ExportResult: Sendable, Hashable {
    /// The number of records of each entity.
    package internal(set) var counts: [String: Int] = [:]
    /// References to objects that do not exist, in the document's order. The document has null for a to-one relationship and omits
    /// the member of a to-many relationship.
    public package(set) var danglingReferences = CountedEntries<UnresolvableReference>()
    /// References to objects outside the document that have no natural key, so that an import finds them in their own store only.
    public internal(set) var keylessReferences = CountedEntries<UnresolvableReference>()
    /// Values whose files do not exist: see `GraphExporter.missingFiles`.
    public internal(set) var missingFiles = CountedEntries<UnresolvableReference>()

    /// The counts of an export that has written nothing.
    package init() {}

    /// The number of records written.
    public var recordCount: Int { counts.values.reduce(0, +) }
}

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
