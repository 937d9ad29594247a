import Foundation

/// The header of a document, before its first record. Only the *plain* layout has none.
package struct DocumentHeader: Sendable, Hashable {
    /// The format name of this library's documents.
    package static let formatName = "coral-graph"
    /// The newest version that this library writes. It reads this and all earlier versions.
    package static let currentVersion = 1

    /// The name of the format, `coral-graph`.
    package var format: String
    /// The version of the format.
    package var version: Int
    /// The layout of the records. Writers set their own layout here.
    package var layout: DocumentLayout
    /// The source of the ids.
    package var idScheme: IDScheme
    /// The UUID of the records' store, if they are from one.
    package var storeUUID: String?
    /// The ids of the records that were requested, in their order, if the document contains others too, such as the
    /// objects that they own; empty if it does not, or is of a whole store.
    package var roots: [RecordID]
    /// The shape of a document of objects, if it is not the default one: see `GraphShape`.
    package var shape: String?
    /// Whether a document in lines has no last line that states the number of its records, as documents of earlier versions:
    /// whether it is complete is not known.
    package var endIsUnknown = false
    /// The model's version identifiers, sorted.
    package var modelVersionIdentifiers: [String]
    /// Each entity's version hash (32 bytes), by the entity's name.
    package var entityVersionHashes: [String: Data]
    /// The part of the store's metadata that plain values can represent, in a stable order.
    package var metadata: [ReadableValue.Member]

    /// Creates a header; everything has a default.
    package init(
        layout: DocumentLayout = .flat, idScheme: IDScheme = .stored, storeUUID: String? = nil, roots: [RecordID] = [],
        modelVersionIdentifiers: [String] = [], entityVersionHashes: [String: Data] = [:],
        metadata: [ReadableValue.Member] = [], format: String = DocumentHeader.formatName,
        version: Int = DocumentHeader.currentVersion
    ) {
        self.format = format
        self.version = version
        self.layout = layout
        self.idScheme = idScheme
        self.storeUUID = storeUUID
        self.roots = roots
        self.modelVersionIdentifiers = modelVersionIdentifiers
        self.entityVersionHashes = entityVersionHashes
        self.metadata = metadata
    }
}

/// The layout of the records in a document.
public enum DocumentLayout: String, Sendable, Hashable, CaseIterable {
    /// Every object once, grouped by entity, relationships as references. The canonical form.
    case flat
    /// Each object is written in full where it first occurs, and as a reference after that.
    case nested
    /// The header on the first line, then one record a line.
    case lines
    /// Arrays by entity, relationships as natural keys, no header and no `$` members.
    case plain
}

/// The source of the ids of a document.
package enum IDScheme: String, Sendable, Hashable, CaseIterable {
    /// Entity and primary key in the store of the header: `Note/p12`.
    case stored
    /// The declared identity: `Tag/=home`.
    case key
    /// The order in which a walk visited the objects: `#12`.
    case walk
    /// A mixture of these, or unspecified.
    case mixed
}
