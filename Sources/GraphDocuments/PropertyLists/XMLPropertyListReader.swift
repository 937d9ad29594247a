import Foundation
import KeyedArchives

#if canImport(FoundationXML)
    import FoundationXML
#endif

/// Reads Apple's XML property list as a tree.
///
/// `PropertyListSerialization` is not used, because it is recursive and a hostile document could overflow the stack.
enum XMLPropertyListReader {
    static func tree(_ data: Data, depthLimit: Int) throws -> ReadableValue {
        try XMLProlog.check(data, allowsPlainDocumentType: true)
        // Outside Apple's platforms the parser traps on invalid UTF-8.
        if let invalid = data.withUnsafeBytes({ UTF8Check.firstInvalid(in: $0) }) {
            throw DocumentError(.invalidText, "The text is not valid UTF-8.", at: DocumentPlace(offset: invalid))
        }
        if let offset = XMLInstructionScan.firstBare(in: data) {
            throw DocumentError(
                .syntax, "A processing instruction has no content.", at: DocumentPlace(offset: offset))
        }
        let builder = PropertyListBuilder(depthLimit: depthLimit)
        var bytes = Array(data)
        XMLDeclaration.blank(&bytes)
        let parser = XMLParser(data: Data(bytes))
        parser.shouldResolveExternalEntities = false
        parser.delegate = builder
        let succeeded = parser.parse()
        if let error = builder.error { throw error }
        guard succeeded, let tree = builder.root else {
            throw DocumentError(.truncated, "The property list is truncated.")
        }
        return tree
    }
}

/// Builds the tree from the parser's events.
private final class PropertyListBuilder: NSObject, XMLParserDelegate {
    private(set) var root: ReadableValue?
    private(set) var error: DocumentError?
    private let depthLimit: Int
    private var open: [Container] = []
    private var text: String?
    private var hasPlist = false

    private struct Container {
        var isDictionary: Bool
        var key: String?
        var keys: Set<String> = []
        var values: [ReadableValue] = []
        var members: [ReadableValue.Member] = []
    }

    init(depthLimit: Int) {
        self.depthLimit = depthLimit
    }

    private func fail(_ parser: XMLParser, _ code: DocumentError.Code, _ message: String) {
        if error == nil {
            error = DocumentError(
                code, message, at: DocumentPlace(offset: 0, line: parser.lineNumber, column: parser.columnNumber))
        }
        parser.abortParsing()
    }

    func parser(
        _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
        attributes: [String: String]
    ) {
        guard error == nil else { return }
        guard text == nil else { return fail(parser, .syntax, "An element is inside a value.") }
        guard hasPlist || name == "plist" else { return fail(parser, .syntax, "The document is not a property list.") }
        switch name {
        case "plist":
            if hasPlist { fail(parser, .syntax, "A property list is inside another.") }
            hasPlist = true
        case "dict", "array":
            guard open.count < depthLimit else {
                return fail(parser, .limit, "The property list nests deeper than \(depthLimit) levels.")
            }
            open.append(Container(isDictionary: name == "dict"))
        case "key", "string", "integer", "real", "date", "data", "true", "false": text = ""
        default: fail(parser, .syntax, "The element <\(name)> is unknown in property lists.")
        }
    }

    func parser(_ parser: XMLParser, foundCharacters string: String) {
        text?.append(string)
    }

    func parser(_ parser: XMLParser, foundCDATA block: Data) {
        text?.append(String(decoding: block, as: UTF8.self))
    }

    func parser(_ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?) {
        guard error == nil, name != "plist" else { return }
        let content = text ?? ""
        text = nil
        switch name {
        case "dict", "array":
            guard let container = open.popLast() else { return }
            guard container.key == nil else { return fail(parser, .syntax, "A key has no value.") }
            add(container.isDictionary ? .dictionary(container.members) : .array(container.values), parser)
        case "key":
            guard let top = open.indices.last, open[top].isDictionary, open[top].key == nil else {
                return fail(parser, .syntax, "A key is outside a dictionary, or follows another key.")
            }
            guard open[top].keys.insert(content).inserted else {
                return fail(parser, .duplicateKey, "The key \"\(content)\" occurs twice in one dictionary.")
            }
            open[top].key = content
        default:
            guard let value = value(name, content) else {
                return fail(parser, .wrongType, "The content of <\(name)> is not valid: \(content.prefix(40)).")
            }
            add(.value(value), parser)
        }
    }

    private func value(_ name: String, _ content: String) -> GraphValue? {
        switch name {
        case "string": .string(content)
        case "integer": Int64(content).map { .integer($0) } ?? TextValue.anyValue(content, as: .decimal)
        case "real": Double(content).map { .double($0) }
        case "date": TextValue.anyValue(content, as: .date)
        case "data": TextValue.anyValue(content, as: .binaryData)
        case "true": .bool(true)
        case "false": .bool(false)
        default: nil
        }
    }

    private func add(_ value: ReadableValue, _ parser: XMLParser) {
        guard let top = open.indices.last else {
            if root != nil { return fail(parser, .syntax, "The property list has two roots.") }
            root = value
            return
        }
        if !open[top].isDictionary {
            open[top].values.append(value)
        } else if let key = open[top].key {
            open[top].key = nil
            open[top].members.append(.init(name: key, value: value))
        } else {
            fail(parser, .syntax, "A value in a dictionary has no key.")
        }
    }

    // For malformed XML the result of `parse()` is not reliable, but this callback is.
    func parser(_ parser: XMLParser, parseErrorOccurred parseError: any Error) {
        fail(parser, .syntax, "The XML is malformed (\((parseError as NSError).code)).")
    }
}
