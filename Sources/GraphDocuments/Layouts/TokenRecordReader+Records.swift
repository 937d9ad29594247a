extension TokenRecordReader {
    /// The position of the token that was read last. Built from the container, because the source would traverse all
    /// open values.
    mutating func place(in container: String, index: Int = -1, member: String? = nil) -> DocumentPlace {
        let mark = source.mark
        return DocumentPlace(
            offset: mark.offset, line: mark.line, column: mark.column, container: container, index: index,
            member: member)
    }

    mutating func openRecord(entity: String?, at place: DocumentPlace, isEmpty: Bool = false) throws {
        guard recordCount < options.limits.recordCount else {
            throw DocumentError(.limit, "The document has more than \(options.limits.recordCount) records.", at: place)
        }
        recordCount += 1
        if frame.isOpen { outerFrames.append(frame) }
        frame = RecordFrame()
        frame.isOpen = true
        frame.place = place
        frame.number = recordCount
        frame.isComplete = isEmpty
        if let entity = try isEmpty ? entity : statedEntity(assumed: entity) ?? entity {
            frame.members = try entityMembers(entity, at: place)
            frame.isSkipped = frame.members == nil
        }
    }

    /// The entity that the open object states. The members of an object are in any order, and the entity may follow members
    /// that can only be read if it is known. Nil, without a search, if the object must be of the assumed
    /// entity.
    mutating func statedEntity(assumed entity: String? = nil) throws -> String? {
        if let entity, !schema.hasDescendants(entity), options.unknownEntities != .skip { return nil }
        return try source.stringAhead(under: RecordMember.entity)
    }

    private mutating func entityMembers(_ name: String, at place: DocumentPlace) throws -> EntityMembers? {
        if let known = members[name] { return known }
        guard let entity = schema.entity(name) else {
            if options.unknownEntities == .skip { return nil }
            let message = NameSuggestion.noEntity(name, in: schema.entities.map(\.name))
            throw DocumentError(.unknownEntity, message, at: place)
        }
        let new = EntityMembers(entity, keys: keys)
        members[name] = new
        return new
    }

    /// Reads one member of the innermost open object, or its end, which sets `finished`.
    mutating func readMember() throws {
        if frame.relationship >= 0 { return try readElement() }
        if frame.isComplete { return try closeRecord() }
        if hasReadKey {
            hasReadKey = false
        } else if try source.next() != .key {
            return try closeRecord()
        }
        if frame.isReference {
            throw DocumentError(.syntax, "`$ref` must be the only member.", at: source.place)
        }
        guard let members = frame.members, let member = members.member(after: frame.previous, in: &source) else {
            return try readReservedMember(source.tokenText())
        }
        frame.previous = member
        frame.hasMembers = true
        let attributeCount = members.attributes.count
        if member >= attributeCount {
            return try readRelationship(member - attributeCount, members)
        }
        if frame.attributes.isEmpty {
            frame.attributes.reserveCapacity(attributeCount)
            frame.attributeMarks.reserveCapacity(attributeCount)
        }
        let token = try source.next()
        frame.attributeMarks.append(source.mark)
        let value = try readValue(token, members.attributes[member])
        frame.attributes.append(GraphAttribute(name: members.attributes[member].name, value: value))
    }

    /// Reads a member that is not a property of the entity: one of this library's own, or an unknown one.
    private mutating func readReservedMember(_ name: String) throws {
        switch name {
        case RecordMember.id:
            frame.id = try readID(named: name)
        case RecordMember.reference where !frame.hasMembers && !outerFrames.isEmpty:
            frame.id = try readID(named: name)
            frame.isReference = true
        case RecordMember.entity:
            guard try source.next() == .string else {
                throw DocumentError(.wrongType, "`$entity` is not a string.", at: source.place)
            }
            let entity = source.tokenText()
            // After other members it must be the entity already assumed.
            guard !frame.hasMembers || frame.members?.entity == entity else {
                throw DocumentError(
                    .limit,
                    "`$entity` follows more than 16 MB of the record's members, or cannot be the entity of this record.",
                    at: source.place)
            }
            frame.hasOwnEntity = true
            if frame.members?.entity != entity { frame.members = try entityMembers(entity, at: source.place) }
            frame.isSkipped = frame.members == nil
        case RecordMember.deleted:
            switch try source.next() {
            case .true: frame.isDeleted = true
            case .false: break
            default: throw DocumentError(.wrongType, "`$deleted` is neither true nor false.", at: source.place)
            }
        default:
            try readUnknownMember(name)
        }
    }

    private mutating func readUnknownMember(_ name: String) throws {
        if frame.members == nil, !frame.isSkipped {
            throw DocumentError.noEntity(at: source.place)
        }
        let place = place(in: frame.place.pointer, member: name)
        let token = try source.next()
        var unknown = PlacedRecord.UnknownMember(name: name, value: nil, place: place)
        if token == .beginObject || token == .beginArray {
            try source.skipValue(after: token)
        } else {
            unknown.value = try source.value(token, as: .undefined)
        }
        frame.unknownMembers.append(unknown)
    }

    private mutating func readID(named name: String) throws -> String {
        let token = try source.next()
        guard token == .string || token == .number else {
            throw DocumentError(.wrongType, "`\(name)` is not a text.", at: source.place)
        }
        return try checkedID()
    }

    mutating func checkedID() throws -> String {
        let text = source.tokenText()
        // Generated ids begin with `$`, and must not be confused with those in the document.
        guard text.utf8.first != UInt8(ascii: "$") else {
            throw DocumentError(.syntax, "An id may not begin with `$`.", at: source.place)
        }
        return text
    }

    private mutating func closeRecord() throws {
        if frame.isReference {
            recordCount -= 1
            let id = RecordID(frame.id ?? "")
            closeFrame()
            return attach(id)
        }
        guard let members = frame.members else {
            guard frame.isSkipped else {
                throw DocumentError.noEntity(at: frame.place)
            }
            closeFrame()
            // A to-one relationship with a skipped record is empty.
            if isInToOne { closeRelationship() }
            return
        }
        var hasOwnID = true
        let id: RecordID
        if let text = frame.id {
            id = RecordID(text)
        } else if let key = keyID(members.key) {
            id = key
        } else {
            id = RecordID("$\(frame.number)")
            hasOwnID = false
        }
        let record = GraphRecord(
            id: id, entity: members.entity, attributes: frame.attributes, relationships: frame.relationships,
            isDeleted: frame.isDeleted)
        finished = PlacedRecord(
            record: record, place: frame.place, hasOwnID: hasOwnID, hasStatedID: frame.id != nil,
            hasOwnEntity: frame.hasOwnEntity,
            unknownMembers: frame.unknownMembers, attributeMarks: frame.attributeMarks,
            relationshipMarks: frame.relationshipMarks)
        closeFrame()
        if frame.isOpen { attach(id) }
    }

    private mutating func closeFrame() {
        frame = outerFrames.popLast() ?? RecordFrame()
    }

    /// Whether the innermost open object is reading the object of a to-one relationship.
    private var isInToOne: Bool {
        guard frame.relationship >= 0, let members = frame.members else { return false }
        return !members.relationships[frame.relationship].isToMany
    }

    /// Adds the id of a finished object to the enclosing relationship.
    private mutating func attach(_ id: RecordID) {
        frame.ids.append(id)
        if isInToOne { closeRelationship() }
    }
}

/// An object that is being read.
struct RecordFrame {
    /// Whether there is an open object.
    var isOpen = false
    var place = DocumentPlace(offset: 0)
    /// The entity's members; nil while the entity is unknown.
    var members: EntityMembers?
    var id: String?
    var isReference = false
    var isDeleted = false
    /// Whether the object itself contains its entity.
    var hasOwnEntity = false
    var hasMembers = false
    /// Whether the object has been read completely.
    var isComplete = false
    /// Whether the schema does not have the entity, and the record is skipped.
    var isSkipped = false
    /// The number of records opened so far, including this one.
    var number = 0
    /// The member that was read last, or the position before the first.
    var previous = -1
    var attributes: [GraphAttribute] = []
    var attributeMarks: [PlaceMark] = []
    var relationships: [GraphRelationship] = []
    var relationshipMarks: [PlaceMark] = []
    var unknownMembers: [PlacedRecord.UnknownMember] = []
    /// The index of the relationship whose objects are being read, or -1; and the ids so far.
    var relationship = -1
    var ids: [RecordID] = []
    /// The pointer of that relationship's array, computed when needed, and the index of the current element.
    var relationshipPointer: String?
    var elementIndex = -1
}

extension DocumentError {
    /// A record from which an importer cannot tell what it describes.
    static func noEntity(at place: DocumentPlace) -> DocumentError {
        DocumentError(
            .unknownEntity,
            "The record has no entity. State it in the record, as \"$entity\", or in the call: `as: Note.self`.",
            at: place)
    }
}
