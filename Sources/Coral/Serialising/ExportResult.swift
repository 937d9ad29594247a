import GraphDocuments

/// The counts of an export, and its first dangling references and missing files.
public struct ExportResult: Sendable, Hashable {
    /// The number of records of each entity.
    public internal(set) var counts: [String: Int] = [:]
    /// The number of references to objects that do not exist. The document has null for a to-one relationship and omits
    /// the member of a to-many relationship.
    public internal(set) var danglingCount = 0
    /// The first hundred of these references, in the document's order.
    public internal(set) var danglingReferences: [DanglingReference] = []

    /// The number of values whose files do not exist: see `GraphExporter.missingFiles`.
    public internal(set) var missingFileCount = 0
    /// The first hundred of these values, in the document's order.
    public internal(set) var missingFiles: [MissingFile] = []

    /// The number of dangling references, and of missing files, that are kept.
    static let danglingLimit = 100

    /// The number of records written.
    public var recordCount: Int { counts.values.reduce(0, +) }

    mutating func note(_ file: MissingFile) {
        missingFileCount += 1
        if missingFiles.count < Self.danglingLimit { missingFiles.append(file) }
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
