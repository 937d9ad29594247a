import Foundation

/// The cache nodes of an atomic store as subjects of predicate evaluation. Used while the store is locked.
final class AtomicRowGraph: WholeRowGraph {
    private let store: NSAtomicStore

    init(_ store: NSAtomicStore) {
        self.store = store
    }

    func subjects(of entity: NSEntityDescription, includingSubentities: Bool) -> AnySequence<RowSubject> {
        AnySequence(
            store.cache.entries(of: entity, includingSubentities: includingSubentities).lazy.map {
                self.subject(self.store.key(of: $0.node))
            })
    }

    private func subject(_ key: ObjectKey) -> RowSubject {
        RowSubject(key: key, layout: store.entities[Int(key.entity)].layout, content: .unread, graph: self)
    }

    func subject(for key: ObjectKey) throws -> RowSubject? { subject(key) }

    func read(_ subject: RowSubject) throws {
        subject.content = try store.row(subject.key).map { .values($0.values) } ?? .missing
    }

    func members(field: Int, of subject: RowSubject) throws -> [RowSubject] {
        let toMany = subject.layout.toMany[field]
        guard toMany.isPersistent else { return [] }
        return store.memberKeys(of: toMany, owner: subject.key.number).map(self.subject)
    }

    func objectID(for key: ObjectKey) -> NSManagedObjectID {
        store.persistentStoreCoordinator?.objectID(for: key)
            ?? NSManagedObjectID(
                key: key, entity: store.entities[Int(key.entity)], storeIdentifier: store.identifier)
    }
}
