import CoreDataErrors
import Foundation
import FoundationAdditions
import ManagedObjects
import StoreSupport

// The row interface of an atomic store. All of it is internal: subclasses use nodes and objects.

extension NSAtomicStore {
    package final func rows(matching query: RowQuery, generation: StoreGeneration?) throws -> RowResult {
        try locked {
            var pages = ValuePages(entities: entities, store: number)
            for key in try AtomicRowGraph(self).keys(matching: query) { try pages.add(key) { try row(key) } }
            return RowResult(pages: pages.pages, order: pages.order)
        }
    }

    package final func keys(matching query: RowQuery, generation: StoreGeneration?) throws -> [ObjectKey] {
        try locked { try AtomicRowGraph(self).keys(matching: query) }
    }

    package final func count(matching query: RowQuery, generation: StoreGeneration?) throws -> Int {
        var unordered = query
        unordered.sortDescriptors = []
        return try keys(matching: unordered, generation: generation).count
    }

    package final func dictionaries(matching query: ValueQuery, generation: StoreGeneration?) throws -> [NSDictionary] {
        try locked { try AtomicRowGraph(self).dictionaries(matching: query) }
    }

    package final func rows(
        withKeys keys: [Int64], entity: NSEntityDescription, generation: StoreGeneration?
    ) throws -> [RowPage] {
        try locked {
            var pages = ValuePages(entities: entities, store: number)
            for key in keys {
                guard let entry = cache.entry(of: key, root: entity.rootEntity.index) else { continue }
                let key = self.key(of: entry.node)
                try pages.add(key) { try row(key) }
            }
            return pages.pages
        }
    }

    package final func members(
        of relationship: NSRelationshipDescription, owners: [Int64], ownerEntity: NSEntityDescription,
        includesRows: Bool, isKnown: (ObjectKey) -> Bool, generation: StoreGeneration?
    ) throws -> MemberResult {
        guard let toMany = ownerEntity.layout.toMany.first(where: { $0.name == relationship.name }) else {
            throw CocoaError(
                .coreData, "“\(ownerEntity.name ?? "").\(relationship.name)” is not a to-many relationship.", url: url)
        }
        return try locked {
            var result = MemberResult()
            var pages = ValuePages(entities: entities, store: number)
            for owner in owners {
                result.append(memberKeys(of: toMany, owner: owner), to: toMany)
                guard includesRows else { continue }
                for key in result.members[Int(result.starts[result.starts.count - 2])...] where !isKnown(key) {
                    try pages.add(key) { try row(key) }
                }
            }
            result.pages = pages.pages
            return result
        }
    }

    // MARK: - Writing

    package final func reserveKeys(for objects: [NSManagedObject]) throws -> [Int64] {
        try locked {
            try objects.map { object in
                let number = references?.number(of: newReferenceObject(for: object), entity: object.entity) ?? 0
                guard cache.entry(of: number, root: object.entity.rootEntity.index) == nil else {
                    throw CocoaError(
                        .persistentStoreSave, "The store assigned another object's reference object to a new object.",
                        url: url)
                }
                return number
            }
        }
    }

    package final func adopt(_ objects: [NSManagedObject]) throws {
        try locked {
            guard cache.nodes.isEmpty else {
                throw CocoaError(.persistentStoreOperation, "The target store already has objects.", url: url)
            }
            for object in objects {
                let reference = newReferenceObject(for: object)
                guard references?.assign(reference, to: object.key.number, entity: object.entity) == true else {
                    throw CocoaError(
                        .persistentStoreSave, "The store assigned another object's reference object to a new object.",
                        url: url)
                }
            }
        }
    }

    package final func write(_ changes: StoreChanges, in context: NSManagedObjectContext) throws {
        if isReadOnly { throw CocoaError(.fileWriteNoPermission, "The store was added for reading only.", url: url) }
        try locked {
            let conflicts = try conflicts(with: changes)
            guard conflicts.isEmpty else { throw SaveConflicts(stale: conflicts) }
            let before = AtomicStoreState(self, changes)
            do {
                try change(changes)
                try save()
            } catch {
                before.restore()
                throw error
            }
            didSaveMetadata()
        }
    }

    package final func excludingWriters<Result>(_ body: () throws -> Result) rethrows -> Result { try locked(body) }

    private func conflicts(with changes: StoreChanges) throws -> [SaveConflicts.Stale] {
        try (changes.updated + changes.deleted).compactMap { object in
            let key = object.key
            let entry = cache.entry(of: key.number, root: object.entity.rootEntity.index)
            guard entry?.version != object.version else { return nil }
            var pages = ValuePages(entities: entities, store: number)
            if let node = entry?.node {
                let current = self.key(of: node)
                try pages.add(current) { try row(current) }
            }
            return SaveConflicts.Stale(
                entity: object.entity.index, key: key.number, expectedVersion: object.version,
                current: pages.pages.first.map { ($0, 0) })
        }
    }

    /// Updates the cache to the state of the context, calling the subclass in the documented order.
    private func change(_ changes: StoreChanges) throws {
        if !changes.inserted.isEmpty {
            unlinked = []
            let nodes = changes.inserted.map { newCacheNode(for: $0) }
            addCacheNodes(Set(nodes))
            let waiting = unlinked ?? []
            unlinked = nil
            for (node, object) in waiting { setRelationships(of: node, from: object) }
        }
        for object in changes.updated {
            guard let entry = cache.entry(of: object.key.number, root: object.entity.rootEntity.index) else { continue }
            updateCacheNode(entry.node, from: object)
            cache.setVersion(entry.version + 1, of: entry.node)
        }
        let removed = changes.deleted.compactMap {
            cache.entry(of: $0.key.number, root: $0.entity.rootEntity.index)?.node
        }
        if !removed.isEmpty {
            willRemoveCacheNodes(Set(removed))
            for node in removed { cache.remove(node) }
        }
    }
}

/// The cache of an atomic store before a save, to be restored if the save fails.
private struct AtomicStoreState {
    private let store: NSAtomicStore
    private let cache: AtomicStoreCache
    /// Restore the values of the nodes that the save changes.
    private let restoreValues: [() -> Void]

    init(_ store: NSAtomicStore, _ changes: StoreChanges) {
        self.store = store
        cache = store.cache
        restoreValues = changes.updated.compactMap { object in
            store.cache.entry(of: object.key.number, root: object.entity.rootEntity.index)?.node.savedValues()
        }
    }

    func restore() {
        store.cache = cache
        store.unlinked = nil
        for restore in restoreValues { restore() }
    }
}
