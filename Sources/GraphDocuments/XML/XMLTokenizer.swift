import Foundation

#if canImport(FoundationXML)
    import FoundationXML
#endif

/// Converts the parser's callbacks to the tokens of the same document in JSON.
final class XMLTokenizer: NSObject, XMLParserDelegate {
    private(set) var error: DocumentError?
    /// Whether the document's last element has ended.
    private(set) var isComplete = false
    private let depthLimit: Int
    private let deliver: ([XMLToken]) -> Bool
    private var batch: [XMLToken] = []
    private var open: [Element] = []
    private var text: String?
    private var isEscaped = false
    /// Whether the first object or change has begun.
    private var hasObjects = false
    /// Whether the document is one tree, whose keys are passed on unchanged.
    private var isTree = false

    /// An open element, and the effect of its end.
    private enum Element {
        case graph, changes, change, tree, header, object, array, dictionary, entry, readable
        /// An attribute, member or value: its text, and the number of objects to close after it.
        case scalar(closing: Int)
        case composite(closing: Int)
        case transformable
        case archive
        case toOne(isEmpty: Bool)
        case toMany
        case reference
        /// An element for null, without content.
        case null
    }

    init(depthLimit: Int, deliver: @escaping ([XMLToken]) -> Bool) {
        self.depthLimit = depthLimit
        self.deliver = deliver
    }

    /// Delivers the collected tokens.
    func flush() {
        guard !batch.isEmpty else { return }
        _ = deliver(batch)
        batch = []
    }

    private func fail(_ parser: XMLParser, _ code: DocumentError.Code, _ message: String) {
        if error == nil {
            error = DocumentError(
                code, message, at: DocumentPlace(offset: 0, line: parser.lineNumber, column: parser.columnNumber))
        }
        parser.abortParsing()
    }

    private func emit(_ parser: XMLParser, _ token: DocumentToken, _ text: String = "") {
        batch.append(XMLToken(token: token, text: text, line: parser.lineNumber, column: parser.columnNumber))
        guard batch.count >= 1024 else { return }
        if !deliver(batch) {
            error = error ?? DocumentError(.misuse, "Reading was cancelled.")
            parser.abortParsing()
        }
        batch = []
    }

    // MARK: - Elements

    func parser(
        _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
        attributes: [String: String]
    ) {
        guard error == nil else { return }
        guard text == nil else { return fail(parser, .syntax, "The element <\(name)> is inside a value.") }
        guard open.count < depthLimit else {
            return fail(parser, .limit, "The document nests deeper than \(depthLimit) levels.")
        }
        switch (name, open.last) {
        case ("graph", nil) where !isComplete:
            emit(parser, .beginObject)
            open.append(.graph)
        case ("changes", nil) where !isComplete:
            emit(parser, .beginObject)
            open.append(.changes)
        case ("tree", nil) where !isComplete:
            isTree = true
            open.append(.tree)
        case ("change", .changes):
            beginObjects(parser, RecordMember.changes)
            open.append(.change)
        case ("header", .graph) where !hasObjects, ("header", .changes) where !hasObjects:
            emit(parser, .key, RecordMember.header)
            open.append(.header)
        case ("object", .graph):
            beginObjects(parser, RecordMember.objects)
            beginObject(parser, attributes)
        case ("object", .toMany): beginObject(parser, attributes)
        case ("object", .toOne(isEmpty: true)):
            open[open.count - 1] = .toOne(isEmpty: false)
            beginObject(parser, attributes)
        case ("attribute", .object), ("member", .composite):
            emit(parser, .key, attributes["name"] ?? "")
            beginValue(parser, attributes)
        case ("relationship", .object): beginRelationship(parser, attributes)
        case ("reference", .toMany): reference(parser, attributes)
        case ("reference", .toOne(isEmpty: true)):
            open[open.count - 1] = .toOne(isEmpty: false)
            reference(parser, attributes)
        case ("archive", .transformable):
            emit(parser, .key, ValueTag.archive.rawValue)
            open.append(.archive)
            text = ""
        case ("readable", .transformable):
            emit(parser, .key, ValueTag.readable.rawValue)
            open.append(.readable)
        case ("array", _) where holdsTrees:
            emit(parser, .beginArray)
            open.append(.array)
        case ("dictionary", _) where holdsTrees:
            emit(parser, .beginObject)
            open.append(.dictionary)
        case ("value", _) where holdsTrees:
            beginValue(parser, attributes, isTree: true)
        case ("entry", .dictionary):
            guard let key = XMLText.unescaped(attributes["key"] ?? "") else {
                return fail(parser, .syntax, "A key has an invalid escape.")
            }
            emit(parser, .key, isTree ? key : TreeDocument.escapedKey(key))
            open.append(.entry)
        default:
            fail(parser, .syntax, "The element <\(name)> is not allowed here.")
        }
    }

    /// Whether a tree may begin here.
    private var holdsTrees: Bool {
        switch open.last {
        case .header, .readable, .array, .entry, .change, .tree: true
        default: false
        }
    }

    /// Opens the array of the document's objects or changes, at the first of them.
    private func beginObjects(_ parser: XMLParser, _ key: String) {
        guard !hasObjects else { return }
        hasObjects = true
        emit(parser, .key, key)
        emit(parser, .beginArray)
    }

    private func beginObject(_ parser: XMLParser, _ attributes: [String: String]) {
        emit(parser, .beginObject)
        open.append(.object)
        if let id = attributes["id"] {
            emit(parser, .key, RecordMember.id)
            emit(parser, .string, id)
        }
        if let entity = attributes["entity"] {
            emit(parser, .key, RecordMember.entity)
            emit(parser, .string, entity)
        }
        if attributes["deleted"] == "true" {
            emit(parser, .key, RecordMember.deleted)
            emit(parser, .true)
        }
    }

    private func reference(_ parser: XMLParser, _ attributes: [String: String]) {
        guard let id = attributes["id"] else { return fail(parser, .syntax, "A reference has no id.") }
        emit(parser, .string, id)
        open.append(.reference)
    }

    private func beginRelationship(_ parser: XMLParser, _ attributes: [String: String]) {
        emit(parser, .key, attributes["name"] ?? "")
        if attributes["null"] == "true" {
            emit(parser, .null)
            open.append(.null)
        } else if attributes["many"] == "true" {
            emit(parser, .beginArray)
            open.append(.toMany)
        } else {
            open.append(.toOne(isEmpty: true))
        }
    }

    private func beginValue(_ parser: XMLParser, _ attributes: [String: String], isTree: Bool = false) {
        if attributes["null"] == "true" {
            emit(parser, .null)
            return open.append(.null)
        }
        isEscaped = attributes["escaped"] == "true"
        guard let type = attributes["type"] else {
            open.append(.scalar(closing: 0))
            text = ""
            return
        }
        switch type {
        case "transformable":
            emit(parser, .beginObject)
            open.append(.transformable)
        case "composite":
            // A tag with the elements, which is also accepted for a declared composite.
            emit(parser, .beginObject)
            emit(parser, .key, ValueTag.composite.rawValue)
            emit(parser, .beginObject)
            open.append(.composite(closing: 2))
        case "file":
            emit(parser, .beginObject)
            if let size = attributes["size"] {
                emit(parser, .key, ValueTag.size.rawValue)
                emit(parser, .string, size)
            }
            emit(parser, .key, ValueTag.file.rawValue)
            open.append(.scalar(closing: 1))
            text = ""
        default:
            guard ValueTag(rawValue: "$" + type) != nil else {
                return fail(parser, .unsupported, "The type \"\(type)\" is unknown.")
            }
            emit(parser, .beginObject)
            emit(parser, .key, "$" + type)
            open.append(.scalar(closing: 1))
            text = ""
        }
    }

    func parser(_ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?) {
        guard error == nil, let element = open.popLast() else { return }
        switch element {
        case .graph, .changes:
            if hasObjects { emit(parser, .endArray) }
            emit(parser, .endObject)
            isComplete = true
        case .tree: isComplete = true
        case .object, .dictionary, .transformable: emit(parser, .endObject)
        case .array, .toMany: emit(parser, .endArray)
        case .toOne(let isEmpty): if isEmpty { emit(parser, .null) }
        case .composite(let closing): for _ in 0..<closing { emit(parser, .endObject) }
        case .archive: endText(parser, closing: 0)
        case .scalar(let closing): endText(parser, closing: closing)
        case .header, .entry, .readable, .reference, .null, .change: break
        }
    }

    private func endText(_ parser: XMLParser, closing: Int) {
        var content = text ?? ""
        text = nil
        if isEscaped {
            guard let unescaped = XMLText.unescaped(content) else {
                return fail(parser, .syntax, "The text has an invalid escape.")
            }
            content = unescaped
            isEscaped = false
        }
        emit(parser, .string, content)
        for _ in 0..<closing { emit(parser, .endObject) }
    }

    // MARK: - Text

    func parser(_ parser: XMLParser, foundCharacters string: String) {
        guard error == nil else { return }
        if text != nil {
            text?.append(string)
        } else if string.utf8.contains(where: { $0 > 0x20 }) {
            fail(parser, .syntax, "There is text between elements.")
        }
    }

    func parser(_ parser: XMLParser, foundCDATA block: Data) {
        text?.append(String(decoding: block, as: UTF8.self))
    }

    // For malformed XML the result of `parse()` is not reliable, but this callback is.
    func parser(_ parser: XMLParser, parseErrorOccurred parseError: any Error) {
        guard error == nil else { return }
        let isTruncated = isComplete == false && open.isEmpty == false && (parseError as NSError).code == 5
        fail(parser, isTruncated ? .truncated : .syntax, "The XML is malformed (\((parseError as NSError).code)).")
    }
}
