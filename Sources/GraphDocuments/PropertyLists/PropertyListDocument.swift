import Foundation
import KeyedArchives

/// The two encodings of property lists.
package enum PropertyListEncoding: Sendable, Hashable {
    /// Apple's binary format.
    case binary
    /// Apple's XML format.
    case xml
}

/// Writes a graph as a property list, flat or nested.
///
/// Null is written as `{"$nil": true}`, because property lists have no null. The document is built in memory before it
/// is written and needs several times its size.
package struct PropertyListGraphWriter: ForwardingGraphWriter {
    var target: TreeGraphWriter
    private let encoding: PropertyListEncoding
    private let output: ByteOutput

    /// Creates a writer to the output. Throws `DocumentError` for layouts that are neither flat nor nested.
    package init(to output: ByteOutput, encoding: PropertyListEncoding, layout: DocumentLayout) throws {
        self.output = output
        self.encoding = encoding
        target = try TreeGraphWriter(
            style: TreeStyle(style: .propertyList, hasWholeSecondsOnly: encoding == .xml), layout: layout)
    }

    package mutating func finish() throws {
        try target.finish()
        switch encoding {
        case .binary:
            try BinaryPropertyList.write(target.document, to: output)
        case .xml:
            var writer = XMLPropertyListWriter(to: output)
            try writer.write(target.document)
        }
        try output.finish()
    }
}

/// Reads records from a property list, binary or XML.
///
/// The document is held in memory, so its size is limited to 1 GiB in addition to the given limits.
package struct PropertyListDocumentReader: DocumentReader {
    private var reader: TokenRecordReader<TreeTokens>

    /// The maximum size of a property list, in bytes.
    package static let sizeLimit = 1 << 30

    /// Reads the document. Throws `DocumentError`.
    package init(_ data: Data, schema: GraphSchema, options: ReadingOptions = ReadingOptions()) throws {
        let tokens = try PropertyListDocumentReader.tokens(of: data, options: options)
        reader = try TokenRecordReader(tokens, schema: schema, options: options)
    }

    static func tokens(of data: Data, options: ReadingOptions) throws -> TreeTokens {
        TreeTokens(try tree(data, limits: options.limits), byteCount: data.count, limits: options.limits)
    }

    /// The tree of a property list in either encoding. Throws `DocumentError`.
    static func tree(_ data: Data, limits: DocumentLimits) throws -> ReadableValue {
        let sizeLimit = min(limits.documentSize, PropertyListDocumentReader.sizeLimit)
        guard data.count <= sizeLimit else {
            throw DocumentError(
                .limit, "The property list is larger than \(sizeLimit) bytes.", at: DocumentPlace(offset: sizeLimit))
        }
        let depthLimit = min(limits.depth, 4096)
        if BinaryPropertyList.isBinaryPropertyList(data) {
            var own = BinaryPropertyList.Limits()
            own.depth = depthLimit
            do {
                return try ReadableValue(
                    propertyList: try BinaryPropertyList.read(data, limits: own), depthLimit: depthLimit)
            } catch let error as ArchiveError {
                var offset = 0
                if case .byte(let position) = error.place { offset = position }
                throw DocumentError(
                    error.code == .tooLarge ? .limit : .syntax, error.message, at: DocumentPlace(offset: offset))
            }
        }
        return try XMLPropertyListReader.tree(data, depthLimit: depthLimit)
    }

    package var header: DocumentHeader? { reader.header }
    package var bytesRead: Int { reader.bytesRead }
    package var byteCount: Int? { reader.byteCount }
    package mutating func nextPlaced() throws -> PlacedRecord? { try reader.nextPlaced() }
}
