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
            let id = try readReference(token, to: relationship.destination)
            frame.relationships.append(GraphRelationship(name: relationship.name, target: .toOne(id)))
        default:
            throw DocumentError(.wrongType, "\(relationship.name) needs an array of objects or ids.", at: source.place)
        }
    }

    /// Reads one element of the open to-many relationship, or its end.
    mutating func readElement() throws {
        guard let relationship = frame.members?.relationships[frame.relationship] else { return }
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
            frame.ids.append(try readReference(token, to: relationship.destination))
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
    private mutating func readReference(_ token: DocumentToken, to destination: String) throws -> RecordID {
        if let keys, let leaves = keys.leaves[destination], !leaves.isEmpty {
            return try readKey(token, of: destination, leaves, keys)
        }
        guard token == .string || token == .number else {
            throw DocumentError(.wrongType, "A reference to \(destination) is not an id.", at: source.place)
        }
        return RecordID(try checkedID())
    }

    private mutating func readKey(
        _ token: DocumentToken, of destination: String, _ leaves: [GraphSchema.Attribute], _ keys: PlainKeys
    ) throws -> RecordID {
        var values: [String] = []
        if token == .beginArray {
            var next = try source.next()
            while next != .endArray, values.count < leaves.count {
                values.append(try readKeyPart(next, leaves[values.count]))
                next = try source.next()
            }
            guard next == .endArray else { throw wrongKey(destination, leaves) }
        } else {
            values = [try readKeyPart(token, leaves[0])]
        }
        guard values.count == leaves.count else { throw wrongKey(destination, leaves) }
        return keys.id(of: destination, values: values)
    }

    private func wrongKey(_ destination: String, _ leaves: [GraphSchema.Attribute]) -> DocumentError {
        DocumentError(
            .wrongType, "A reference to \(destination) needs \(leaves.count) key values.", at: source.place)
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
    func keyID(entity: String) -> RecordID? {
        guard let keys, let layout = options.plainLayout?.entities.first(where: { $0.name == entity }) else {
            return nil
        }
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
