import CoreDataErrors
import Foundation

/// A map from temporary keys to the permanent ones that replace them.
///
/// Temporary numbers decrease by one from object to object, so most sets of them are a short range and an array is
/// used.
struct PermanentKeys {
    private var newest: Int64 = 0
    private var dense: ContiguousArray<ObjectKey?> = []
    private var sparse: [Int64: ObjectKey] = [:]

    init(_ pairs: [(temporary: Int64, permanent: ObjectKey)]) {
        guard let highest = pairs.map(\.temporary).max(), let lowest = pairs.map(\.temporary).min() else { return }
        if highest - lowest < Int64(pairs.count) * 4 + 64 {
            newest = highest
            dense = ContiguousArray(repeating: nil, count: Int(highest - lowest) + 1)
            for pair in pairs { dense[Int(highest - pair.temporary)] = pair.permanent }
        } else {
            sparse = Dictionary(pairs.map { ($0.temporary, $0.permanent) }, uniquingKeysWith: { $1 })
        }
    }

    func permanent(_ key: ObjectKey) -> ObjectKey {
        guard key.number < 0 else { return key }
        if dense.isEmpty { return sparse[key.number] ?? key }
        let index = newest - key.number
        guard index >= 0, index < dense.count else { return key }
        return dense[Int(index)] ?? key
    }
}

// Permanent keys of new objects, before they are saved.

extension NSManagedObjectContext {
    /// New objects of one store that get their keys together.
    struct KeyGroup {
        let store: any RowStore
        let root: NSEntityDescription
        var objects: ContiguousArray<NSManagedObject>
    }

    /// Assigns the permanent keys in their stores to objects: to all of them, or on an error to none.
    final func assignPermanentKeys(to objects: some Sequence<NSManagedObject>) throws {
        try assignPermanentKeys(to: keyGroups(of: objects))
    }

    /// The objects without permanent keys, by the stores that assign them.
    ///
    /// - Throws: Code 134020 if no store contains the entity of an object.
    final func keyGroups(of objects: some Sequence<NSManagedObject>) throws -> [KeyGroup] {
        guard let coordinator = rootCoordinator else { return [] }
        var groups: [KeyGroup] = []
        // The group of each entity's objects without an assigned store, by the entity's index in the model.
        var groupOfEntity = [Int?](repeating: nil, count: registry.layouts.count)
        for object in objects where object.key.isTemporary {
            let assigned = object.assignedStore
            if assigned == nil, let group = groupOfEntity[object.layout.index] {
                groups[group].objects.append(object)
                continue
            }
            let store = try coordinator.rowStore(for: object.entity, assigned: assigned).answering(self)
            let root = object.entity.rootEntity
            // An `ObjectStore` assigns the keys of all its new objects in one call.
            let isWhole = store.objectStore != nil
            let group = groups.firstIndex { $0.store === store && (isWhole || $0.root === root) }
            if let group {
                groups[group].objects.append(object)
            } else {
                groups.append(KeyGroup(store: store, root: root, objects: [object]))
            }
            if assigned == nil { groupOfEntity[object.layout.index] = group ?? groups.count - 1 }
        }
        return groups
    }

    final func assignPermanentKeys(to groups: [KeyGroup]) throws {
        guard !groups.isEmpty else { return }
        let count = groups.reduce(0) { $0 + $1.objects.count }
        var pairs: [(temporary: Int64, permanent: ObjectKey)] = []
        pairs.reserveCapacity(count)
        var ends: [Int] = []
        for group in groups {
            defer { ends.append(pairs.count) }
            func add(_ numbers: some Sequence<Int64>) {
                for (object, number) in zip(group.objects, numbers) {
                    let key = ObjectKey(store: group.store.number, entity: object.key.entity, number: number)
                    pairs.append((object.key.number, key))
                }
            }
            if let store = group.store.objectStore {
                add(try store.reserveKeys(for: Array(group.objects)))
            } else {
                add(try planTarget(of: group.store).reserveKeys(entity: group.root, count: group.objects.count))
            }
        }
        // Renamed when nothing can fail any more.
        var start = 0
        for (group, end) in zip(groups, ends) {
            for (object, pair) in zip(group.objects, pairs[start..<end]) { rename(object, pair.permanent) }
            start = end
        }
        resolveReferences(by: pairs)
        keysOfTransaction?.append(contentsOf: pairs)
    }

    /// Gives objects their temporary keys again, after the transaction has failed in which others were reserved.
    final func withdraw(_ pairs: [(temporary: Int64, permanent: ObjectKey)]) {
        guard !pairs.isEmpty else { return }
        var keys: [ObjectKey: ObjectKey] = [:]
        for (number, permanent) in pairs {
            let temporary = ObjectKey(store: 0, entity: permanent.entity, number: number)
            keys[permanent] = temporary
            aliases[number] = nil
            guard let object = registry.object(for: permanent) else { continue }
            registry.remove(permanent)
            object.key = temporary
            registry.register(object, as: temporary)
        }
        givenKeys.removeAll { keys[$0.permanent] != nil }
        for object in changed {
            for slot in object.layout.referenceSlots {
                guard let target = object.values?[slot]?.referenceKey, let temporary = keys[target] else { continue }
                object.setOwnValue(slot, to: .reference(temporary))
            }
            object.toMany.forEachMade { $0.replaceChanged(by: keys) }
        }
    }

    /// Assigns known permanent keys to objects, by their temporary keys.
    private func rename(
        _ objects: ContiguousArray<NSManagedObject>, _ pairs: [(temporary: Int64, permanent: ObjectKey)]
    ) {
        let keys = Dictionary(pairs.map { ($0.temporary, $0.permanent) }, uniquingKeysWith: { $1 })
        for object in objects {
            guard let permanent = keys[object.key.number], !permanent.isTemporary else { continue }
            rename(object, permanent)
        }
        resolveReferences(by: pairs)
    }

    final func rename(_ object: NSManagedObject, _ permanent: ObjectKey) {
        registry.remove(object.key)
        // Children and recorded undo steps may still refer to it by its temporary key.
        let hasChildren = childCount.load(ordering: .relaxed) > 0
        if hasChildren { givenKeys.append((object.key.number, permanent)) }
        if hasChildren || undoManager != nil || parentContext != nil { aliases[object.key.number] = permanent }
        object.key = permanent
        registry.register(object, as: permanent)
    }

    private func resolveReferences(by pairs: [(temporary: Int64, permanent: ObjectKey)]) {
        guard !pairs.isEmpty else { return }
        let keys = PermanentKeys(pairs)
        for object in changed { resolveReferences(of: object, by: keys) }
    }

    /// Replaces temporary keys by permanent ones in an object's references.
    final func resolveReferences(of object: NSManagedObject, by keys: PermanentKeys) {
        if object.values != nil {
            for slot in object.layout.referenceSlots {
                if case .reference(let target)? = object.values?[slot], target.number < 0 {
                    object.setOwnValue(slot, to: .reference(keys.permanent(target)))
                }
            }
        }
        object.toMany.forEachMade { $0.resolve(by: keys) }
    }

    /// Assigns permanent IDs to objects before they are saved: one reservation for each entity hierarchy.
    final func assignPermanentIDs(to objects: [NSManagedObject]) throws {
        checkQueue()
        // The parent may have saved objects since the last query, and have released them.
        if let parentContext { query(parentContext) { _ in } }
        let own = ContiguousArray(objects.filter { $0.context === self && $0.key.isTemporary })
        guard let parentContext else { return try assignPermanentKeys(to: own) }
        // Objects that the parent has get their ID there; the others get one from the stores, which the parent adopts
        // when they are saved to it.
        let temporary = own.map(\.key)
        let known = try parentContext.queue.sync { () throws -> [(temporary: Int64, permanent: ObjectKey)] in
            let objects = temporary.map { parentContext.registeredObject(for: $0) }
            try parentContext.assignPermanentIDs(to: objects.compactMap(\.self))
            return zip(temporary, objects).compactMap { key, object in object.map { (key.number, $0.key) } }
        }
        rename(own, known)
        try assignPermanentKeys(to: own)
    }
}

// MARK: - Given keys

// Restoring: inserting objects with given primary keys. Not part of Core Data's API.

extension NSManagedObjectContext {
    /// Creates an object that will be saved to a store with a given primary key. Its ID is permanent immediately.
    ///
    /// A context that is saved to its parent passes the key on. Whether the store already has a row with that key is
    /// checked by the save. No statement.
    ///
    /// - Throws: Code 134020 if the store is not one of the context's, or does not contain the entity; 133020 if
    ///   the context already has an object with that key.
    package func insertObject(
        of entity: NSEntityDescription, withPrimaryKey number: Int64, in store: NSPersistentStore
    ) throws -> NSManagedObject {
        guard let coordinator = rootCoordinator, store.persistentStoreCoordinator === coordinator,
            coordinator.holds(store, entity), number > 0
        else {
            throw CocoaError(
                .persistentStoreIncompatibleSchema,
                "The store cannot contain “\(entity.name ?? "")” with the key \(number).", url: store.url)
        }
        let key = ObjectKey(store: store.number, entity: UInt16(truncatingIfNeeded: entity.index), number: number)
        guard registeredObject(for: key) == nil else {
            throw CocoaError(
                .managedObjectMerge, "An object of “\(entity.name ?? "")” with the key \(number) already exists.")
        }
        let object = entity.managedObjectClass.init(entity: entity, insertInto: nil)
        object.key = key
        object.assignedStore = store
        insertNew(object)
        return object
    }
}
