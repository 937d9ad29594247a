import GraphDocuments

/// What an export has written.
public struct ExportResult: Sendable, Hashable {
    /// The records of each entity.
    public internal(set) var counts: [String: Int] = [:]
    /// The number of references to objects that do not exist: they stand in the document as null, or are not listed.
    public internal(set) var danglingCount = 0
    /// The first hundred of these references, in the document's order.
    public internal(set) var danglingReferences: [DanglingReference] = []

    /// The number of values whose files do not exist: see `GraphExporter.missingFiles`.
    public internal(set) var missingFileCount = 0
    /// The first hundred of these values, in the document's order.
    public internal(set) var missingFiles: [MissingFile] = []

    /// How many of the references that lead nowhere, and of the missing files, are kept.
    static let danglingLimit = 100

    /// The records written.
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

/// A relationship that leads to an object that does not exist. Stores that were written with raw SQL, or migrated with
/// mistakes, have some.
public struct DanglingReference: Sendable, Hashable, CustomStringConvertible {
    /// The object that has the relationship.
    public var id: RecordID
    /// The relationship's name.
    public var relationship: String
    /// What the missing object was called.
    public var target: RecordID

    public var description: String { "\(id).\(relationship) leads to \(target), which does not exist." }
}
