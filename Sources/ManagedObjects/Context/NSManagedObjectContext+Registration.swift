import CoreDataErrors
import Foundation
import StoreSupport

// The identity map: from keys to objects, which are created if necessary.

extension NSManagedObjectContext {
    /// The registered object with a key, else a new fault.
    final func object(for key: ObjectKey) -> NSManagedObject {
        if let object = metObject(for: key) { return object }
        return makeFault(key.isTemporary ? aliases[key.number] ?? key : key)
    }

    /// The object with a key, with the row and slot from which it was reached.
    final func object(for key: ObjectKey, reachedFrom page: RowPage, row: Int32, slot: Int) -> NSManagedObject {
        if let object = metObject(for: key) { return object }
        let fault = makeFault(key)
        if fault.page == nil {
            fault.state.noteOrigin(page, row: row, slot: slot)
        }
        return fault
    }

    /// The members of a to-many relationship, as objects.
    final func members(of state: ToManyState) -> [NSManagedObject] {
        if let run = state.run { return members(of: run) }
        return state.members.keys.map { object(for: $0) }
    }

    /// The members of a batch, as objects. The inner loop of traversing relationships.
    final func members(of run: MemberBatch.Run) -> [NSManagedObject] {
        let count = run.count
        // The empty array is shared by all threads, and would be written to.
        if count == 0 { return [] }
        var hasReadAgain = false
        return [NSManagedObject](unsafeUninitializedCapacity: count) { members, made in
            for index in 0..<count {
                members.initializeElement(at: index, to: member(index, of: run, &hasReadAgain))
                made = index + 1
            }
        }
    }

    /// Calls a closure with the members of a batch, without an array in memory of its own if they are few.
    final func withMembers(of run: MemberBatch.Run, _ body: (UnsafeBufferPointer<NSManagedObject>) -> Void) {
        var hasReadAgain = false
        withUnsafeTemporaryAllocation(of: NSManagedObject.self, capacity: run.count) { members in
            for index in members.indices {
                members.initializeElement(at: index, to: member(index, of: run, &hasReadAgain))
            }
            body(UnsafeBufferPointer(members))
            members.deinitialize()
        }
    }

    @inline(__always)
    private func member(_ index: Int, of run: MemberBatch.Run, _ hasReadAgain: inout Bool) -> NSManagedObject {
        let key = run.key(index)
        if let registered = metObject(for: key) { return registered }
        if let (number, row) = run.row(index), let page = prefetchedRows.page(number) {
            return makeObject(page.layout, key: key, page: page, row: row)
        }
        return makeFault(key, of: run, &hasReadAgain)
    }

    final func registeredObject(for key: ObjectKey) -> NSManagedObject? {
        if let object = registry.object(for: key) { return object }
        if key.isTemporary, let permanent = aliases[key.number] { return registry.object(for: permanent) }
        return nil
    }

    /// Creates an object for a member whose row is not at its recorded position. If the row is not found elsewhere, the
    /// rows of all members are read again, once.
    private func makeFault(
        _ key: ObjectKey, of run: MemberBatch.Run, _ hasReadAgain: inout Bool
    ) -> NSManagedObject {
        if !hasReadAgain, !prefetchedRows.contains(key) {
            hasReadAgain = true
            readRowsAgain(of: run)
        }
        return makeFault(key)
    }

    /// The registered object with a key, marked as looked up again.
    @inline(__always)
    private func metObject(for key: ObjectKey) -> NSManagedObject? {
        guard let object = registeredObject(for: key) else { return nil }
        if !object.flags.contains(.metAgain) { object.state.mark(.metAgain) }
        return object
    }

    /// Creates and registers a fault, with its row if that was read ahead.
    private func makeFault(_ key: ObjectKey) -> NSManagedObject {
        if let (page, row) = prefetchedRows.row(for: key) {
            return makeObject(page.layout, key: key, page: page, row: row)
        }
        return makeObject(layout(of: key), key: key, isYoung: true)
    }

    private func makeObject(_ layout: EntityLayout, key: ObjectKey, page: RowPage, row: Int) -> NSManagedObject {
        let object = makeObject(layout, key: key, isYoung: true)
        adopt(page, row: row, by: object)
        return object
    }

    /// Prepares for creating objects of many rows: if a sweep is due it runs now, not while the new objects, which have
    /// references, are created.
    final func prepareToRegister(_ count: Int, of layout: EntityLayout) {
        if registry.isSweepDue(before: count), !retainsRegisteredObjects { sweep() }
        registry.reserve(count, entity: layout.index)
        LargePages.reserveHeap(byteCount: count * Self.objectSize)
    }

    /// The number of bytes that an object takes in memory, apart from its values; a subclass may have more.
    private static let objectSize = 256

    /// Creates and registers an object of the entity's class, without values; young if no other reference is known.
    final func makeObject(_ layout: EntityLayout, key: ObjectKey, isYoung: Bool = false) -> NSManagedObject {
        if registry.isSweepDue || registry.isSmallSweepDue, !retainsRegisteredObjects { sweepAsDue() }
        let object = layout.objectClass.init(entity: layout.entity, insertInto: nil)
        object.key = key
        object.context = self
        registry.register(object, as: key, isYoung: isYoung && !retainsRegisteredObjects)
        return object
    }

    /// Sets the row of an object, which stays a fault until it is realised.
    final func adopt(_ page: RowPage, row: Int, by object: NSManagedObject) {
        object.state.adopt(page, row: row)
    }

    final func entity(of key: ObjectKey) -> NSEntityDescription { layout(of: key).entity }

    final func layout(of key: ObjectKey) -> EntityLayout {
        precondition(
            Int(key.entity) < registry.layouts.count, "The context has no persistent store coordinator.")
        return registry.layouts[Int(key.entity)]
    }

    final func objectID(for key: ObjectKey) -> NSManagedObjectID {
        if let object = registeredObject(for: key) { return object.objectID }
        if let coordinator = rootCoordinator { return coordinator.objectID(for: key) }
        return NSManagedObjectID(key: key, entity: entity(of: key), storeIdentifier: nil)
    }

    /// The key of an object that objects of this context will refer to; inserts the object if it has no context yet.
    final func key(adopting object: NSManagedObject) -> ObjectKey {
        if object.context === self, object.key.number != 0 { return object.key }
        if object.context == nil, object.key.number == 0 || object.key.isTemporary { insertNew(object) }
        precondition(
            object.context === self || object.context == nil,
            "Illegal attempt to establish a relationship between objects in different contexts.")
        return object.key
    }

    private func sweepAsDue() {
        if registry.isSweepDue { return sweep() }
        // With watched values a small sweep would cost a step for each of them, so the young objects are left to the
        // next full sweep.
        guard inPlaceValues.isEmpty else { return registry.removeYoung() }
        sweep { release in
            registry.sweepYoung(
                keeping: { !$0.flags.isDisjoint(with: [.listed, .changedInEvent]) }, release: release)
        }
    }

    /// Notes that a save has written objects. Those without other references are released when the block on the context's queue
    /// ends; of a save outside of a block, or of many objects, they are left to the sweeps.
    final func noteSaved(_ objects: ContiguousArray<NSManagedObject>) {
        guard blockDepth > 0, savedInBlock.count + objects.count <= Self.savedLimit else { return }
        for object in objects { savedInBlock.append(object.key) }
    }

    /// Releases what the saves of a block have written.
    final func releaseSaved() {
        recentCollections.removeAll()
        guard !savedInBlock.isEmpty else { return }
        let keys = savedInBlock
        savedInBlock = []
        releaseUnreferenced(keys)
    }

    /// The number of saved objects that the end of a block examines.
    private static let savedLimit = 65536

    /// Releases those of some objects that have no other references and no unsaved changes. Cost: a step for each key.
    final func releaseUnreferenced(_ keys: ContiguousArray<ObjectKey>) {
        // With watched values, which the context refers to, objects are left to the sweeps.
        guard !keys.isEmpty, !retainsRegisteredObjects, inPlaceValues.isEmpty else { return }
        sweep { release in
            registry.releaseUnreferenced(
                keys, keeping: { !$0.flags.isDisjoint(with: [.listed, .changedInEvent]) }, release: release)
        }
    }

    /// Releases objects that have no other references and no unsaved changes.
    final func sweep() {
        // The references of watched values are weak during the sweep, so that only the other references count.
        if !inPlaceValues.isEmpty { inPlaceValues.loosen() }
        sweep { release in
            registry.sweep(
                keeping: { $0.flags.contains(.listed) || $0.flags.contains(.changedInEvent) }, release: release)
        }
        if !inPlaceValues.isEmpty { inPlaceValues.tighten() }
    }

    /// Removes released objects from the registry, and notifies incremental stores of them.
    private func sweep(_ body: ((NSManagedObject) -> Void) -> Void) {
        recentCollections.removeAll()
        guard !incrementalStores.isEmpty else { return body { $0.context = nil } }
        var released: [ObjectKey] = []
        body { object in
            released.append(object.key)
            object.context = nil
        }
        notifyStores(ofReleased: released)
    }

    // MARK: - By ID

    /// The object with an ID, with its row; see ``existingObject(with:)``.
    final func objectWithRow(_ objectID: NSManagedObjectID) throws -> NSManagedObject {
        checkQueue()
        guard let key = key(for: objectID) else { throw CocoaError.missingRow(objectID) }
        let object = object(for: key)
        // An object that was deleted before its first save is both inserted and deleted.
        guard object.flags.isDisjoint(with: .removed) else { throw CocoaError.missingRow(objectID) }
        if object.flags.contains(.inserted) { return object }
        if object.isFaultInternally {
            guard try realise(object) else {
                removeInaccessible(object)
                throw CocoaError.missingRow(objectID)
            }
        }
        return object
    }

    /// The key of an ID in this context's coordinator; nil when its store is not there.
    final func key(for objectID: NSManagedObjectID) -> ObjectKey? {
        objectID.isTemporaryID ? objectID.key : rootCoordinator?.key(for: objectID)
    }
}

extension CocoaError {
    static func missingRow(_ objectID: NSManagedObjectID) -> CocoaError {
        CocoaError(
            .managedObjectReferentialIntegrity,
            userInfo: [
                NSLocalizedDescriptionKey: "There is no row for \(objectID.uriRepresentation().absoluteString).",
                NSAffectedObjectsErrorKey: [objectID],
            ])
    }
}
