// The form of changes in documents: trees whose values are tagged with their types, so that no model is needed to read
// them.

extension RecordChange {
    private enum Word {
        static let insert = "insert"
        static let update = "update"
        static let delete = "delete"
        /// The id of an updated record in the old state: absent if it is the same, null if it is not known.
        static let old = "old"
        static let entity = "entity"
        static let attributes = "attributes"
        static let relationships = "relationships"
    }

    /// The change as a tree.
    var tree: ReadableValue {
        switch self {
        case .inserted(let record): RecordChange.tree(Word.insert, record)
        case .deleted(let record): RecordChange.tree(Word.delete, record)
        case .updated(let update):
            RecordChange.tree(
                Word.update, update.id, oldID: update.oldID, update.entity,
                update.attributes.map { .init(name: $0.name, value: $0.tree) },
                update.relationships.map { .init(name: $0.name, value: $0.tree) })
        }
    }

    private static func tree(_ word: String, _ record: GraphRecord) -> ReadableValue {
        tree(
            word, record.id, record.entity, record.attributes.map { .init(name: $0.name, value: .value($0.value)) },
            record.relationships.map { .init(name: $0.name, value: $0.target.tree(isOrdered: $0.isOrdered)) })
    }

    private static func tree(
        _ word: String, _ id: RecordID, oldID: RecordUpdate.OldID = .same, _ entity: String,
        _ attributes: [ReadableValue.Member], _ relationships: [ReadableValue.Member]
    ) -> ReadableValue {
        var members: [ReadableValue.Member] = [.init(name: word, value: .value(.string(id.text)))]
        switch oldID {
        case .same: break
        case .renamed(let old): members.append(.init(name: Word.old, value: .value(.string(old.text))))
        case .unknown: members.append(.init(name: Word.old, value: .value(.null)))
        }
        members.append(.init(name: Word.entity, value: .value(.string(entity))))
        if !attributes.isEmpty { members.append(.init(name: Word.attributes, value: .dictionary(attributes))) }
        if !relationships.isEmpty { members.append(.init(name: Word.relationships, value: .dictionary(relationships))) }
        return .dictionary(members)
    }

    /// Reads a change from its tree. Throws `DocumentError`.
    init(_ tree: ReadableValue, at place: DocumentPlace) throws {
        let words = [Word.insert, Word.update, Word.delete]
        guard let word = words.first(where: { tree.member($0) != nil }), let id = tree.member(word)?.string,
            let entity = tree.member(Word.entity)?.string
        else { throw DocumentError(.syntax, "A change has no kind or no record.", at: place) }
        let attributes = try tree.member(Word.attributes)?.members(at: place) ?? []
        let relationships = try tree.member(Word.relationships)?.members(at: place) ?? []
        guard word == Word.update else {
            var record = GraphRecord(id: RecordID(id), entity: entity)
            record.attributes = try attributes.map {
                GraphAttribute(name: $0.name, value: try $0.value.scalar(at: place))
            }
            record.relationships = try relationships.map {
                let (target, isOrdered) = try RelationshipTarget.read($0.value, at: place)
                return GraphRelationship(name: $0.name, target: target, isOrdered: isOrdered)
            }
            self = word == Word.insert ? .inserted(record.canonical) : .deleted(record.canonical)
            return
        }
        var update = RecordUpdate(id: RecordID(id), entity: entity)
        switch tree.member(Word.old) {
        case nil: break
        case .value(.null): update.oldID = .unknown
        case .value(.string(let old)): update.oldID = old == id ? .same : .renamed(from: RecordID(old))
        default: throw DocumentError(.wrongType, "The old id of a change is not a text.", at: place)
        }
        update.attributes = try attributes.map { member in
            AttributeChange(
                name: member.name, old: try member.value.member(Side.old)?.scalar(at: place),
                new: try member.value.member(Side.new)?.scalar(at: place))
        }.sorted { $0.name < $1.name }
        update.relationships = try relationships.map { member in
            try RelationshipChange(member.name, member.value, at: place)
        }.sorted { $0.name < $1.name }
        self = .updated(update)
    }
}

private enum Side {
    static let old = "old"
    static let new = "new"
    static let removed = "removed"
    static let added = "added"
    static let ordered = "ordered"
    static let many = "many"
}

extension AttributeChange {
    fileprivate var tree: ReadableValue {
        var members: [ReadableValue.Member] = []
        if let old { members.append(.init(name: Side.old, value: .value(old))) }
        if let new { members.append(.init(name: Side.new, value: .value(new))) }
        return .dictionary(members)
    }
}

extension RelationshipChange {
    fileprivate var tree: ReadableValue {
        switch change {
        case .members(let removed, let added):
            return .dictionary([
                .init(name: Side.removed, value: .ids(removed)), .init(name: Side.added, value: .ids(added)),
            ])
        case .replaced(let old, let new):
            var members: [ReadableValue.Member] = []
            if let old { members.append(.init(name: Side.old, value: old.tree(isOrdered: isOrdered))) }
            if let new { members.append(.init(name: Side.new, value: new.tree(isOrdered: isOrdered))) }
            return .dictionary(members)
        }
    }

    fileprivate init(_ name: String, _ tree: ReadableValue, at place: DocumentPlace) throws {
        if let removed = tree.member(Side.removed), let added = tree.member(Side.added) {
            self.init(
                name: name, isOrdered: false,
                change: .members(removed: try removed.ids(at: place), added: try added.ids(at: place)))
            return
        }
        let old = try tree.member(Side.old).map { try RelationshipTarget.read($0, at: place) }
        let new = try tree.member(Side.new).map { try RelationshipTarget.read($0, at: place) }
        self.init(
            name: name, isOrdered: (new ?? old)?.isOrdered ?? false,
            change: .replaced(old: old?.target, new: new?.target))
    }
}

extension RelationshipTarget {
    /// An id, null, or an array of ids; inside `ordered` for an ordered relationship, `many` for a null of a to-many.
    fileprivate func tree(isOrdered: Bool) -> ReadableValue {
        switch self {
        case .toOne(let id): id.map { .value(.string($0.text)) } ?? .value(.null)
        case .toMany(let ids): isOrdered ? .dictionary([.init(name: Side.ordered, value: .ids(ids))]) : .ids(ids)
        case .nullToMany: .dictionary([.init(name: isOrdered ? Side.ordered : Side.many, value: .value(.null))])
        }
    }

    fileprivate static func read(
        _ tree: ReadableValue, at place: DocumentPlace
    ) throws -> (target: RelationshipTarget, isOrdered: Bool) {
        switch tree {
        case .value(.null): return (.toOne(nil), false)
        case .value(.string(let id)): return (.toOne(RecordID(id)), false)
        case .array: return (.toMany(try tree.ids(at: place)), false)
        default:
            let ordered = tree.member(Side.ordered)
            guard let inner = ordered ?? tree.member(Side.many) else {
                throw DocumentError(.syntax, "A relationship of a change has no valid ids.", at: place)
            }
            if inner == .value(.null) { return (.nullToMany, ordered != nil) }
            return (.toMany(try inner.ids(at: place)), ordered != nil)
        }
    }
}

extension ReadableValue {
    fileprivate static func ids(_ ids: [RecordID]) -> ReadableValue { .array(ids.map { .value(.string($0.text)) }) }

    fileprivate var string: String? { if case .value(.string(let text)) = self { text } else { nil } }

    fileprivate func members(at place: DocumentPlace) throws -> [Member] {
        guard case .dictionary(let members) = self else {
            throw DocumentError(.syntax, "The properties of a change are not an object.", at: place)
        }
        return members
    }

    fileprivate func scalar(at place: DocumentPlace) throws -> GraphValue {
        guard case .value(let value) = self else {
            throw DocumentError(.wrongType, "The value of a change is an array or an object.", at: place)
        }
        return value
    }

    fileprivate func ids(at place: DocumentPlace) throws -> [RecordID] {
        guard case .array(let values) = self, case let texts = values.compactMap(\.string), texts.count == values.count
        else { throw DocumentError(.syntax, "A relationship of a change has no valid ids.", at: place) }
        return texts.map { RecordID($0) }
    }
}
