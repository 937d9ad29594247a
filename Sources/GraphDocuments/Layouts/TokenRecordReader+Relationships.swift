// The relationships of records.

extension TokenRecordReader {
    mutating func readRelationship(_ position: Int, _ members: EntityMembers) throws {
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
    mutating func readElement() throws {
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

    mutating func closeRelationship() {
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
        case .string, .number, .true, .false, .native:
            guard let text = TextValue.text(of: try source.value(token, as: leaf.type)) else {
                throw DocumentError(.wrongType, "A key value is not a single value.", at: source.place)
            }
            return text
        // An object whose key has no value cannot be referred to, and an empty text is another key.
        case .null: throw DocumentError(.wrongType, "A key value is null.", at: source.place)
        default:
            throw DocumentError(.wrongType, "A key value is an array or an object.", at: source.place)
        }
    }

    /// The id from the open record's own key, in the plain layout. Nil if a part of the key is missing or null.
    func keyID(_ key: PlainKey?) -> RecordID? {
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

extension TokenRecordReader {
    /// Reads an attribute's value whose first token is given.
    mutating func readValue(_ token: DocumentToken, _ attribute: GraphSchema.Attribute) throws -> GraphValue {
        try source.readValue(token, attribute, keepsMismatchedValues: options.keepsMismatchedValues)
    }

    /// Reads a tree of plain values whose first token is given. 64 levels at most, whatever the limits are:
    /// deallocating a tree is recursive.
    mutating func readTree(_ token: DocumentToken) throws -> ReadableValue {
        try source.readTree(token)
    }
}
