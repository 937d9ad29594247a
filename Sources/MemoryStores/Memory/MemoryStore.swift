import CoreDataErrors
import Foundation
import FoundationAdditions
import ManagedObjects
import Synchronization

/// A store that keeps its rows in memory for its lifetime: `NSInMemoryStoreType`.
///
/// Readers use a snapshot of the content; a save replaces the content in one step. A query generation is such a
/// snapshot, which costs nothing to keep.
final class MemoryStore: NSPersistentStore, RowStore, SaveTransaction, @unchecked Sendable {
    // Sendable because a lock guards its content.

    private let content = Mutex(MemoryContent())
    /// Held by each save, and while the conflicts of one are resolved.
    private let saving = NSRecursiveLock()
    private let entities: [NSEntityDescription]

    required init(
        persistentStoreCoordinator root: NSPersistentStoreCoordinator?, configurationName name: String?, at url: URL,
        options: [AnyHashable: Any]? = nil
    ) {
        entities = root?.entities ?? []
        super.init(persistentStoreCoordinator: root, configurationName: name, at: url, options: options)
    }

    override var type: String { NSInMemoryStoreType }

    override func loadMetadata() throws {
        guard let model = persistentStoreCoordinator?.managedObjectModel else { return }
        let names = model.storedEntities(forConfigurationName: configurationIfAny)?.compactMap(\.name) ?? []
        didLoadMetadata([
            NSStoreTypeKey: type, NSStoreUUIDKey: identifier ?? "",
            NSStoreModelVersionHashesKey: model.entityVersionHashesByName.filter { names.contains($0.key) },
            "NSStoreModelVersionHashesVersion": 3,
            NSStoreModelVersionIdentifiersKey: model.versionIdentifiers.compactMap { $0.base as? String }.sorted(),
        ])
    }

    func move(to url: URL) -> Bool {
        self.url = url
        return true
    }

    // MARK: - Reading

    var hasRowsInMemory: Bool { true }

    func pinGeneration() throws -> StoreGeneration { MemoryGeneration(currentContent) }

    func rows(matching query: RowQuery, generation: StoreGeneration?) throws -> RowResult {
        let content = content(of: generation)
        let selected = try select(query, from: content)
        var pages = ValuePages(entities: entities, store: number)
        for key in selected { pages.add(key) { row(key, in: content) } }
        return RowResult(pages: pages.pages, order: pages.order)
    }

    func keys(matching query: RowQuery, generation: StoreGeneration?) throws -> [ObjectKey] {
        try select(query, from: content(of: generation))
    }

    func count(matching query: RowQuery, generation: StoreGeneration?) throws -> Int {
        var unordered = query
        unordered.sortDescriptors = []
        return try select(unordered, from: content(of: generation)).count
    }

    func dictionaries(matching query: ValueQuery, generation: StoreGeneration?) throws -> [NSDictionary] {
        try graph(of: content(of: generation)).dictionaries(matching: query)
    }

    func rows(
        withKeys keys: [Int64], entity: NSEntityDescription, generation: StoreGeneration?
    ) throws -> [RowPage] {
        let content = content(of: generation)
        let root = entity.rootEntity.index
        var pages = ValuePages(entities: entities, store: number)
        for key in keys {
            guard let row = content.row(root: root, key: key) else { continue }
            pages.add(ObjectKey(store: number, entity: row.entity, number: key)) { row }
        }
        return pages.pages
    }

    func members(
        of relationship: NSRelationshipDescription, owners: [Int64], ownerEntity: NSEntityDescription,
        includesRows: Bool, isKnown: (ObjectKey) -> Bool, generation: StoreGeneration?
    ) throws -> MemberResult {
        let content = content(of: generation)
        guard let toMany = ownerEntity.layout.toMany.first(where: { $0.name == relationship.name }) else {
            throw CocoaError(
                .coreData, "“\(ownerEntity.name ?? "").\(relationship.name)” is not a to-many relationship.", url: url)
        }
        let find: (Int64) -> [(key: Int64, position: Int64?)]
        let hasPositions: Bool
        switch toMany.storage {
        case .memberSlot(let slot, let position):
            let index = content.memberIndex(of: toMany, slot: slot, position: position)
            if let generation = generation as? MemoryGeneration {
                generation.keep(index, as: MemberIndex.Name(toMany))
            } else {
                self.content.withLock { $0.memberIndexes[MemberIndex.Name(toMany)] = index }
            }
            find = { index.members(of: $0).map { ($0, nil) } }
            hasPositions = false
        case .pairs:
            find = { content.members(of: relationship, owner: $0) }
            hasPositions = toMany.isOrdered
        }
        let root = toMany.destination.rootEntity.index
        var result = MemberResult()
        var pages = ValuePages(entities: entities, store: number)
        for owner in owners {
            for (key, position) in find(owner) {
                guard let row = content.row(root: root, key: key) else { continue }
                let member = ObjectKey(store: number, entity: row.entity, number: key)
                result.members.append(member)
                if hasPositions { result.positions.append(position ?? 0) }
                if includesRows, !isKnown(member) { pages.add(member) { row } }
            }
            result.starts.append(Int32(truncatingIfNeeded: result.members.count))
        }
        result.pages = pages.pages
        return result
    }

    private var currentContent: MemoryContent { content.withLock { $0 } }

    private func content(of generation: StoreGeneration?) -> MemoryContent {
        (generation as? MemoryGeneration)?.content ?? currentContent
    }

    private func row(_ key: ObjectKey, in content: MemoryContent) -> ValueRow? {
        content.row(root: entities[Int(key.entity)].rootEntity.index, key: key.number)
    }

    private func graph(of content: MemoryContent) -> MemoryRowGraph {
        let coordinator = persistentStoreCoordinator
        return MemoryRowGraph(
            content: content, entities: entities, store: number,
            identify: { [entities, identifier] key in
                coordinator?.objectID(for: key)
                    ?? NSManagedObjectID(
                        key: key, entity: entities[Int(key.entity)], storeIdentifier: identifier)
            },
            keep: { change in self.content.withLock { change(&$0) } })
    }

    private func select(_ query: RowQuery, from content: MemoryContent) throws -> [ObjectKey] {
        guard query.predicate != nil || !query.sortDescriptors.isEmpty || !query.excluded.isEmpty else {
            var keys: [ObjectKey] = []
            var skipped = 0
            for (key, row) in content.rows(of: query.entity, includingSubentities: query.includesSubentities) {
                skipped += 1
                if skipped <= query.offset { continue }
                keys.append(ObjectKey(store: number, entity: row.entity, number: key))
                if keys.count == query.limit { break }
            }
            return keys
        }
        return try graph(of: content).keys(matching: query)
    }

    // MARK: - Writing

    func reserveKeys(entity: NSEntityDescription, count: Int) throws -> ClosedRange<Int64> {
        let root = entity.rootEntity
        let amount = Int64(max(1, count))
        return try content.withLock { content -> ClosedRange<Int64>? in
            let last = content.tables[root.index]?.lastKey ?? 0
            let (end, isTooLarge) = last.addingReportingOverflow(amount)
            guard !isTooLarge else { return nil }
            content.tables[root.index, default: MemoryTable()].lastKey = end
            return (last + 1)...end
        } ?? { throw CocoaError.noPrimaryKeysLeft(ofEntity: root.name, url) }()
    }

    func inSaveTransaction<Result>(_ body: (any SaveTransaction) throws -> Result) throws -> Result {
        try saving.withLock { try body(self) }
    }

    func conflicts(of plan: SavePlan) throws -> SaveConflicts {
        let prepared = Prepared(plan: plan.encodingTransformables())
        let content = currentContent
        return try withCurrentRows(conflicts(of: prepared, in: content), content)
    }

    private func conflicts(of prepared: Prepared, in content: MemoryContent) -> SaveConflicts {
        SaveConflicts(
            stale: prepared.plan.stale(in: content),
            taken: content.uniqueness.conflicts(of: prepared.plan, in: content, store: number))
    }

    func write(_ plan: SavePlan) throws -> SaveOutcome {
        if isReadOnly {
            throw CocoaError(.fileWriteNoPermission, "The store was added for reading only.", url: url)
        }
        let prepared = Prepared(plan: plan.encodingTransformables())
        let conflicts = saving.withLock {
            content.withLock { content -> Conflicts in
                let found = self.conflicts(of: prepared, in: content)
                guard found.isEmpty else { return Conflicts(found: found, content: content) }
                content.apply(prepared.plan)
                return Conflicts(found: found, content: nil)
            }
        }
        guard let content = conflicts.content else {
            if let metadata = plan.metadata { didLoadMetadata(metadata) } else { didSaveMetadata() }
            return SaveOutcome()
        }
        throw try withCurrentRows(conflicts.found, content)
    }

    private struct Prepared: @unchecked Sendable {  // because it is never changed
        let plan: SavePlan
    }

    private struct Conflicts: @unchecked Sendable {  // because it is never changed
        let found: SaveConflicts
        /// The content at the time of the conflicts; nil when there are none.
        let content: MemoryContent?
    }

    /// The conflicts, with the current rows.
    private func withCurrentRows(_ conflicts: SaveConflicts, _ content: MemoryContent) throws -> SaveConflicts {
        var conflicts = conflicts
        for index in conflicts.stale.indices {
            let key = conflicts.stale[index].key
            let root = entities[conflicts.stale[index].entity].rootEntity.index
            guard let row = content.row(root: root, key: key) else { continue }
            var pages = ValuePages(entities: entities, store: number)
            pages.add(ObjectKey(store: number, entity: row.entity, number: key)) { row }
            conflicts.stale[index].current = pages.pages.first.map { ($0, 0) }
        }
        return conflicts
    }
}
