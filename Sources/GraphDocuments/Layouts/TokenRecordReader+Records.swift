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
        // Writers that do not sort their keys may state it after the members for which it must be known.
        if let entity = try entity ?? (isEmpty ? nil : statedEntity()) {
            frame.members = try entityMembers(entity, at: place)
            frame.isSkipped = frame.members == nil
        }
    }

    /// The entity that the open object states, before its members are read.
    mutating func statedEntity() throws -> String? { try source.stringAhead(under: Array(RecordMember.entity.utf8)) }

    private mutating func entityMembers(_ name: String, at place: DocumentPlace) throws -> EntityMembers? {
        if let known = members[name] { return known }
        guard let entity = schema.entity(name) else {
            if options.unknownEntities == .skip { return nil }
            throw DocumentError(.unknownEntity, "The model has no entity \"\(name)\".", at: place)
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
                throw DocumentError(.syntax, "`$entity` must come before the record's members.", at: source.place)
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
            throw DocumentError(.unknownEntity, "The record has no entity.", at: source.place)
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

    private mutating func checkedID() throws -> String {
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
                throw DocumentError(.unknownEntity, "The record has no entity.", at: frame.place)
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

// MARK: - Relationships

extension TokenRecordReader {
    private mutating func readRelationship(_ position: Int, _ members: EntityMembers) throws {
        if frame.relationships.isEmpty {
            frame.relationships.reserveCapacity(members.relationships.count)
            frame.relationshipMarks.reserveCapacity(members.relationships.count)
        }
        let relationship = members.relationships[position]
        let token = try source.next()
        frame.relationshipMarks.append(source.mark)
        switch token {
        case .null:
            let target = relationship.isToMany ? RelationshipTarget.nullToMany : .toOne(nil)
            frame.relationships.append(
                GraphRelationship(name: relationship.name, target: target, isOrdered: relationship.isOrdered))
        case .beginArray where relationship.isToMany:
            frame.relationship = position
            frame.relationshipPointer = nil
            frame.elementIndex = -1
        case .beginObject where !relationship.isToMany:
            frame.relationship = position
            let place = place(in: frame.place.pointer, member: relationship.name)
            try openRecord(entity: relationship.destination, at: place)
        case .string, .number, .beginArray, .true, .false, .native:
            guard !relationship.isToMany else {
                throw DocumentError(.wrongType, "\(relationship.name) is to-many and needs an array.", at: source.place)
            }
            let id = try readReference(token, by: relationship, members.destinationKeys[position])
            frame.relationships.append(GraphRelationship(name: relationship.name, target: .toOne(id)))
        default:
            throw DocumentError(.wrongType, "\(relationship.name) needs an array of objects or ids.", at: source.place)
        }
    }

    /// Reads one element of the open to-many relationship, or its end.
    private mutating func readElement() throws {
        guard let members = frame.members else { return }
        let relationship = members.relationships[frame.relationship]
        let token = try source.next()
        frame.elementIndex += 1
        switch token {
        case .endArray:
            closeRelationship()
        case .beginObject:
            let pointer = frame.relationshipPointer ?? frame.place.member(relationship.name).pointer
            frame.relationshipPointer = pointer
            let place = place(in: pointer, index: frame.elementIndex)
            try openRecord(entity: relationship.destination, at: place)
        case .string, .number, .beginArray:
            frame.ids.append(try readReference(token, by: relationship, members.destinationKeys[frame.relationship]))
        default:
            throw DocumentError(
                .wrongType, "An element of \(relationship.name) is neither an object nor an id.", at: source.place)
        }
    }

    private mutating func closeRelationship() {
        guard frame.relationship >= 0, let relationship = frame.members?.relationships[frame.relationship] else {
            return
        }
        let target: RelationshipTarget = relationship.isToMany ? .toMany(frame.ids) : .toOne(frame.ids.first)
        frame.relationships.append(
            GraphRelationship(name: relationship.name, target: target, isOrdered: relationship.isOrdered))
        frame.ids = []
        frame.relationship = -1
    }

    /// Reads a reference that is not an object: an id, or in the plain layout a natural key (an array if it has
    /// parts).
    private mutating func readReference(
        _ token: DocumentToken, by relationship: GraphSchema.Relationship, _ key: PlainKey?
    ) throws -> RecordID {
        if let key { return try readKey(token, key, by: relationship) }
        guard token == .string || token == .number else {
            throw DocumentError(
                .wrongType, "A reference to \(relationship.destination) is not an id.", at: source.place)
        }
        return RecordID(try checkedID())
    }

    private mutating func readKey(
        _ token: DocumentToken, _ key: PlainKey, by relationship: GraphSchema.Relationship
    ) throws -> RecordID {
        if token != .beginArray, key.leaves.count == 1 { return key.id(try readKeyPart(token, key.leaves[0])) }
        var values: [String] = []
        var next = token == .beginArray ? try source.next() : .endArray
        while next != .endArray, values.count < key.leaves.count {
            values.append(try readKeyPart(next, key.leaves[values.count]))
            next = try source.next()
        }
        guard next == .endArray, values.count == key.leaves.count else {
            throw DocumentError(
                .wrongType, "A reference to \(relationship.destination) needs \(key.leaves.count) key values.",
                at: source.place)
        }
        return key.id(values)
    }

    private mutating func readKeyPart(_ token: DocumentToken, _ leaf: GraphSchema.Attribute) throws -> String {
        switch token {
        case .string, .number, .true, .false, .native, .null:
            return TextValue.text(of: try source.value(token, as: leaf.type)) ?? ""
        default:
            throw DocumentError(.wrongType, "A key value is an array or an object.", at: source.place)
        }
    }

    /// The id from the open record's own key, in the plain layout. Nil if a part of the key is missing or null.
    private func keyID(_ key: PlainKey?) -> RecordID? {
        guard let key else { return nil }
        if key.members.count == 1, let value = frame.attribute(key.members[0]) {
            return TextValue.text(of: value).map(key.id)
        }
        var values: [String] = []
        for member in key.members {
            if let value = frame.attribute(member) {
                guard let text = TextValue.text(of: value) else { return nil }
                values.append(text)
            } else if let target = frame.relationships.first(where: { $0.name == member })?.target {
                guard case .toOne(let id?) = target, let parts = id.keyValues else { return nil }
                values += parts
            } else {
                return nil
            }
        }
        return values.isEmpty ? nil : key.id(values)
    }
}

extension RecordFrame {
    /// The value that was read of an attribute.
    fileprivate func attribute(_ name: String) -> GraphValue? {
        for index in attributes.indices where attributes[index].name == name { return attributes[index].value }
        return nil
    }
}
