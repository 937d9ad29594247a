import Foundation
import KeyedArchives

#if canImport(FoundationXML)
    import FoundationXML  // because XMLParser is in a separate module off Apple's platforms
#endif

/// Reads an XML store with Foundation's stream parser. Elements in the wrong place and unknown elements are rejected,
/// as is a document type with declarations.
final class XMLStoreReader: NSObject, XMLParserDelegate {
    /// The child elements that each element may contain.
    private static let children: [String: Set<String>] = [
        "": ["database"], "database": ["databaseInfo", "object"],
        "databaseInfo": ["version", "UUID", "nextObjectID", "metadata"], "metadata": ["plist"],
        "object": ["attribute", "relationship"],
    ]
    private static let textElements: Set<String> = ["version", "UUID", "nextObjectID", "attribute"]

    private var document = StoreDocument(uuid: "")
    private var open: [String] = []
    /// The text of the current element.
    private var text = ""
    private var failure: String?
    private var hasContent = false
    /// The reader of the metadata while the parser is inside them.
    private var metadataReader: XMLPropertyListReader?

    /// Reads a document.
    ///
    /// - Throws: Code 259 with the line of the error.
    static func document(from data: Data, url: URL) throws -> StoreDocument {
        do {
            let utf8 = try XMLText.utf8(data)
            guard XMLText.hasPlainDocumentType(utf8) else {
                throw XMLStoreFormat.damaged("Its document type declares entities.", url: url)
            }
            let reader = XMLStoreReader()
            let parser = XMLParser(data: utf8)
            parser.delegate = reader
            parser.shouldResolveExternalEntities = false
            _ = parser.parse()
            if let failure = reader.metadataReader?.failure?.message ?? reader.failure {
                throw XMLStoreFormat.damaged("Line \(max(parser.lineNumber, 1)): \(failure)", url: url)
            }
            guard reader.hasContent, reader.open.isEmpty, reader.metadataReader?.parseFailed != true,
                parser.parserError == nil
            else {
                throw XMLStoreFormat.damaged("The XML is malformed near line \(max(parser.lineNumber, 1)).", url: url)
            }
            reader.document.declaration = declaration(of: data)
            return reader.document
        } catch let error as ArchiveError {
            throw XMLStoreFormat.damaged(error.message, url: url)
        }
    }

    /// The XML declaration, which different tools write differently.
    private static func declaration(of data: Data) -> String? {
        let start = String(decoding: data.prefix(128), as: UTF8.self)
        guard start.hasPrefix("<?xml "), let end = start.range(of: "?>") else { return nil }
        let declaration = start[..<end.upperBound]
        return declaration.contains("encoding") && !declaration.lowercased().contains("utf-8")
            ? nil : String(declaration)
    }

    // MARK: - Elements

    func parser(
        _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
        attributes: [String: String]
    ) {
        // The parser may send a few more events after it has been aborted.
        guard failure == nil else { return }
        guard Self.children[open.last ?? ""]?.contains(name) == true, !(open.isEmpty && hasContent) else {
            return fail(parser, "<\(name)> is not expected in <\(open.last ?? "the document")>.")
        }
        text = ""
        switch name {
        case "plist": return readMetadata(parser)
        case "database": hasContent = true
        case "object": beginObject(parser, attributes)
        case "attribute": beginAttribute(parser, attributes)
        case "relationship": addRelationship(parser, attributes)
        default: break
        }
        open.append(name)
    }

    func parser(_ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?) {
        guard failure == nil, open.popLast() == name else { return }
        switch name {
        case "version":
            // The only version in Core Data's files so far.
            if trimmed != "134481920" { fail(parser, "The version “\(trimmed)” is not known.") }
        case "UUID": document.uuid = trimmed
        case "nextObjectID":
            guard let number = Int64(trimmed) else { return fail(parser, "“\(trimmed)” is not an object number.") }
            document.lastReference = number
        case "attribute":
            let last = document.objects.count - 1
            let index = document.objects[last].attributes.count - 1
            document.objects[last].attributes[index].value = .string(text)
        case "database" where document.uuid.isEmpty: fail(parser, "The store has no UUID.")
        default: break
        }
    }

    func parser(_ parser: XMLParser, foundCharacters string: String) {
        if Self.textElements.contains(open.last ?? "") {
            text += string
        } else if string.utf8.contains(where: { $0 > 0x20 }) {
            fail(parser, "There is text between elements.")
        }
    }

    func parser(_ parser: XMLParser, foundCDATA block: Data) {
        text += String(decoding: block, as: UTF8.self)
    }

    func parser(_ parser: XMLParser, parseErrorOccurred parseError: any Error) {
        if failure == nil { failure = "The XML is malformed." }
    }

    private var trimmed: String { text.trimmingCharacters(in: .whitespacesAndNewlines) }

    private func fail(_ parser: XMLParser, _ sentence: String) {
        if failure == nil { failure = sentence }
        parser.abortParsing()
    }

    // MARK: - Parts

    private func readMetadata(_ parser: XMLParser) {
        let reader = XMLPropertyListReader { [unowned self] parser in
            parser.delegate = self
            guard let root = metadataReader?.root, let dictionary = StoreMetadata.content(of: root) else {
                return fail(parser, "The metadata are not a dictionary.")
            }
            document.metadata = dictionary
        }
        metadataReader = reader
        parser.delegate = reader
    }

    private func beginObject(_ parser: XMLParser, _ attributes: [String: String]) {
        guard let type = attributes["type"], let reference = attributes["id"].flatMap(Self.reference) else {
            return fail(parser, "An object has no type, or no number.")
        }
        document.objects.append(
            StoreDocument.Object(entity: XMLStoreFormat.entityName(type), reference: reference))
    }

    private func beginAttribute(_ parser: XMLParser, _ attributes: [String: String]) {
        guard let name = attributes["name"], let type = attributes["type"] else {
            return fail(parser, "An attribute has no name, or no type.")
        }
        document.objects[document.objects.count - 1].attributes.append(
            StoreDocument.Attribute(name: XMLStoreFormat.propertyName(name), type: type, value: .string("")))
    }

    private func addRelationship(_ parser: XMLParser, _ attributes: [String: String]) {
        guard let name = attributes["name"], let type = attributes["type"] else {
            return fail(parser, "A relationship has no name, or no type.")
        }
        var references: [Int64] = []
        for text in (attributes["idrefs"] ?? "").split(whereSeparator: \.isWhitespace) {
            guard let reference = Self.reference(String(text)) else {
                return fail(parser, "“\(text)” is not an object number.")
            }
            references.append(reference)
        }
        document.objects[document.objects.count - 1].relationships.append(
            StoreDocument.Relationship(
                name: XMLStoreFormat.propertyName(name), isToMany: !type.hasSuffix("/1"),
                destination: attributes["destination"] ?? "", references: references))
    }

    /// The number of an object: `z102`.
    private static func reference(_ text: String) -> Int64? {
        guard text.hasPrefix("z"), let number = Int64(text.dropFirst()), number > 0 else { return nil }
        return number
    }
}
