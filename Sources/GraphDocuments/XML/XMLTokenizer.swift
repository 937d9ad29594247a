import XMLReading

/// A token of an XML document, with its text and its position.
struct XMLToken: Sendable {
    var token: DocumentToken
    var text = ""
    var place = XMLPlace()
}

/// Converts the events of an XML document to the tokens of the same document in JSON.
struct XMLTokenizer {
    private let reader: XMLReader
    private let depthLimit: Int
    /// The tokens of the last event, in reverse order.
    private var waiting: [XMLToken] = []
    private var hasEnded = false
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

    init(_ reader: XMLReader, depthLimit: Int) {
        self.reader = reader
        self.depthLimit = depthLimit
    }

    /// Reads the next token; nil after the last. Throws `DocumentError`.
    mutating func next() throws -> XMLToken? {
        do {
            while true {
                if let token = waiting.popLast() { return token }
                if hasEnded { return nil }
                switch try reader.next() {
                case .start: try begin()
                case .end: try end()
                case .text: try append()
                case .endOfDocument: hasEnded = true
                }
                if waiting.count > 1 { waiting.reverse() }
            }
        } catch let error as XMLError {
            throw DocumentError(error)
        }
    }

    private mutating func emit(_ token: DocumentToken, _ text: String = "") {
        waiting.append(XMLToken(token: token, text: text, place: reader.place))
    }

    // MARK: - Elements

    private mutating func begin() throws {
        guard text == nil else { throw reader.error(.syntax, "The element <\(reader.name)> is inside a value.") }
        guard open.count < depthLimit else {
            throw reader.error(.limit, "The document nests deeper than \(depthLimit) levels.")
        }
        if reader.depth == 1 { try reader.checkEncoding() }
        let attributes = reader.attributes
        switch (reader.name, open.last) {
        case ("graph", nil):
            emit(.beginObject)
            open.append(.graph)
        case ("changes", nil):
            emit(.beginObject)
            open.append(.changes)
        case ("tree", nil):
            isTree = true
            open.append(.tree)
        case ("change", .changes):
            beginObjects(RecordMember.changes)
            open.append(.change)
        case ("header", .graph) where !hasObjects, ("header", .changes) where !hasObjects:
            emit(.key, RecordMember.header)
            open.append(.header)
        case ("object", .graph):
            beginObjects(RecordMember.objects)
            beginObject(attributes)
        case ("object", .toMany): beginObject(attributes)
        case ("object", .toOne(isEmpty: true)):
            open[open.count - 1] = .toOne(isEmpty: false)
            beginObject(attributes)
        case ("attribute", .object), ("member", .composite):
            emit(.key, attributes["name"] ?? "")
            try beginValue(attributes)
        case ("relationship", .object): beginRelationship(attributes)
        case ("reference", .toMany): try reference(attributes)
        case ("reference", .toOne(isEmpty: true)):
            open[open.count - 1] = .toOne(isEmpty: false)
            try reference(attributes)
        case ("archive", .transformable):
            emit(.key, ValueTag.archive.rawValue)
            open.append(.archive)
            text = ""
        case ("readable", .transformable):
            emit(.key, ValueTag.readable.rawValue)
            open.append(.readable)
        case ("array", _) where holdsTrees:
            emit(.beginArray)
            open.append(.array)
        case ("dictionary", _) where holdsTrees:
            emit(.beginObject)
            open.append(.dictionary)
        case ("value", _) where holdsTrees:
            try beginValue(attributes, isTree: true)
        case ("entry", .dictionary):
            guard let key = XMLText.unescaped(attributes["key"] ?? "") else {
                throw reader.error(.syntax, "A key has an invalid escape.")
            }
            emit(.key, isTree ? key : TreeDocument.escapedKey(key))
            open.append(.entry)
        default:
            throw reader.error(.syntax, "The element <\(reader.name)> is not allowed here.")
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
    private mutating func beginObjects(_ key: String) {
        guard !hasObjects else { return }
        hasObjects = true
        emit(.key, key)
        emit(.beginArray)
    }

    private mutating func beginObject(_ attributes: XMLAttributes) {
        emit(.beginObject)
        open.append(.object)
        if let id = attributes["id"] {
            emit(.key, RecordMember.id)
            emit(.string, id)
        }
        if let entity = attributes["entity"] {
            emit(.key, RecordMember.entity)
            emit(.string, entity)
        }
        if attributes["deleted"] == "true" {
            emit(.key, RecordMember.deleted)
            emit(.true)
        }
    }

    private mutating func reference(_ attributes: XMLAttributes) throws {
        guard let id = attributes["id"] else { throw reader.error(.syntax, "A reference has no id.") }
        emit(.string, id)
        open.append(.reference)
    }

    private mutating func beginRelationship(_ attributes: XMLAttributes) {
        emit(.key, attributes["name"] ?? "")
        if attributes["null"] == "true" {
            emit(.null)
            open.append(.null)
        } else if attributes["many"] == "true" {
            emit(.beginArray)
            open.append(.toMany)
        } else {
            open.append(.toOne(isEmpty: true))
        }
    }

    private mutating func beginValue(_ attributes: XMLAttributes, isTree: Bool = false) throws {
        if attributes["null"] == "true" {
            emit(.null)
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
            emit(.beginObject)
            open.append(.transformable)
        case "composite":
            // A tag with the elements, which is also accepted for a declared composite.
            emit(.beginObject)
            emit(.key, ValueTag.composite.rawValue)
            emit(.beginObject)
            open.append(.composite(closing: 2))
        case "file":
            emit(.beginObject)
            if let size = attributes["size"] {
                emit(.key, ValueTag.size.rawValue)
                emit(.string, size)
            }
            emit(.key, ValueTag.file.rawValue)
            open.append(.scalar(closing: 1))
            text = ""
        default:
            guard ValueTag(rawValue: "$" + type) != nil else {
                throw reader.error(.unsupported, "The type \"\(type)\" is unknown.")
            }
            emit(.beginObject)
            emit(.key, "$" + type)
            open.append(.scalar(closing: 1))
            text = ""
        }
    }

    private mutating func end() throws {
        guard let element = open.popLast() else { return }
        switch element {
        case .graph, .changes:
            if hasObjects { emit(.endArray) }
            emit(.endObject)
        case .object, .dictionary, .transformable: emit(.endObject)
        case .array, .toMany: emit(.endArray)
        case .toOne(let isEmpty): if isEmpty { emit(.null) }
        case .composite(let closing): for _ in 0..<closing { emit(.endObject) }
        case .archive: try endText(closing: 0)
        case .scalar(let closing): try endText(closing: closing)
        case .header, .entry, .readable, .reference, .null, .change, .tree: break
        }
    }

    private mutating func endText(closing: Int) throws {
        var content = text ?? ""
        text = nil
        if isEscaped {
            guard let unescaped = XMLText.unescaped(content) else {
                throw reader.error(.syntax, "The text has an invalid escape.")
            }
            content = unescaped
            isEscaped = false
        }
        emit(.string, content)
        for _ in 0..<closing { emit(.endObject) }
    }

    private mutating func append() throws {
        if text != nil {
            text?.append(reader.text)
        } else if !reader.textIsBlank {
            throw reader.error(.syntax, "There is text between elements.")
        }
    }
}
