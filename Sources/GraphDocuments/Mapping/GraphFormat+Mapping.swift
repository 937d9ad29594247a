import Foundation

extension GraphFormat {
    /// A reader of a document with a foreign format, using a mapping. XML is not supported.
    ///
    /// Throws `DocumentError`.
    package func reader(
        of data: Data, plan: MappingPlan, options: ReadingOptions = ReadingOptions()
    ) throws -> any DocumentReader {
        switch self {
        case .json, .jsonLines: return try json(MemorySource(data), plan, options)
        case .propertyList, .xmlPropertyList:
            let tokens = try PropertyListDocumentReader.tokens(of: data, options: options)
            return try MappedDocumentReader(tokens, plan: plan, options: options)
        case .xml: throw DocumentError(.unsupported, "A mapping reads JSON and property lists, not XML.")
        }
    }

    /// A reader of a file with a foreign format, using a mapping. JSON is streamed. Throws `DocumentError`.
    package func reader(
        ofFile path: String, plan: MappingPlan, options: ReadingOptions = ReadingOptions()
    ) throws -> any DocumentReader {
        switch self {
        case .json, .jsonLines: return try json(FileSource(path: path), plan, options)
        case .propertyList, .xmlPropertyList, .xml:
            let limit = min(options.limits.documentSize, PropertyListDocumentReader.sizeLimit)
            return try reader(of: FileSource(path: path).readAll(atMost: limit), plan: plan, options: options)
        }
    }

    private func json(
        _ source: any ByteSource, _ plan: MappingPlan, _ options: ReadingOptions
    ) throws -> any DocumentReader {
        var options = options
        if self == .jsonLines, options.layout == nil { options.layout = .lines }
        let reader = JSONReader(
            source, options: .init(allowsTrailingCommas: options.allowsTrailingCommas, allowsManyValues: true),
            limits: options.limits)
        return try MappedDocumentReader(reader, plan: plan, options: options)
    }

    /// A writer of documents with a foreign format, using a mapping: an array of objects, or with `byEntity` an object
    /// with an array for each entity. XML is not supported.
    ///
    /// Throws `DocumentError`.
    package func graphWriter(to output: ByteOutput, plan: MappingPlan, byEntity: Bool) throws -> any GraphWriter {
        switch self {
        case .json, .jsonLines:
            try MappedGraphWriter(
                plan: plan, byEntity: byEntity,
                to: MappedJSON(
                    output, isLines: self == .jsonLines, byEntity: byEntity, isKeyed: plan.mapping.isKeyed))
        case .propertyList, .xmlPropertyList:
            try MappedGraphWriter(
                plan: plan, byEntity: byEntity,
                to: MappedPropertyList(
                    output, encoding: self == .propertyList ? .binary : .xml, byEntity: byEntity,
                    isKeyed: plan.mapping.isKeyed))
        case .xml: throw DocumentError(.unsupported, "A mapping writes JSON and property lists, not XML.")
        }
    }
}

/// A reader of Foundation objects with a foreign format, using a mapping. Throws `DocumentError`.
package func mappedReader(
    of document: Any, plan: MappingPlan, options: ReadingOptions = ReadingOptions()
) throws -> any DocumentReader {
    let tree = try ReadableValue(foundationObject: document, depthLimit: min(options.limits.depth, 4096))
    return try MappedDocumentReader(TreeTokens(tree, limits: options.limits), plan: plan, options: options)
}
