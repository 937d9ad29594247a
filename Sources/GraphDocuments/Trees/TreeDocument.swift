import Foundation
import KeyedArchives

/// One tree of plain values as a document of its own, in any format: the form of a plain Swift object.
///
/// Keys are not escaped: the caller must ensure that no key of foreign data is confused with a tag (see `escapedKey`).
/// The whole document is in memory.
package enum TreeDocument {
    /// The maximum nesting depth of arrays and dictionaries, if no lower limit is given. Deallocating a tree is
    /// recursive.
    package static let depthLimit = 256

    /// Writes a tree. With `tagsTypes` every value of a type that the format does not have is tagged by a member such
    /// as `$date`; otherwise it is written as text, and the reader must have the type. In JSON Lines the elements of an
    /// array are one to a line, and any other value is on the only line.
    ///
    /// Throws `DocumentError` for a tree that nests deeper than `depthLimit`, and for text that the format cannot
    /// represent.
    package static func write(
        _ tree: ReadableValue, as format: GraphFormat, tagsTypes: Bool = true, to output: ByteOutput
    ) throws {
        guard !tree.isDeeper(than: depthLimit) else {
            throw DocumentError(.limit, "The tree is deeper than \(depthLimit) levels.")
        }
        let style = TreeStyle(
            style: format == .json || format == .jsonLines ? .json : .propertyList,
            hasWholeSecondsOnly: format == .xmlPropertyList)
        let tree = tagsTypes || format == .xml ? tree : style.bare(tree)
        switch format {
        case .json, .jsonLines:
            var writer = JSONWriter(to: output)
            if format == .jsonLines, case .array(let values) = tree {
                for value in values {
                    try writer.tree(value, escapesKeys: false)
                    try writer.endLine()
                }
            } else {
                try writer.tree(tree, escapesKeys: false)
                try writer.endLine()
            }
        case .propertyList:
            try BinaryPropertyList.write(style.tree(tree, escapesKeys: false), to: output)
        case .xmlPropertyList:
            var writer = XMLPropertyListWriter(to: output)
            try writer.write(style.tree(tree, escapesKeys: false))
        case .xml:
            let writer = XMLTreeWriter(to: output)
            try writer.beginDocument("tree")
            try writer.tree(tree)
            try writer.endDocument("tree")
        }
        try output.finish()
    }

    /// The tree as a document in memory. Throws as `write` does.
    package static func data(_ tree: ReadableValue, as format: GraphFormat, tagsTypes: Bool = true) throws -> Data {
        let sink = MemorySink()
        try write(tree, as: format, tagsTypes: tagsTypes, to: ByteOutput(to: sink))
        return sink.data
    }

    /// The tree as Foundation objects in one of the styles; see `write` for `tagsTypes`.
    package static func foundationObject(
        _ tree: ReadableValue, style: DictionaryStyle, tagsTypes: Bool = true
    ) -> Any {
        let style = TreeStyle(style: style)
        return (tagsTypes ? style.tree(tree, escapesKeys: false) : style.bare(tree)).foundationObject
    }

    /// Reads the tree of a document; with nil the format is detected by the document's beginning.
    ///
    /// Throws `DocumentError`. The depth limit is the lower one of `limits` and `depthLimit`.
    package static func read(
        _ data: Data, as format: GraphFormat? = nil, options: ReadingOptions = ReadingOptions()
    ) throws -> ReadableValue {
        let format = try format ?? GraphFormat.ofDocument(beginning: data)
        let depthLimit = min(options.limits.depth, depthLimit)
        switch format {
        case .json, .jsonLines:
            var reader = JSONReader(
                data,
                options: .init(
                    allowsTrailingCommas: options.allowsTrailingCommas, allowsManyValues: format == .jsonLines),
                limits: options.limits)
            guard format == .json else { return .array(try lines(&reader, depthLimit)) }
            return try only(&reader, depthLimit)
        case .propertyList, .xmlPropertyList:
            let tree = try PropertyListDocumentReader.tree(data, limits: options.limits)
            var tokens = TreeTokens(tree, byteCount: data.count, limits: options.limits)
            return try only(&tokens, depthLimit)
        case .xml:
            var tokens = XMLTokens(MemorySource(data), limits: options.limits)
            return try only(&tokens, depthLimit)
        }
    }

    /// The tree of Foundation objects, of any style. Throws `DocumentError` for an object of an unsupported type.
    package static func read(
        foundationObject object: Any, limits: DocumentLimits = .standard
    ) throws -> ReadableValue {
        let tree = try ReadableValue(foundationObject: object, depthLimit: min(limits.depth, depthLimit))
        var tokens = TreeTokens(tree, limits: limits)
        return try only(&tokens, depthLimit)
    }

    /// Escapes a key of foreign data, so that it is not confused with a tag, an id or a reference.
    package static func escapedKey(_ key: String) -> String {
        key.hasPrefix("$") && key != ReadableValue.classKey ? "$" + key : key
    }

    /// Reverts `escapedKey`.
    package static func unescapedKey(_ key: String) -> String { ReadableValue.unescaped(key) }

    private static func only(_ source: inout some TokenSource, _ depthLimit: Int) throws -> ReadableValue {
        let token = try source.next()
        guard token != .end else { throw DocumentError(.truncated, "The document is empty.", at: source.place) }
        let tree = try source.readTree(token, depthLimit: depthLimit, keepsKeys: true)
        guard try source.next() == .end else {
            throw DocumentError(.syntax, "Unexpected content after the end of the document.", at: source.place)
        }
        return tree
    }

    private static func lines(_ source: inout some TokenSource, _ depthLimit: Int) throws -> [ReadableValue] {
        var values: [ReadableValue] = []
        while case let token = try source.next(), token != .end {
            values.append(try source.readTree(token, depthLimit: depthLimit, keepsKeys: true))
        }
        return values
    }
}

extension ReadableValue {
    /// The maximum nesting depth of the readable form of a value in a document, and of metadata.
    static let depthLimit = 64

    /// Whether readers accept the tree as the readable form of an archive.
    package var canBeRead: Bool { !isDeeper(than: ReadableValue.depthLimit - 1) }

    /// Whether there are more than `limit` nested levels of arrays and dictionaries. Iterative.
    func isDeeper(than limit: Int) -> Bool {
        var level = [self]
        for _ in 0...limit {
            level = level.flatMap { tree -> [ReadableValue] in
                switch tree {
                case .value: []
                case .array(let values): values
                case .dictionary(let members): members.map(\.value)
                }
            }
            if level.isEmpty { return false }
        }
        return true
    }
}

extension BinaryPropertyList {
    /// Writes a tree in the style of property lists. Throws `DocumentError`.
    static func write(_ tree: GraphDocuments.ReadableValue, to output: ByteOutput) throws {
        var limits = BinaryPropertyList.Limits()
        limits.depth = 4096
        do {
            let data = try BinaryPropertyList.write(tree.propertyList, limits: limits)
            try data.withUnsafeBytes { try output.write($0) }
        } catch let error as ArchiveError {
            throw DocumentError(.notRepresentable, error.message)
        }
    }
}
