extension GraphRecord {
    /// The same record in canonical form, for comparisons: properties sorted by name, members of unordered
    /// relationships sorted and without duplicates.
    package var canonical: GraphRecord {
        var record = self
        record.attributes.sort { $0.name < $1.name }
        record.relationships.sort { $0.name < $1.name }
        for index in record.relationships.indices where !record.relationships[index].isOrdered {
            if case .toMany(let ids) = record.relationships[index].target {
                record.relationships[index].target = .toMany(RecordID.sortedSet(ids))
            }
        }
        return record
    }

    var subject: RecordSubject { RecordSubject(entity: entity, id: id) }
}

extension RecordID {
    /// The sorted ids without duplicates.
    static func sortedSet(_ ids: some Sequence<RecordID>) -> [RecordID] {
        Set(ids).sorted { $0.precedes($1) }
    }
}

extension RecordUpdate {
    /// The update that changes one record into another of the same id and entity. Both are canonical.
    package init(from old: GraphRecord, to new: GraphRecord) {
        self.init(id: new.id, entity: new.entity)
        forEachName(old.attributes, new.attributes, \.name) { name, before, after in
            if before?.value != after?.value {
                attributes.append(AttributeChange(name: name, old: before?.value, new: after?.value))
            }
        }
        forEachName(old.relationships, new.relationships, \.name) { name, before, after in
            let isOrdered = (after ?? before)?.isOrdered ?? false
            let change = RelationshipChange(
                name: name, isOrdered: isOrdered, from: before?.target, to: after?.target)
            if let change { relationships.append(change) }
        }
    }

    /// The record with the changes applied, without checking.
    func applied(to record: GraphRecord) -> GraphRecord {
        // Without checking it throws nothing.
        (try? applied(to: record, checking: false)) ?? record
    }

    /// The record with the changes applied. Throws `DeltaError` if the record differs from the old values of the
    /// update.
    func applied(to record: GraphRecord, checking: Bool) throws -> GraphRecord {
        var values = Dictionary(record.attributes.map { ($0.name, $0.value) }, uniquingKeysWith: { $1 })
        for change in attributes {
            if checking, values[change.name] != change.old {
                throw DeltaError(
                    .mismatch, "\(subject).\(change.name) does not have the delta's old value.", at: subject)
            }
            values[change.name] = change.new
        }
        var links = Dictionary(record.relationships.map { ($0.name, $0) }, uniquingKeysWith: { $1 })
        for change in relationships {
            let target = try change.applied(to: links[change.name]?.target, of: subject, checking: checking)
            links[change.name] = target.map {
                GraphRelationship(name: change.name, target: $0, isOrdered: change.isOrdered)
            }
        }
        var result = record
        result.attributes = values.map { GraphAttribute(name: $0.key, value: $0.value) }
        result.relationships = Array(links.values)
        return result.canonical
    }

    var subject: RecordSubject { RecordSubject(entity: entity, id: id) }
}

extension RelationshipChange {
    func applied(
        to target: RelationshipTarget?, of subject: RecordSubject, checking: Bool
    ) throws -> RelationshipTarget? {
        switch change {
        case .replaced(let old, let new):
            if checking, target != old {
                throw DeltaError(
                    .mismatch, "\(subject).\(name) does not have the delta's old destination.", at: subject)
            }
            return new
        case .members(let removed, let added):
            let members = Set(target?.ids ?? [])
            if checking, !members.isSuperset(of: removed) || !members.isDisjoint(with: added) {
                throw DeltaError(.mismatch, "\(subject).\(name) does not have the delta's old members.", at: subject)
            }
            return .toMany(RecordID.sortedSet(members.subtracting(removed).union(added)))
        }
    }
}

/// Iterates over two lists that are sorted by name, pairing elements with the same name.
func forEachName<Element>(
    _ left: [Element], _ right: [Element], _ name: (Element) -> String,
    _ body: (String, Element?, Element?) -> Void
) {
    var (i, j) = (0, 0)
    while i < left.count || j < right.count {
        if j == right.count || (i < left.count && name(left[i]) < name(right[j])) {
            body(name(left[i]), left[i], nil)
            i += 1
        } else if i == left.count || name(right[j]) < name(left[i]) {
            body(name(right[j]), nil, right[j])
            j += 1
        } else {
            body(name(left[i]), left[i], right[j])
            i += 1
            j += 1
        }
    }
}
