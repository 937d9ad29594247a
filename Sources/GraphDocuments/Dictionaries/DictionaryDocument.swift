import Foundation

/// Builds a graph as dictionaries and arrays of Foundation objects, in one of three styles. Each of them can be read
/// back without loss.
///
/// Everything is in memory. Deallocating a nested document is recursive: it is safe up to the default depth limit, but
/// not for 20,000 levels.
package struct DictionaryGraphWriter: ForwardingGraphWriter {
    var target: TreeGraphWriter

    /// Creates a writer. Throws `DocumentError` for layouts that are neither flat nor nested.
    package init(style: DictionaryStyle, layout: DocumentLayout = .nested) throws {
        target = try TreeGraphWriter(style: TreeStyle(style: style), layout: layout)
    }

    /// The whole document: header and objects.
    package var document: [String: Any] { target.document.foundationObject as? [String: Any] ?? [:] }

    /// The objects at the top level, in the order written.
    package var objects: [[String: Any]] { target.objects.compactMap { $0.foundationObject as? [String: Any] } }
}

/// Reads records from dictionaries and arrays of Foundation objects, in any style.
package struct DictionaryDocumentReader: DocumentReader {
    private var reader: TokenRecordReader<TreeTokens>

    /// Reads the header. `document` is a dictionary (a document, or with a root entity in the options one object) or an
    /// array of dictionaries. Throws `DocumentError`, also for an object of an unsupported type.
    package init(_ document: Any, schema: GraphSchema, options: ReadingOptions = ReadingOptions()) throws {
        let tree = try ReadableValue(foundationObject: document, depthLimit: min(options.limits.depth, 4096))
        reader = try TokenRecordReader(TreeTokens(tree, limits: options.limits), schema: schema, options: options)
    }

    package var header: DocumentHeader? { reader.header }
    package var bytesRead: Int { reader.bytesRead }
    package var byteCount: Int? { nil }
    package mutating func nextPlaced() throws -> PlacedRecord? { try reader.nextPlaced() }
}
