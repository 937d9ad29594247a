import Foundation
import KeyedArchives
import ManagedObjects
import XMLReading

/// Reads an XML store. Elements in the wrong place and unknown elements are rejected, as is a document type with
/// declarations.
struct XMLStoreReader {
    /// The child elements that each element may contain.
    private static let children: [String: Set<String>] = [
        "": ["database"], "database": ["databaseInfo", "object"],
        "databaseInfo": ["version", "UUID", "nextObjectID", "metadata"], "metadata": ["plist"],
        "object": ["attribute", "relationship"],
    ]
    private static let textElements: Set<String> = ["version", "UUID", "nextObjectID", "attribute"]

    private let reader: XMLReader
    private var document = StoreDocument(uuid: "")
    private var open: [String] = []
    /// The text of the current element.
    private var text = ""

    /// Why a document is not a store.
    private struct Failure: Error {
        let sentence: String
    }

    /// Reads a document.
    ///
    /// - Throws: Code 259 with the line of the error.
    static func document(from data: Data, url: URL) throws -> StoreDocument {
        var storeReader = XMLStoreReader(reader: XMLReader(data, documentTypes: .withoutDeclarations))
        do {
            try storeReader.read()
            storeReader.document.declaration = declaration(of: data)
            return storeReader.document
        } catch let failure as Failure {
            throw XMLStoreFormat.damaged("Line \(storeReader.reader.place.line): \(failure.sentence)", url: url)
        } catch let error as XMLError {
            throw XMLStoreFormat.damaged("Line \(error.place?.line ?? 1): \(error.message)", url: url)
        } catch let error as ArchiveError {
            throw XMLStoreFormat.damaged(error.message, url: url)
        }
    }

    private init(reader: XMLReader) {
        self.reader = reader
    }

    private mutating func read() throws {
        while true {
            switch try reader.next() {
            case .start: try begin(reader.name)
            case .end: try end(reader.name)
            case .text: try append()
            case .endOfDocument: return
            }
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

    private mutating func begin(_ name: String) throws {
        guard Self.children[open.last ?? ""]?.contains(name) == true else {
            throw Failure(sentence: "<\(name)> is not expected in <\(open.last ?? "the document")>.")
        }
        text = ""
        switch name {
        case "plist": return try readMetadata()
        case "object": try beginObject(reader.attributes)
        case "attribute": try beginAttribute(reader.attributes)
        case "relationship": try addRelationship(reader.attributes)
        default: break
        }
        open.append(name)
    }

    private mutating func end(_ name: String) throws {
        open.removeLast()
        switch name {
        case "version":
            // The only version in Core Data's files so far.
            if trimmed != "134481920" { throw Failure(sentence: "The version “\(trimmed)” is not known.") }
        case "UUID": document.uuid = trimmed
        case "nextObjectID":
            guard let number = Int64(trimmed) else {
                throw Failure(sentence: "“\(trimmed)” is not an object number.")
            }
            document.lastReference = number
        case "attribute":
            let last = document.objects.count - 1
            let index = document.objects[last].attributes.count - 1
            document.objects[last].attributes[index].value = .string(text)
        case "database" where document.uuid.isEmpty: throw Failure(sentence: "The store has no UUID.")
        default: break
        }
    }

    private mutating func append() throws {
        if Self.textElements.contains(open.last ?? "") {
            text += reader.text
        } else if !reader.textIsBlank {
            throw Failure(sentence: "There is text between elements.")
        }
    }

    private var trimmed: String { text.trimmingCharacters(in: .whitespacesAndNewlines) }

    // MARK: - Parts

    private mutating func readMetadata() throws {
        guard let root = try XMLPropertyList.readContent(reader), let dictionary = StoreMetadata.content(of: root)
        else {
            throw Failure(sentence: "The metadata are not a dictionary.")
        }
        document.metadata = dictionary
    }

    private mutating func beginObject(_ attributes: XMLAttributes) throws {
        guard let type = attributes["type"], let reference = attributes["id"].flatMap(Self.reference) else {
            throw Failure(sentence: "An object has no type, or no number.")
        }
        document.objects.append(
            StoreDocument.Object(entity: XMLStoreFormat.entityName(type), reference: reference))
    }

    private mutating func beginAttribute(_ attributes: XMLAttributes) throws {
        guard let name = attributes["name"], let type = attributes["type"] else {
            throw Failure(sentence: "An attribute has no name, or no type.")
        }
        document.objects[document.objects.count - 1].attributes.append(
            StoreDocument.Attribute(name: XMLStoreFormat.propertyName(name), type: type, value: .string("")))
    }

    private mutating func addRelationship(_ attributes: XMLAttributes) throws {
        guard let name = attributes["name"], let type = attributes["type"] else {
            throw Failure(sentence: "A relationship has no name, or no type.")
        }
        var references: [Int64] = []
        for text in (attributes["idrefs"] ?? "").split(whereSeparator: \.isWhitespace) {
            guard let reference = Self.reference(String(text)) else {
                throw Failure(sentence: "“\(text)” is not an object number.")
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
