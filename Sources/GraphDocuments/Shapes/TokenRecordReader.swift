/// Reads records from a document's tokens, whatever the format: flat, nested, lines and plain.
///
/// An object inside a relationship becomes a record of its own, and a reference in the record around it. It is handed out
/// when it ends, so before the record around it. Open objects are kept on a stack of our own: depth costs memory, no stack.
struct TokenRecordReader<Source: TokenSource>: DocumentReader {
    private(set) var header: DocumentHeader?
    var source: Source
    let schema: GraphSchema
    let options: ReadingOptions
    private let keys: PlainKeys?
    private var state = State.start
    /// The entity of the objects in the array that is open at the top.
    private var groupEntity: String?
    /// The pointer of that array, and how many of its elements have been read.
    private var groupPointer = ""
    private var groupIndex = -1
    private var frames: [RecordFrame] = []
    private var members: [String: EntityMembers] = [:]
    private var recordCount = 0
    private var hasRestOfStart = false

    private enum State {
        case start
        /// Between the members of the object that is the document.
        case container
        /// In an array of objects; `isMember` where a container is around it.
        case array(isMember: Bool)
        /// Between objects that follow each other.
        case lines
        /// In the object that is the document and its only root.
        case onlyRecord
        case finished
    }

    /// Reads up to the first record. Throws `DocumentError`.
    init(_ source: Source, schema: GraphSchema, options: ReadingOptions) throws {
        self.source = source
        self.schema = schema
        self.options = options
        keys = try options.layout.map { try PlainKeys($0, schema: schema) }
        try readStart()
    }

    var bytesRead: Int { source.bytesRead }
    var byteCount: Int? { source.byteCount }

    mutating func nextPlaced() throws -> PlacedRecord? {
        do {
            while true {
                if frames.isEmpty {
                    guard try openNext() else { return nil }
                } else if let record = try step() {
                    return record
                }
            }
        } catch {
            // After an error nothing more is said: what follows cannot be trusted.
            state = .finished
            frames = []
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
            if options.shape == .lines, options.rootEntity != nil, header == nil {
                // Whether the first line is a header shows at its first key.
                return try readFirstKey(isLines: true)
            }
            try readFirstKey(isLines: options.shape == .lines)
        case .end:
            guard options.shape == .lines else {
                throw DocumentError(.truncated, "The document is empty.", at: source.place)
            }
            state = .finished
        default:
            throw DocumentError(.syntax, "A document begins with an object or an array.", at: source.place)
        }
    }

    private mutating func readFirstKey(isLines: Bool) throws {
        let place = source.place
        guard try source.next() == .key else {
            // An empty object: a container without anything in it, or an empty record.
            if isLines { return try openRecord(entity: options.rootEntity, at: place, isEmpty: true) }
            state = .finished
            return
        }
        let key = source.string()
        if key == RecordMember.header {
            try readHeader()
            guard header?.shape == .lines || isLines else {
                state = .container
                return
            }
            guard try source.next() == .endObject else {
                throw DocumentError(.syntax, "The header's line holds nothing but the header.", at: source.place)
            }
            state = .lines
            return
        }
        let isGroup = key == RecordMember.objects || schema.entity(key) != nil
        if isLines || (options.rootEntity != nil && !isGroup) {
            // The object is a record itself, and its first key is read already.
            state = isLines ? .lines : .onlyRecord
            try openRecord(entity: options.rootEntity, at: place)
            hasRestOfStart = true
            return
        }
        state = .container
        try openGroup(key)
    }

    private mutating func readHeader() throws {
        let place = source.place
        let token = try source.next()
        header = try DocumentHeader(tree: readTree(token, level: 0), at: place)
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
            throw DocumentError(.unknownEntity, "The model has no entity \"\(key)\".", at: source.place)
        }
        guard try source.next() == .beginArray else {
            throw DocumentError(.syntax, "The records of \"\(key)\" are no array.", at: source.place)
        }
        groupPointer = "/" + DocumentPlace.escaped(key)
        groupIndex = -1
        state = .array(isMember: true)
    }

    /// Goes on to the next object at the top and opens it; false at the end.
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
                    try openGroup(source.string())
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
                    throw DocumentError(.syntax, "A record is no object here.", at: source.place)
                }
            case .lines:
                switch try source.next() {
                case .beginObject:
                    try openRecord(entity: options.rootEntity, at: place(in: ""))
                    return true
                case .end:
                    state = .finished
                default:
                    throw DocumentError(.syntax, "A line is no object.", at: source.place)
                }
            }
        }
    }

    /// Makes sure that nothing follows the document.
    private mutating func readEnd() throws {
        guard try source.next() == .end else {
            throw DocumentError(.syntax, "Something follows the document's end.", at: source.place)
        }
        state = .finished
    }

    // MARK: - Records

    /// The place of the token that was read last. Made from its surroundings, because asking the source costs a walk over all
    /// that is open.
    private func place(in container: String, index: Int = -1, member: String? = nil) -> DocumentPlace {
        let mark = source.mark
        return DocumentPlace(
            offset: mark.offset, line: mark.line, column: mark.column, container: container, index: index,
            member: member)
    }

    private mutating func openRecord(entity: String?, at place: DocumentPlace, isEmpty: Bool = false) throws {
        guard recordCount < options.limits.recordCount else {
            throw DocumentError(.limit, "The document has more than \(options.limits.recordCount) records.", at: place)
        }
        recordCount += 1
        var frame = RecordFrame(place: place)
        frame.number = recordCount
        if let entity {
            frame.members = try entityMembers(entity, at: place)
            frame.isSkipped = frame.members == nil
        }
        frame.isComplete = isEmpty
        frames.append(frame)
    }

    private mutating func entityMembers(_ name: String, at place: DocumentPlace) throws -> EntityMembers? {
        if let known = members[name] { return known }
        guard let entity = schema.entity(name) else {
            if options.unknownEntities == .skip { return nil }
            throw DocumentError(.unknownEntity, "The model has no entity \"\(name)\".", at: place)
        }
        let new = EntityMembers(entity)
        members[name] = new
        return new
    }

    /// Reads one member of the innermost open object, or its end; a record when one has ended.
    private mutating func step() throws -> PlacedRecord? {
        let top = frames.count - 1
        if frames[top].relationship != nil {
            try readElement(top)
            return nil
        }
        if frames[top].isComplete { return try closeRecord() }
        let token: DocumentToken
        if hasRestOfStart {
            hasRestOfStart = false
            token = .key
        } else {
            token = try source.next()
        }
        guard token == .key else { return try closeRecord() }
        if frames[top].isReference {
            throw DocumentError(.syntax, "Nothing may stand beside `$ref`.", at: source.place)
        }
        guard let entityMembers = frames[top].members else {
            try readReservedMember(source.string(), top)
            return nil
        }
        guard let member = entityMembers.member(after: frames[top].previousMember(entityMembers), in: source) else {
            try readReservedMember(source.string(), top)
            return nil
        }
        frames[top].previous = member
        frames[top].hasMembers = true
        let entity = entityMembers.entity
        if member < entity.attributes.count {
            let attribute = entity.attributes[member]
            let token = try source.next()
            frames[top].attributeMarks.append(source.mark)
            let value = try readValue(token, attribute)
            frames[top].attributes.append(GraphAttribute(name: attribute.name, value: value))
        } else {
            try readRelationship(entity.relationships[member - entity.attributes.count], top)
        }
        return nil
    }

    /// Reads a member that is not the entity's: one of ours, or an unknown one.
    private mutating func readReservedMember(_ name: String, _ top: Int) throws {
        switch name {
        case RecordMember.id:
            frames[top].id = try readID(named: name)
        case RecordMember.reference where !frames[top].hasMembers && frames.count > 1:
            frames[top].id = try readID(named: name)
            frames[top].isReference = true
        case RecordMember.entity:
            guard try source.next() == .string else {
                throw DocumentError(.wrongType, "`$entity` is no string.", at: source.place)
            }
            guard !frames[top].hasMembers else {
                throw DocumentError(.syntax, "`$entity` must stand before the record's members.", at: source.place)
            }
            let entity = source.string()
            frames[top].hasOwnEntity = true
            frames[top].members = try entityMembers(entity, at: source.place)
            frames[top].isSkipped = frames[top].members == nil
        case RecordMember.deleted:
            switch try source.next() {
            case .true: frames[top].isDeleted = true
            case .false: break
            default: throw DocumentError(.wrongType, "`$deleted` is neither true nor false.", at: source.place)
            }
        default:
            if frames[top].members == nil, !frames[top].isSkipped {
                throw DocumentError(.unknownEntity, "The record does not say its entity.", at: source.place)
            }
            let place = place(in: frames[top].place.pointer, member: name)
            let token = try source.next()
            var unknown = PlacedRecord.UnknownMember(name: name, value: nil, place: place)
            if token == .beginObject || token == .beginArray {
                try source.skipValue(after: token)
            } else {
                unknown.value = try source.value(token, as: .undefined)
            }
            frames[top].unknownMembers.append(unknown)
        }
    }

    private mutating func readID(named name: String) throws -> String {
        let token = try source.next()
        guard token == .string || token == .number else {
            throw DocumentError(.wrongType, "`\(name)` is no text.", at: source.place)
        }
        return try checkedID()
    }

    private func checkedID() throws -> String {
        let text = source.string()
        // Ids that the reader makes up begin so, and must not be mistaken for ones that the document gives.
        guard !text.hasPrefix("$") else {
            throw DocumentError(.syntax, "An id may not begin with `$`.", at: source.place)
        }
        return text
    }

    private mutating func closeRecord() throws -> PlacedRecord? {
        guard let frame = frames.popLast() else { return nil }
        if frame.isReference {
            recordCount -= 1
            let id = RecordID(frame.id ?? "")
            attach(id)
            return nil
        }
        guard let members = frame.members else {
            guard frame.isSkipped else {
                throw DocumentError(.unknownEntity, "The record does not say its entity.", at: frame.place)
            }
            if let top = frames.indices.last, frames[top].relationship?.isToMany == false { closeRelationship(top) }
            return nil
        }
        let entity = members.entity.name
        var hasOwnID = true
        let id: RecordID
        if let text = frame.id {
            id = RecordID(text)
        } else if let key = keyID(of: frame, entity: entity) {
            id = key
        } else {
            id = RecordID("$\(frame.number)")
            hasOwnID = false
        }
        attach(id)
        let record = GraphRecord(
            id: id, entity: entity, attributes: frame.attributes, relationships: frame.relationships,
            isDeleted: frame.isDeleted)
        return PlacedRecord(
            record: record, place: frame.place, hasOwnID: hasOwnID, hasOwnEntity: frame.hasOwnEntity,
            unknownMembers: frame.unknownMembers, marks: frame.attributeMarks + frame.relationshipMarks)
    }

    /// Gives the id of an object that has ended to the relationship around it.
    private mutating func attach(_ id: RecordID) {
        guard let top = frames.indices.last else { return }
        frames[top].ids.append(id)
        if frames[top].relationship?.isToMany == false { closeRelationship(top) }
    }

    // MARK: - Relationships

    private mutating func readRelationship(_ relationship: GraphSchema.Relationship, _ top: Int) throws {
        let token = try source.next()
        frames[top].relationshipMarks.append(source.mark)
        switch token {
        case .null:
            let target = relationship.isToMany ? RelationshipTarget.nullToMany : .toOne(nil)
            frames[top].relationships.append(
                GraphRelationship(name: relationship.name, target: target, isOrdered: relationship.isOrdered))
        case .beginArray where relationship.isToMany:
            frames[top].relationship = relationship
            frames[top].relationshipPointer = nil
            frames[top].elementIndex = -1
        case .beginObject where !relationship.isToMany:
            frames[top].relationship = relationship
            let place = place(in: frames[top].place.pointer, member: relationship.name)
            try openRecord(entity: relationship.destination, at: place)
        case .string, .number, .beginArray, .true, .false, .native:
            guard !relationship.isToMany else {
                throw DocumentError(.wrongType, "\(relationship.name) is to many and wants an array.", at: source.place)
            }
            let id = try readReference(token, to: relationship.destination)
            frames[top].relationships.append(GraphRelationship(name: relationship.name, target: .toOne(id)))
        default:
            throw DocumentError(.wrongType, "\(relationship.name) wants an array of objects or ids.", at: source.place)
        }
    }

    /// Reads one element of the to-many relationship that is open, or its end.
    private mutating func readElement(_ top: Int) throws {
        guard let relationship = frames[top].relationship else { return }
        let token = try source.next()
        frames[top].elementIndex += 1
        switch token {
        case .endArray:
            closeRelationship(top)
        case .beginObject:
            let pointer = frames[top].relationshipPointer ?? frames[top].place.member(relationship.name).pointer
            frames[top].relationshipPointer = pointer
            let place = place(in: pointer, index: frames[top].elementIndex)
            try openRecord(entity: relationship.destination, at: place)
        case .string, .number, .beginArray:
            frames[top].ids.append(try readReference(token, to: relationship.destination))
        default:
            throw DocumentError(
                .wrongType, "An element of \(relationship.name) is neither an object nor an id.", at: source.place)
        }
    }

    private mutating func closeRelationship(_ top: Int) {
        guard let relationship = frames[top].relationship else { return }
        let ids = frames[top].ids
        frames[top].relationships.append(
            GraphRelationship(
                name: relationship.name, target: relationship.isToMany ? .toMany(ids) : .toOne(ids.first),
                isOrdered: relationship.isOrdered))
        frames[top].ids = []
        frames[top].relationship = nil
    }

    /// Reads a reference that is no object: an id, or in the plain shape a natural key (an array where it has parts).
    private mutating func readReference(_ token: DocumentToken, to destination: String) throws -> RecordID {
        if let keys, let leaves = keys.leaves[destination], !leaves.isEmpty {
            var values: [String] = []
            if token == .beginArray {
                var next = try source.next()
                while next != .endArray {
                    guard values.count < leaves.count else { break }
                    values.append(try readKeyPart(next, leaves[values.count]))
                    next = try source.next()
                }
                guard next == .endArray, values.count == leaves.count else { throw wrongKey(destination, leaves) }
            } else {
                guard leaves.count == 1, let leaf = leaves.first else { throw wrongKey(destination, leaves) }
                values = [try readKeyPart(token, leaf)]
            }
            return keys.id(of: destination, values: values)
        }
        guard token == .string || token == .number else {
            throw DocumentError(.wrongType, "A reference to \(destination) is no id.", at: source.place)
        }
        return RecordID(try checkedID())
    }

    private func wrongKey(_ destination: String, _ leaves: [GraphSchema.Attribute]) -> DocumentError {
        DocumentError(
            .wrongType, "A reference to \(destination) wants \(leaves.count) key values.", at: source.place)
    }

    private func readKeyPart(_ token: DocumentToken, _ leaf: GraphSchema.Attribute) throws -> String {
        switch token {
        case .string, .number, .true, .false, .native, .null:
            return TextValue.text(of: try source.value(token, as: leaf.type)) ?? ""
        default:
            throw DocumentError(.wrongType, "A key value is an array or an object.", at: source.place)
        }
    }

    /// The id that follows from the record's own key, in the plain shape. Nil where a part of the key is missing or null.
    private func keyID(of frame: RecordFrame, entity: String) -> RecordID? {
        guard let keys, let layout = options.layout?.entities.first(where: { $0.name == entity }) else { return nil }
        var values: [String] = []
        for member in layout.key {
            if let value = frame.attributes.first(where: { $0.name == member })?.value {
                guard let text = TextValue.text(of: value) else { return nil }
                values.append(text)
            } else if let target = frame.relationships.first(where: { $0.name == member })?.target {
                guard case .toOne(let id?) = target, let parts = id.keyValues else { return nil }
                values += parts
            } else {
                return nil
            }
        }
        return values.isEmpty ? nil : keys.id(of: entity, values: values)
    }
}

/// An object that is being read.
private struct RecordFrame {
    var place: DocumentPlace
    /// The entity's members; nil while the entity is not known.
    var members: EntityMembers?
    var id: String?
    var isReference = false
    var isDeleted = false
    /// Whether the entity is given by the object itself.
    var hasOwnEntity = false
    var hasMembers = false
    /// Whether there is nothing more to read.
    var isComplete = false
    /// Whether the schema does not have the entity, and the record is passed over.
    var isSkipped = false
    /// How many records were opened up to this one.
    var number = 0
    var previous = -1
    var attributes: [GraphAttribute] = []
    var attributeMarks: [PlaceMark] = []
    var relationships: [GraphRelationship] = []
    var relationshipMarks: [PlaceMark] = []
    var unknownMembers: [PlacedRecord.UnknownMember] = []
    /// The relationship whose objects are being read, and the ids so far.
    var relationship: GraphSchema.Relationship?
    var ids: [RecordID] = []
    /// The pointer of that relationship's array, once it is needed, and the element that is being read.
    var relationshipPointer: String?
    var elementIndex = -1

    func previousMember(_ members: EntityMembers) -> Int {
        previous < 0 ? members.beginning : previous
    }
}
