import Foundation

/// The rows of any store, read on demand during an evaluation.
///
/// Rows and members are read at once for all rows known so far, so that a predicate over a relationship costs one
/// statement for each step of its key path and not one for each row.
package final class StoreRowGraph: RowGraph {
    private let store: any RowStore
    private let coordinator: NSPersistentStoreCoordinator
    private let generation: (any StoreGeneration)?
    private var subjects: [ObjectKey: RowSubject] = [:]
    /// Known rows that are not yet read.
    private var unread: [RowSubject] = []
    /// The members of relationships, by index in the layout, of the rows of each entity.
    private var members: [MemberKey: [ObjectKey: [RowSubject]]] = [:]

    /// How many reads there had been when the destinations of a slot of all known rows were last added to those to read.
    private var gathered: [MemberKey: Int] = [:]
    private var readCount = 0

    /// A slot or a to-many relationship of an entity.
    private struct MemberKey: Hashable {
        let entity: UInt16
        let field: Int
    }

    package init(store: any RowStore, coordinator: NSPersistentStoreCoordinator, generation: (any StoreGeneration)?) {
        self.store = store
        self.coordinator = coordinator
        self.generation = generation
    }

    /// The rows of pages, in the order of a result.
    package func subjects(of result: RowResult) -> [RowSubject] {
        result.order.map { position in
            let page = result.pages[Int(position.page)]
            return subject(page: page, row: Int(position.row))
        }
    }

    private func subject(page: RowPage, row: Int) -> RowSubject {
        let key = page.key(ofRow: row)
        if let known = subjects[key] {
            if case .unread = known.content { known.content = .page(page, row: row) }
            return known
        }
        let subject = RowSubject(key: key, layout: page.layout, content: .page(page, row: row), graph: self)
        subjects[key] = subject
        return subject
    }

    package func subject(for key: ObjectKey) throws -> RowSubject? {
        if let known = subjects[key] { return known }
        guard coordinator.entities.indices.contains(Int(key.entity)) else { return nil }
        let subject = RowSubject(
            key: key, layout: coordinator.entities[Int(key.entity)].layout, content: .unread, graph: self)
        subjects[key] = subject
        unread.append(subject)
        return subject
    }

    /// The destinations of all known rows are read with the first of them.
    package func destination(_ key: ObjectKey, slot: Int, of subject: RowSubject) throws -> RowSubject? {
        let reference = MemberKey(entity: subject.key.entity, field: slot)
        if gathered.updateValue(readCount, forKey: reference) != readCount {
            for other in subjects.values where other.key.entity == subject.key.entity {
                guard case .page = other.content, case .reference(let key) = try other.value(slot: slot) else {
                    continue
                }
                _ = try self.subject(for: key)
            }
        }
        return try self.subject(for: key)
    }

    package func read(_ subject: RowSubject) throws {
        readCount += 1
        let root = subject.layout.entity.rootEntity
        let wanted = unread.filter { $0.layout.entity.rootEntity === root }
        unread.removeAll { $0.layout.entity.rootEntity === root }
        for page in try store.rows(withKeys: wanted.map(\.key.number), entity: root, generation: generation) {
            for row in 0..<page.count { _ = self.subject(page: page, row: row) }
        }
        for subject in wanted {
            if case .unread = subject.content { subject.content = .missing }
        }
        if case .unread = subject.content { subject.content = .missing }
    }

    package func members(field: Int, of subject: RowSubject) throws -> [RowSubject] {
        let memberKey = MemberKey(entity: subject.key.entity, field: field)
        if let known = members[memberKey]?[subject.key] { return known }
        let relationship = subject.layout.toMany[field].relationship
        guard subject.layout.toMany[field].isPersistent else { return [] }
        readCount += 1
        var owners = subjects.values.filter {
            $0.key.entity == subject.key.entity && members[memberKey]?[$0.key] == nil
        }
        owners.sort { $0.key.number < $1.key.number }
        let result = try store.members(
            of: relationship, owners: owners.map(\.key.number), ownerEntity: subject.layout.entity, includesRows: true,
            generation: generation)
        for page in result.pages {
            for row in 0..<page.count { _ = self.subject(page: page, row: row) }
        }
        for (index, owner) in owners.enumerated() {
            let range = Int(result.starts[index])..<Int(result.starts[index + 1])
            members[memberKey, default: [:]][owner.key] = try result.members[range].compactMap(self.subject(for:))
        }
        return members[memberKey]?[subject.key] ?? []
    }

    package func objectID(for key: ObjectKey) -> NSManagedObjectID { coordinator.objectID(for: key) }
}
