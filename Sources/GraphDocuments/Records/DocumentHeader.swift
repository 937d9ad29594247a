import Foundation

/// What a document says of itself before its first record. Only the *plain* shape has none.
public struct DocumentHeader: Sendable, Hashable {
    /// The name by which our documents are known.
    public static let formatName = "coral-graph"
    /// The newest version that this library writes. It reads this and all before it.
    public static let currentVersion = 1

    /// The name of the format, `coral-graph`.
    public var format: String
    /// The version of the format.
    public var version: Int
    /// How the records are laid out. Writers put their own shape here.
    public var shape: DocumentShape
    /// What the ids are made from.
    public var idScheme: IDScheme
    /// The UUID of the store that the records come from, where they come from one.
    public var storeUUID: String?
    /// The model's version identifiers, sorted.
    public var modelVersionIdentifiers: [String]
    /// Each entity's version hash (32 bytes), by the entity's name.
    public var entityVersionHashes: [String: Data]
    /// The store's metadata, as far as plain values can say it, in a stable order.
    public var metadata: [ReadableValue.Member]

    /// A header; everything has a default.
    public init(
        shape: DocumentShape = .flat, idScheme: IDScheme = .stored, storeUUID: String? = nil,
        modelVersionIdentifiers: [String] = [], entityVersionHashes: [String: Data] = [:],
        metadata: [ReadableValue.Member] = [], format: String = DocumentHeader.formatName,
        version: Int = DocumentHeader.currentVersion
    ) {
        self.format = format
        self.version = version
        self.shape = shape
        self.idScheme = idScheme
        self.storeUUID = storeUUID
        self.modelVersionIdentifiers = modelVersionIdentifiers
        self.entityVersionHashes = entityVersionHashes
        self.metadata = metadata
    }
}

/// How records are laid out in a document.
public enum DocumentShape: String, Sendable, Hashable, CaseIterable {
    /// Every object once, grouped by entity, relationships as references. The canonical form.
    case flat
    /// An object in full where it is first met, a reference after that.
    case nested
    /// The header on the first line, then one record a line.
    case lines
    /// Arrays by entity, relationships as natural keys, no header and no `$` members.
    case plain
}

/// What the ids of a document are made from.
public enum IDScheme: String, Sendable, Hashable, CaseIterable {
    /// Entity and primary key of the store that the header names: `Note/p12`.
    case stored
    /// The declared identity: `Tag/=home`.
    case key
    /// The order in which a walk met the objects: `#12`.
    case walk
    /// Some by key, some by store, some by walk; or not said.
    case mixed
}
