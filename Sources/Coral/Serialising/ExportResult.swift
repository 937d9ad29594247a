import CodedErrors
import GraphDocuments

/// The counts of an export, and its first dangling references and missing files.
public struct ExportResult: Sendable, Hashable {
    /// The number of records of each entity.
    package internal(set) var counts: [String: Int] = [:]
    /// The number of references to objects that do not exist. The document has null for a to-one relationship and omits
    /// the member of a to-many relationship.
    public package(set) var danglingCount = 0
    /// The first hundred of these references, in the document's order.
    public internal(set) var danglingReferences: [UnresolvableReference] = []

    /// The number of values whose files do not exist: see `GraphExporter.missingFiles`.
    public internal(set) var missingFileCount = 0
    /// The first hundred of these values, in the document's order.
    public internal(set) var missingFiles: [MissingFile] = []

    /// The number of references to objects outside the document that have no natural key, so that an import finds them
    /// in their own store only.
    public internal(set) var keylessCount = 0
    /// The first hundred of these references, in the document's order.
    public internal(set) var keylessReferences: [UnresolvableReference] = []

    /// The counts of an export that has written nothing.
    package init() {}

    /// The number of findings of each kind that are kept.
    package static let danglingLimit = 100

    /// The number of records written.
    public var recordCount: Int { counts.values.reduce(0, +) }

    mutating func note(_ file: MissingFile) {
        missingFileCount += 1
        if missingFiles.count < Self.danglingLimit { missingFiles.append(file) }
    }

    package mutating func note(_ reference: UnresolvableReference) {
        if reference.isKeyless {
            keylessCount += 1
            if keylessReferences.count < Self.danglingLimit { keylessReferences.append(reference) }
        } else {
            danglingCount += 1
            if danglingReferences.count < Self.danglingLimit { danglingReferences.append(reference) }
        }
    }
}

/// A reference that an import cannot resolve, in other stores or in any.
///
/// A *dangling* reference is one to an object that does not exist: stores that were written with raw SQL or migrated incorrectly can
/// contain some. A *keyless* one is a reference to an object outside the document without a natural key: its entity has neither a
/// uniqueness constraint nor a declared key (`ObjectIdentity`), or the values of the key are missing. An import finds such an object by
/// its URI, in the store it was exported from. An object that was not saved is never found.
public struct UnresolvableReference: Sendable, Hashable, CustomStringConvertible {
    /// The object that has the relationship.
    public var id: RecordID
    /// The relationship's name.
    public var relationship: String
    /// The other object, or the id that it would have.
    public var target: RecordID
    /// Whether the other object exists, and has no natural key.
    var isKeyless = false

    package init(id: RecordID, relationship: String, target: RecordID, isKeyless: Bool = false) {
        self.id = id
        self.relationship = relationship
        self.target = target
        self.isKeyless = isKeyless
    }

    public var description: String {
        "\(id).\(relationship) refers to \(target), which "
            + (isKeyless
                ? "is not in the document and has no natural key: it cannot be found in other stores."
                : "does not exist.")
    }
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
