/// Reads records from a document's tokens, in any format and layout: flat, nested, lines and plain.
///
/// A nested object becomes a record of its own, and a reference in the enclosing record. It is returned when it ends,
/// so before the enclosing record. Iterative: depth uses memory, not the stack.
struct TokenRecordReader<Source: TokenSource>: DocumentReader {
    private(set) var header: DocumentHeader?
    var source: Source
    let schema: GraphSchema
    let options: ReadingOptions
    let keys: PlainKeys?
    private var state = State.start
    /// The entity of the objects in the open top-level array.
    private var groupEntity: String?
    /// The pointer of that array, and the number of elements read.
    private var groupPointer = ""
    private var groupIndex = -1
    /// The innermost open object. Separate from the enclosing ones, because everything that is read is added to it.
    var frame = RecordFrame()
    /// The record that has just ended.
    var finished: PlacedRecord?
    /// The enclosing open objects.
    var outerFrames: [RecordFrame] = []
    var members: [String: EntityMembers] = [:]
    var recordCount = 0
    /// Whether the next token, a key, has been read already.
    var hasReadKey = false
    /// Whether the last line of the document states the number of its lines with records, and the number so far.
    private var statesEnd = false
    private var lineCount = 0

    private enum State {
        case start
        /// Between the members of the top-level object.
        case container
        /// In an array of objects; `isMember` if it is a member of a container.
        case array(isMember: Bool)
        /// Between consecutive objects.
        case lines
        /// In the only record, which is the top-level object.
        case onlyRecord
        case finished
    }

    /// Reads up to the first record. Throws `DocumentError`.
    init(_ source: Source, schema: GraphSchema, options: ReadingOptions) throws {
        self.source = source
        self.schema = schema
        self.options = options
        keys = try options.plainLayout.map { try PlainKeys($0, schema: schema) }
        try readStart()
    }

    var bytesRead: Int { source.bytesRead }
    var byteCount: Int? { source.byteCount }

    mutating func nextPlaced() throws -> PlacedRecord? {
        do {
            while true {
                if !frame.isOpen {
                    guard try openNext() else { return nil }
                } else {
                    try readMember()
                    if let record = finished {
                        finished = nil
                        return record
                    }
                }
            }
        } catch {
            // After an error no more records are returned: the rest is unreliable.
            state = .finished
            frame = RecordFrame()
            outerFrames = []
            throw error
        }
    }

    // MARK: - The document around the records

    private mutating func readStart() throws {
        let token = try source.next()
        switch token {
        case .beginArray:
            state = .array(isMember: false)
            groupEntity = options.rootEntity
        case .beginObject:
            if options.layout == .lines, options.rootEntity != nil, header == nil {
                // The first key determines whether the first line is a header.
                return try readFirstKey(isLines: true)
            }
            try readFirstKey(isLines: options.layout == .lines)
        case .end:
            guard options.layout == .lines else {
                throw DocumentError(.truncated, "The document is empty.", at: source.place)
            }
            state = .finished
        default:
            throw DocumentError(.syntax, "A document must begin with an object or an array.", at: source.place)
        }
    }

    private mutating func readFirstKey(isLines: Bool) throws {
        let place = source.place
        guard try source.next() == .key else {
            // An empty object: an empty container, or an empty record.
            if isLines { return try openRecord(entity: options.rootEntity, at: place, isEmpty: true) }
            state = .finished
            return
        }
        let key = source.tokenText()
        if key == RecordMember.header {
            try readHeader()
            guard header?.layout == .lines || isLines else {
                state = .container
                return
            }
            statesEnd = header?.endIsUnknown == false
            guard try source.next() == .endObject else {
                throw DocumentError(.syntax, "The header's line must contain nothing but the header.", at: source.place)
            }
            state = .lines
            return
        }
        let isGroup = key == RecordMember.objects || schema.entity(key) != nil
        let isRecord = isLines || RecordMember.ofRecords.contains(key) || (options.rootEntity != nil && !isGroup)
        if try isRecord || (!isGroup && statedEntity() != nil) {
            // The object is a record itself, and its first key has been read.
            state = isLines ? .lines : .onlyRecord
            try openRecord(entity: options.rootEntity, at: place)
            hasReadKey = true
            return
        }
        state = .container
        // The header precedes the objects, unless another program has written the document.
        if options.layout != .plain, options.plainLayout == nil,
            let tree = try source.treeAhead(under: Array(RecordMember.header.utf8))
        {
            header = try DocumentHeader(tree: tree, at: place)
        }
        try openGroup(key)
    }

    private mutating func readHeader() throws {
        let place = source.place
        let token = try source.next()
        header = try DocumentHeader(tree: readTree(token), at: place)
    }

    private mutating func openGroup(_ key: String) throws {
        if key == RecordMember.header { return try readHeader() }
        if key == RecordMember.objects {
            groupEntity = options.rootEntity
        } else if schema.entity(key) != nil {
            groupEntity = key
        } else {
            if options.unknownEntities == .skip {
                return try source.skipValue(after: source.next())
            }
            let message = NameSuggestion.noEntity(key, in: schema.entities.map(\.name))
            throw DocumentError(.unknownEntity, message, at: source.place)
        }
        guard try source.next() == .beginArray else {
            throw DocumentError(.syntax, "The records of \"\(key)\" are not an array.", at: source.place)
        }
        groupPointer = "/" + DocumentPlace.escaped(key)
        groupIndex = -1
        state = .array(isMember: true)
    }

    /// Opens the next top-level object; false at the end.
    private mutating func openNext() throws -> Bool {
        while true {
            switch state {
            case .finished:
                return false
            case .start, .onlyRecord:
                try readEnd()
            case .container:
                let token = try source.next()
                if token == .key {
                    try openGroup(source.tokenText())
                } else {
                    try readEnd()
                }
            case .array(let isMember):
                let token = try source.next()
                switch token {
                case .beginObject:
                    groupIndex += 1
                    try openRecord(entity: groupEntity, at: place(in: groupPointer, index: groupIndex))
                    return true
                case .endArray:
                    if isMember { state = .container } else { try readEnd() }
                default:
                    throw DocumentError(.syntax, "A record is not an object.", at: source.place)
                }
            case .lines:
                switch try source.next() {
                case .beginObject:
                    let place = place(in: "")
                    if statesEnd {
                        guard try source.next() == .key else {
                            throw DocumentError.noEntity(at: place)
                        }
                        if source.tokenText() == RecordMember.end {
                            try readEndLine()
                            continue
                        }
                        hasReadKey = true
                    }
                    lineCount += 1
                    try openRecord(entity: options.rootEntity, at: place)
                    return true
                case .end:
                    guard !statesEnd else {
                        throw DocumentError(
                            .truncated, "The document is cut off: its last line, `\(RecordMember.end)`, is missing.",
                            at: source.place)
                    }
                    state = .finished
                default:
                    throw DocumentError(.syntax, "A line is not an object.", at: source.place)
                }
            }
        }
    }

    /// Reads the last line of a document in lines, whose first key has been read.
    private mutating func readEndLine() throws {
        guard case .integer(let count) = try source.value(source.next(), as: .integer64), count == lineCount else {
            throw DocumentError(
                .truncated, "The last line states another number of records than the document has, \(lineCount).",
                at: source.place)
        }
        guard try source.next() == .endObject else {
            throw DocumentError(.syntax, "The last line has other members.", at: source.place)
        }
        try readEnd()
    }

    /// Checks that the document has ended.
    private mutating func readEnd() throws {
        guard try source.next() == .end else {
            throw DocumentError(.syntax, "Unexpected content after the end of the document.", at: source.place)
        }
        state = .finished
    }
}
