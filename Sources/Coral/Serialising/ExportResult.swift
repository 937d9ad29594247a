import CodedErrors
import GraphDocuments

/// The counts of an export, and its first dangling references and missing files.
public struct ExportResult: Sendable, Hashable {
    /// The number of records of each entity.
    package internal(set) var counts: [String: Int] = [:]
    /// The number of references to objects that do not exist. The document has null for a to-one relationship and omits
    /// the member of a to-many relationship.
    public internal(set) var danglingCount = 0
    /// The first hundred of these references, in the document's order.
    public internal(set) var danglingReferences: [DanglingReference] = []

    /// The number of values whose files do not exist: see `GraphExporter.missingFiles`.
    public internal(set) var missingFileCount = 0
    /// The first hundred of these values, in the document's order.
    public internal(set) var missingFiles: [MissingFile] = []

    /// The number of references to objects outside the document that have no natural key, so that an import finds them
    /// in their own store only.
    public internal(set) var keylessCount = 0
    /// The first hundred of these references, in the document's order.
    public internal(set) var keylessReferences: [KeylessReference] = []

    /// The counts of an export that has written nothing.
    package init() {}

    /// The number of findings of each kind that are kept.
    static let danglingLimit = 100

    /// The number of records written.
    public var recordCount: Int { counts.values.reduce(0, +) }

    mutating func note(_ file: MissingFile) {
        missingFileCount += 1
        if missingFiles.count < Self.danglingLimit { missingFiles.append(file) }
    }

    mutating func note(_ reference: KeylessReference) {
        keylessCount += 1
        if keylessReferences.count < Self.danglingLimit { keylessReferences.append(reference) }
    }

    mutating func note(_ reference: DanglingReference) {
        danglingCount += 1
        if danglingReferences.count < Self.danglingLimit { danglingReferences.append(reference) }
    }
}

/// A reference to an object that does not exist. Stores that were written with raw SQL or migrated incorrectly can
/// contain dangling references.
public struct DanglingReference: Sendable, Hashable, CustomStringConvertible {
    /// The object that has the relationship.
    public var id: RecordID
    /// The relationship's name.
    public var relationship: String
    /// The id that the missing object would have.
    public var target: RecordID

    public var description: String { "\(id).\(relationship) refers to \(target), which does not exist." }
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
