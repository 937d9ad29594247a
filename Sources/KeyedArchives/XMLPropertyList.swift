import Foundation

#if canImport(FoundationXML)
    import FoundationXML  // because outside Apple's platforms XMLParser is in a module of its own
#endif

/// The XML property list format. The parser is a stream parser, so nesting uses no stack.
public enum XMLPropertyList {
    /// Reads an XML property list. UIDs, which XML represents as dictionaries with the key `CF$UID`, are recognised.
    ///
    /// Throws ``ArchiveError`` when the XML is malformed or not a property list.
    public static func read(_ data: Data) throws -> PropertyListValue {
        let reader = XMLPropertyListReader()
        let parser = XMLParser(data: try XMLText.utf8(data))
        parser.delegate = reader
        parser.shouldResolveExternalEntities = false
        _ = parser.parse()
        if let failure = reader.failure { throw failure }
        // For some malformed documents parse() returns true, but the error is set.
        if reader.parseFailed || parser.parserError != nil {
            throw ArchiveError(.malformed, "The XML is malformed near line \(max(parser.lineNumber, 1)).")
        }
        guard let value = reader.root else { throw ArchiveError(.unknownFormat, "The XML is not a property list.") }
        return value
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

/// Collects the values of an XML property list: of a document, or of an element `plist` inside another document. The
/// reader of that document sets this object as the parser's delegate until the end of the element.
package final class XMLPropertyListReader: NSObject, XMLParserDelegate {
    /// A container that is being read.
    private struct Container {
        var isDictionary: Bool
        var elements: [PropertyListValue] = []
        var dictionary = PropertyListDictionary()
        var key: String?
    }

    private static let depthLimit = 512
    private static let containers: Set<String> = ["dict", "array"]

    package private(set) var root: PropertyListValue?
    package private(set) var failure: ArchiveError?
    package private(set) var parseFailed = false
    /// Called at the end of the element `plist`.
    private let whenDone: ((XMLParser) -> Void)?
    private var open: [Container] = []
    private var text = ""

    package init(whenDone: ((XMLParser) -> Void)? = nil) {
        self.whenDone = whenDone
    }

    package func parser(
        _ parser: XMLParser, didStartElement elementName: String, namespaceURI: String?, qualifiedName: String?,
        attributes: [String: String]
    ) {
        text = ""
        guard Self.containers.contains(elementName) else { return }
        guard open.count < Self.depthLimit else {
            return fail(ArchiveError(.tooLarge, "The property list is nested too deeply."), parser)
        }
        open.append(Container(isDictionary: elementName == "dict"))
    }

    package func parser(_ parser: XMLParser, foundCharacters string: String) {
        text += string
    }

    package func parser(
        _ parser: XMLParser, didEndElement elementName: String, namespaceURI: String?, qualifiedName: String?
    ) {
        let trimmed = text.trimmingCharacters(in: .whitespacesAndNewlines)
        switch elementName {
        case "plist":
            whenDone?(parser)
            return
        case "key":
            guard let last = open.indices.last, open[last].isDictionary else {
                return fail(ArchiveError(.malformed, "A key is outside a dictionary."), parser)
            }
            open[last].key = text
        case "string": add(.string(text), parser)
        case "true": add(.boolean(true), parser)
        case "false": add(.boolean(false), parser)
        case "integer":
            if let value = Int64(trimmed) {
                add(.integer(value), parser)
            } else {
                add(UInt64(trimmed).map(PropertyListValue.unsignedInteger), parser)
            }
        case "real": add(Double(trimmed).map(PropertyListValue.real), parser)
        case "date": add(ISO8601DateFormatter().date(from: trimmed).map(PropertyListValue.date), parser)
        case "data":
            add(Data(base64Encoded: text, options: .ignoreUnknownCharacters).map(PropertyListValue.data), parser)
        case "dict", "array":
            guard let container = open.popLast() else { return }
            if container.isDictionary {
                let number = container.dictionary.count == 1 ? container.dictionary["CF$UID"]?.integer : nil
                add(number.map { .uid(Int($0)) } ?? .dictionary(container.dictionary), parser)
            } else {
                add(.array(container.elements), parser)
            }
        default: fail(ArchiveError(.malformed, "<\(elementName)> is not an element of a property list."), parser)
        }
        text = ""
    }

    package func parser(_ parser: XMLParser, parseErrorOccurred parseError: any Error) {
        parseFailed = true
    }

    private func add(_ value: PropertyListValue?, _ parser: XMLParser) {
        guard let value else {
            let message = "'\(text)' near line \(parser.lineNumber) is not a valid value."
            return fail(ArchiveError(.malformed, message), parser)
        }
        guard let last = open.indices.last else {
            root = value
            return
        }
        guard open[last].isDictionary else {
            open[last].elements.append(value)
            return
        }
        guard let key = open[last].key else {
            return fail(ArchiveError(.malformed, "A value near line \(parser.lineNumber) has no key."), parser)
        }
        open[last].dictionary[key] = value
        open[last].key = nil
    }

    private func fail(_ error: ArchiveError, _ parser: XMLParser) {
        if failure == nil { failure = error }
        parser.abortParsing()
    }
}
