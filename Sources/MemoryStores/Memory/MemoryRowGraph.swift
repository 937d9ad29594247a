import FoundationAdditions
import ManagedObjects
import PredicateLanguage

/// The rows of a store in memory, for the evaluation of predicates and sort descriptors.
final class MemoryRowGraph: WholeRowGraph {
    let content: MemoryContent
    fileprivate let entities: [NSEntityDescription]
    fileprivate let store: UInt16
    /// The members of the relationships used so far: one pass over the rows of the other side for each.
    private var indexes: [MemberIndex.Name: MemberIndex] = [:]
    private let identify: (ObjectKey) -> NSManagedObjectID
    /// Changes the caches of the store's content.
    private let keep: ((inout MemoryContent) -> Void) -> Void

    init(
        content: MemoryContent, entities: [NSEntityDescription], store: UInt16,
        identify: @escaping (ObjectKey) -> NSManagedObjectID,
        keep: @escaping ((inout MemoryContent) -> Void) -> Void
    ) {
        self.content = content
        self.entities = entities
        self.store = store
        self.identify = identify
        self.keep = keep
    }

    func subjects(of entity: NSEntityDescription, includingSubentities: Bool) -> Subjects {
        Subjects(rows: content.rows(of: entity, includingSubentities: includingSubentities), graph: self)
    }

    func candidates(for query: RowQuery) -> Subjects {
        let rows = content.rows(
            of: query.entity, includingSubentities: query.includesSubentities, among: selectedKeys(of: query))
        return Subjects(rows: rows, graph: self)
    }

    struct Subjects: Sequence, IteratorProtocol {
        private var rows: MemoryContent.Rows
        private let graph: MemoryRowGraph
        private var last: RowSubject?

        fileprivate init(rows: MemoryContent.Rows, graph: MemoryRowGraph) {
            (self.rows, self.graph) = (rows, graph)
        }

        mutating func next() -> RowSubject? {
            guard let (key, row) = rows.next() else { return nil }
            return RowSubject.next(
                after: &last, key: ObjectKey(store: graph.store, entity: row.entity, number: key),
                layout: graph.entities[Int(row.entity)].layout, content: .values(row.values), graph: graph)
        }
    }

    /// The keys of the rows with a value that the predicate requires; nil if no index has them. A value is indexed when it is
    /// asked for the second time since rows have changed.
    private func selectedKeys(of query: RowQuery) -> ContiguousArray<Int64>? {
        guard let predicate = query.predicate else { return nil }
        var smallest: ContiguousArray<Int64>?
        for required in RequiredValue.all(of: predicate.embeddedNode) {
            guard let name = ValueIndex.Name(required.key, of: query),
                let index = content.valueIndex(name, make: { ValueIndex(name, of: query.entity, in: self) }, keep: keep)
            else { continue }
            let found = index.keys(of: required.values)
            if smallest == nil || found.count < smallest?.count ?? 0 { smallest = found }
        }
        return smallest
    }

    private func subject(key: Int64, row: ValueRow) -> RowSubject {
        RowSubject(
            key: ObjectKey(store: store, entity: row.entity, number: key), layout: entities[Int(row.entity)].layout,
            content: .values(row.values), graph: self)
    }

    func subject(for key: ObjectKey) throws -> RowSubject? {
        guard key.store == store, entities.indices.contains(Int(key.entity)) else { return nil }
        let root = entities[Int(key.entity)].rootEntity.index
        return content.row(root: root, key: key.number).map { subject(key: key.number, row: $0) }
    }

    /// Does nothing: subjects are created with their rows.
    func read(_ subject: RowSubject) throws {}

    func members(field: Int, of subject: RowSubject) throws -> [RowSubject] {
        let toMany = subject.layout.toMany[field]
        let root = toMany.destination.rootEntity.index
        return memberKeys(of: toMany, owner: subject.key.number).compactMap { key in
            content.row(root: root, key: key).map { self.subject(key: key, row: $0) }
        }
    }

    private func memberKeys(of toMany: EntityLayout.ToMany, owner: Int64) -> [Int64] {
        switch toMany.storage {
        case .memberSlot(let slot, let position):
            let name = MemberIndex.Name(toMany)
            let index = indexes[name] ?? content.memberIndex(of: toMany, slot: slot, position: position)
            indexes[name] = index
            return index.members(of: owner)
        case .pairs:
            return content.members(of: toMany.relationship, owner: owner).map(\.key)
        }
    }

    func objectID(for key: ObjectKey) -> NSManagedObjectID { identify(key) }
}
