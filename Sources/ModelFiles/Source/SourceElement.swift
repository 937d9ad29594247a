import Foundation
import KeyedArchives

#if canImport(FoundationXML)
    import FoundationXML  // because outside Apple's platforms XMLParser is in a module of its own
#endif

/// An element of the XML of a source model or mapping model, with its line.
final class SourceElement {
    let name: String
    let attributes: [String: String]
    let line: Int
    var children: [SourceElement] = []
    /// The text between the tags.
    fileprivate(set) var text = ""

    init(name: String, attributes: [String: String], line: Int) {
        self.name = name
        self.attributes = attributes
        self.line = line
    }

    /// The children of a name, in order.
    func children(named name: String) -> [SourceElement] {
        children.filter { $0.name == name }
    }
}

/// Parses XML to a tree of elements.
final class SourceElementReader: NSObject, XMLParserDelegate {
    /// The maximum depth. Source models nest five levels deep, property lists in mapping models eight.
    private static let depthLimit = 32

    private var open: [SourceElement] = []
    private var root: SourceElement?
    private var tooDeep = false

    /// Reads the root element. Throws ``ModelError`` with the line when the XML is malformed.
    static func read(_ data: Data, file: String?) throws -> SourceElement {
        let reader = SourceElementReader()
        let text = try ModelArchive.reportingErrors(in: file) { try XMLText.utf8(data) }
        let parser = XMLParser(data: text)
        parser.delegate = reader
        parser.shouldResolveExternalEntities = false
        _ = parser.parse()
        // For some malformed documents parse() returns true, but the error is set.
        if reader.tooDeep {
            throw ModelError(
                .malformedFile, "The elements are nested too deeply for a model.", file: file, line: parser.lineNumber)
        }
        if let error = parser.parserError ?? reader.error {
            let code = (error as NSError).code
            throw ModelError(
                .malformedFile, "The XML is malformed (error \(code)).", file: file, line: max(parser.lineNumber, 1))
        }
        guard let root = reader.root, reader.open.isEmpty else {
            throw ModelError(.malformedFile, "The XML is truncated.", file: file, line: max(parser.lineNumber, 1))
        }
        return root
    }

    private var error: (any Error)?

    func parser(
        _ parser: XMLParser, didStartElement elementName: String, namespaceURI: String?, qualifiedName: String?,
        attributes: [String: String]
    ) {
        guard open.count < Self.depthLimit else {
            tooDeep = true
            parser.abortParsing()
            return
        }
        let element = SourceElement(name: elementName, attributes: attributes, line: parser.lineNumber)
        open.last?.children.append(element)
        open.append(element)
        if root == nil { root = element }
    }

    func parser(
        _ parser: XMLParser, didEndElement elementName: String, namespaceURI: String?, qualifiedName: String?
    ) {
        _ = open.popLast()
    }

    func parser(_ parser: XMLParser, foundCharacters string: String) {
        open.last?.text += string
    }

    func parser(_ parser: XMLParser, parseErrorOccurred parseError: any Error) {
        error = parseError
    }
}
