import Foundation
import XMLReading

/// The XML property list format. It is read as a stream of events, so nesting uses no stack.
public enum XMLPropertyList {
    /// Reads an XML property list, in UTF-8 or, with a byte order mark, in UTF-16. UIDs, which XML represents as dictionaries
    /// with the key `CF$UID`, are recognised.
    ///
    /// Throws ``ArchiveError`` when the XML is malformed or not a property list.
    public static func read(_ data: Data) throws -> PropertyListValue {
        do {
            let reader = XMLReader(data, documentTypes: .withoutDeclarations)
            let value = try readContent(reader)
            guard try reader.next() == .endOfDocument, let value else {
                throw ArchiveError(.unknownFormat, "The XML is not a property list.")
            }
            return value
        } catch let error as XMLError {
            throw ArchiveError(error)
        }
    }

    /// Reads the content of an element `plist`, which may have begun, with its end; nil if it is empty.
    ///
    /// Throws ``ArchiveError`` for content that is not a property list, and `XMLError`.
    package static func readContent(_ reader: XMLReader) throws -> PropertyListValue? {
        var builder = XMLPropertyListBuilder()
        while true {
            switch try reader.next() {
            case .start where reader.name == "plist" && reader.depth == 1: continue
            case .start: try builder.begin(reader)
            case .end where reader.name == "plist": return builder.root
            case .end: try builder.end(reader)
            case .text: builder.append(reader)
            case .endOfDocument: return builder.root
            }
        }
    }
}

extension PropertyListValue {
    /// Reads a property list, binary or XML. Throws ``ArchiveError``.
    public init(propertyList data: Data) throws {
        self =
            BinaryPropertyList.isBinaryPropertyList(data)
            ? try BinaryPropertyList.read(data) : try XMLPropertyList.read(data)
    }
}

extension ArchiveError {
    /// The error for a malformed document.
    package init(_ error: XMLError) {
        let offset = error.place?.offset ?? 0
        let line = error.place.map { " (\($0))" } ?? ""
        self.init(.malformed, "The XML is malformed: \(error.message)\(line)", at: .byte(offset))
    }
}

/// Collects the values of an element `plist`.
private struct XMLPropertyListBuilder {
    /// A container that is being read.
    private struct Container {
        var isDictionary: Bool
        var elements: [PropertyListValue] = []
        var dictionary = PropertyListDictionary()
        var key: String?
    }

    private static let depthLimit = 512

    private(set) var root: PropertyListValue?
    private var open: [Container] = []
    private var text = ""
    /// Whether an element without elements inside it is open.
    private var isInValue = false

    mutating func begin(_ reader: XMLReader) throws {
        guard !isInValue, root == nil else {
            throw error("<\(reader.name)> is not expected here.", reader)
        }
        text = ""
        guard reader.name == "dict" || reader.name == "array" else {
            isInValue = true
            return
        }
        guard open.count < Self.depthLimit else {
            throw ArchiveError(.tooLarge, "The property list is nested too deeply.", at: .byte(reader.place.offset))
        }
        open.append(Container(isDictionary: reader.name == "dict"))
    }

    mutating func append(_ reader: XMLReader) {
        if isInValue { text += reader.text }
    }

    mutating func end(_ reader: XMLReader) throws {
        isInValue = false
        let trimmed = text.trimmingCharacters(in: .whitespacesAndNewlines)
        switch reader.name {
        case "key":
            guard let last = open.indices.last, open[last].isDictionary else {
                throw error("A key is outside a dictionary.", reader)
            }
            open[last].key = text
        case "string": try add(.string(text), reader)
        case "true": try add(.boolean(true), reader)
        case "false": try add(.boolean(false), reader)
        case "integer":
            let value = Int64(trimmed).map(PropertyListValue.integer)
            try add(value ?? UInt64(trimmed).map(PropertyListValue.unsignedInteger), reader)
        case "real": try add(Double(trimmed).map(PropertyListValue.real), reader)
        case "date": try add(ISO8601DateFormatter().date(from: trimmed).map(PropertyListValue.date), reader)
        case "data":
            try add(Data(base64Encoded: text, options: .ignoreUnknownCharacters).map(PropertyListValue.data), reader)
        case "dict", "array":
            guard let container = open.popLast() else { return }
            if container.isDictionary {
                let number = container.dictionary.count == 1 ? container.dictionary["CF$UID"]?.integer : nil
                try add(number.map { .uid(Int($0)) } ?? .dictionary(container.dictionary), reader)
            } else {
                try add(.array(container.elements), reader)
            }
        default: throw error("<\(reader.name)> is not an element of a property list.", reader)
        }
        text = ""
    }

    private mutating func add(_ value: PropertyListValue?, _ reader: XMLReader) throws {
        guard let value else { throw error("'\(text.prefix(40))' is not a valid value.", reader) }
        guard let last = open.indices.last else {
            root = value
            return
        }
        guard open[last].isDictionary else {
            open[last].elements.append(value)
            return
        }
        guard let key = open[last].key else { throw error("A value has no key.", reader) }
        open[last].dictionary[key] = value
        open[last].key = nil
    }

    private func error(_ message: String, _ reader: XMLReader) -> ArchiveError {
        ArchiveError(.malformed, "\(message) (\(reader.place))", at: .byte(reader.place.offset))
    }
}
