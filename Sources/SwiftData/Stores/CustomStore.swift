import CoreData
import Foundation
import ManagedObjects
import Synchronization

/// A ``DataStore`` as a store of the engine, whose contexts, faults and notifications it has so.
///
/// A new object gets its ID before the store gives it an identifier. So the store keeps a table of both.
final class CustomStore: NSIncrementalStore, @unchecked Sendable {  // because a lock guards its state
    static let type = "SwiftData.DataStore"
    static let dataStoreKey = "SwiftData.DataStore.instance"
    /// Under this key the user info of a context has the identity of its ``ModelContext``.
    static let editingStateKey = "SwiftData.editingState"
    /// Under this key the user info of a context has the descriptor of the fetch that is executed.
    static let fetchKey = "SwiftData.fetch"

    /// Whether the program has such a store; others need not be asked for identifiers.
    static let isUsed = Atomic(false)

    private struct State {
        var identifiers: [NSManagedObjectID: PersistentIdentifier] = [:]
        var objectIDs: [PersistentIdentifier: NSManagedObjectID] = [:]
        /// The values of the objects that contexts use, and how many do.
        var rows: [NSManagedObjectID: Row] = [:]
        var uses: [NSManagedObjectID: Int] = [:]
        var lastVersion: UInt64 = 0
        /// The IDs of objects that are being inserted.
        var pending: [ObjectIdentifier: NSManagedObjectID] = [:]
    }

    private struct Row {
        var snapshot: DefaultSnapshot
        var version: UInt64
        /// The values, for comparisons; nil if they cannot be compared.
        var comparable: Data?
    }

    private let state = Mutex(State())

    var dataStore: any SnapshotStore {
        get throws {
            guard let store = options?[Self.dataStoreKey] as? any SnapshotStore else {
                throw DataStoreError.unsupportedFeature
            }
            return store
        }
    }

    /// The data store, if it can delete the models of a predicate itself.
    var batching: (any DataStoreBatching)? {
        get throws { try dataStore.batching }
    }

    override func loadMetadata() throws {
        // The identifiers of models come from the data store, and not from this UUID.
        metadata = [NSStoreTypeKey: Self.type, NSStoreUUIDKey: UUID().uuidString]
    }

    // MARK: - Identifiers

    /// The identifier of an object: that of the data store, or a temporary one until the object is saved.
    func identifier(of objectID: NSManagedObjectID) -> PersistentIdentifier {
        state.withLock { $0.identifiers[objectID] } ?? PersistentIdentifier(temporary: objectID)
    }

    /// The object of an identifier of the data store.
    func objectID(of identifier: PersistentIdentifier) -> NSManagedObjectID? {
        if let known = state.withLock({ $0.objectIDs[identifier] }) { return known }
        guard identifier.storeIdentifier == (try? dataStore)?.identifier,
            let entity = persistentStoreCoordinator?.managedObjectModel.entitiesByName[identifier.entityName]
        else { return nil }
        let made = newObjectID(for: entity, referenceObject: identifier.id.primaryKey)
        return state.withLock { state in
            if let known = state.objectIDs[identifier] { return known }
            state.objectIDs[identifier] = made
            state.identifiers[made] = identifier.with(made)
            return made
        }
    }

    // MARK: - Rows

    /// Notes the values of an object. Returns whether they differ from those that were known.
    private func note(_ snapshot: DefaultSnapshot, of objectID: NSManagedObjectID) -> Bool {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let comparable = try? encoder.encode(snapshot)
        return state.withLock { state in
            let known = state.rows[objectID]
            if let known, comparable != nil, known.comparable == comparable { return false }
            state.lastVersion += 1
            state.rows[objectID] = Row(snapshot: snapshot, version: state.lastVersion, comparable: comparable)
            return known != nil
        }
    }

    /// Notes fetched snapshots, and lets the context read again the objects whose values have changed.
    private func note(_ snapshots: [DefaultSnapshot], in context: NSManagedObjectContext?) -> [NSManagedObjectID] {
        snapshots.compactMap { snapshot in
            guard let id = objectID(of: snapshot.persistentIdentifier) else { return nil }
            if note(snapshot, of: id), let object = context?.registeredObject(for: id), !object.hasChanges {
                context?.refresh(object, mergeChanges: false)
            }
            return id
        }
    }

    private func row(_ objectID: NSManagedObjectID, _ context: NSManagedObjectContext?) throws -> Row {
        if let row = state.withLock({ $0.rows[objectID] }) { return row }
        let (store, editing) = (try dataStore, editingState(of: context))
        let identifier = identifier(of: objectID)
        if let cached = try store.cachedSnapshot(for: identifier, editing) {
            _ = note(cached, of: objectID)
        } else if let modelClass = objectID.entity.companion as? ModelClass {
            // A data store answers requests for a class, not for an identifier.
            _ = note(try store.fetchAll(modelClass, editing), in: nil)
        }
        guard let row = state.withLock({ $0.rows[objectID] }) else {
            throw CocoaError(CocoaError.Code(rawValue: 133_000))  // NSManagedObjectReferentialIntegrityError
        }
        return row
    }

    private func editingState(of context: NSManagedObjectContext?) -> EditingState {
        context?.userInfo[Self.editingStateKey] as? EditingState ?? EditingState()
    }

    override func managedObjectContextDidRegisterObjects(with objectIDs: [NSManagedObjectID]) {
        state.withLock { state in
            for id in objectIDs { state.uses[id, default: 0] += 1 }
        }
    }

    override func managedObjectContextDidUnregisterObjects(with objectIDs: [NSManagedObjectID]) {
        state.withLock { state in
            for id in objectIDs {
                let uses = (state.uses[id] ?? 1) - 1
                state.uses[id] = uses > 0 ? uses : nil
                if uses <= 0 { state.rows[id] = nil }
            }
        }
    }

    override func newValuesForObject(
        with objectID: NSManagedObjectID, with context: NSManagedObjectContext
    ) throws -> NSIncrementalStoreNode {
        let row = try row(objectID, context)
        guard let modelClass = objectID.entity.companion as? ModelClass else { throw DataStoreError.unsupportedFeature }
        var values: [String: Any] = [:]
        for property in modelClass.properties {
            let value = row.snapshot.values[property.name]
            if property.isToMany { continue }
            if property.isRelationship {
                values[property.name] = (value as? PersistentIdentifier).flatMap(self.objectID) ?? NSNull()
            } else if let value {
                values[property.name] = try property.storedValue(ofSnapshot: value)
            }
        }
        return NSIncrementalStoreNode(objectID: objectID, withValues: values, version: row.version)
    }

    override func newValue(
        forRelationship relationship: NSRelationshipDescription, forObjectWith objectID: NSManagedObjectID,
        with context: NSManagedObjectContext?
    ) throws -> Any {
        switch try row(objectID, context).snapshot.values[relationship.name] {
        case let several as [PersistentIdentifier]: return Set(several.compactMap(self.objectID))
        case let one as PersistentIdentifier: return self.objectID(of: one) ?? NSNull()
        default: return relationship.isToMany ? Set<NSManagedObjectID>() : NSNull()
        }
    }

    // MARK: - Requests

    override func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any {
        if let save = request as? NSSaveChangesRequest {
            try self.save(save, context)
            return []
        }
        guard let fetch = request as? NSFetchRequest<any NSFetchRequestResult>, let context else {
            return try super.execute(request, with: context)
        }
        return try CustomFetch(store: self, request: fetch, context: context).result()
    }

    /// The objects that a data store finds for a fetch, and what remains to be done with them.
    func objects(
        _ modelClass: ModelClass, _ fetch: (any DescribedFetch)?, limit: Int, offset: Int,
        _ context: NSManagedObjectContext
    ) throws -> (objects: [NSManagedObject], isFiltered: Bool, isSorted: Bool) {
        let found = try dataStore.snapshots(modelClass, fetch, limit: limit, offset: offset, editingState(of: context))
        _ = note(found.related, in: context)
        let objects = note(found.fetched, in: context).map(context.object)
        return (objects, found.isFiltered, found.isSorted)
    }

    override func obtainPermanentIDs(for array: [NSManagedObject]) throws -> [NSManagedObjectID] {
        array.map { object in
            let id = newObjectID(for: object.entity, referenceObject: UUID().uuidString)
            // Until the save has ended, the model has the temporary identifier that the program knows.
            let temporary = PersistentIdentifier(temporary: object.objectID).with(id)
            state.withLock { state in
                state.pending[ObjectIdentifier(object)] = id
                state.identifiers[id] = temporary
            }
            return id
        }
    }

    private func save(_ request: NSSaveChangesRequest, _ context: NSManagedObjectContext?) throws {
        func models(_ objects: Set<NSManagedObject>?) -> [(object: NSManagedObject, model: any PersistentModel)] {
            MemberOrder.sorted(Array(objects ?? [])).compactMap { object in
                (object as? ModelObject).map { ($0, ModelContext.model(of: $0, in: nil)) }
            }
        }
        let (inserted, updated) = (models(request.insertedObjects), models(request.updatedObjects))
        let deleted = models(request.deletedObjects)
        if inserted.isEmpty, updated.isEmpty, deleted.isEmpty { return }
        let temporary = Dictionary(
            inserted.map { (ObjectIdentifier($0.model), $0.model.persistentModelID) }, uniquingKeysWith: { $1 })
        let saved = try dataStore.save(
            inserted: inserted.map(\.model), updated: updated.map(\.model), deleted: deleted.map(\.model),
            editingState(of: context))
        state.withLock { state in
            for (object, model) in inserted {
                let id = state.pending.removeValue(forKey: ObjectIdentifier(object)) ?? object.objectID
                guard let permanent = temporary[ObjectIdentifier(model)].flatMap({ saved.remapped[$0] }) else {
                    continue
                }
                state.identifiers[id] = permanent.with(id)
                state.objectIDs[permanent] = id
            }
            for (object, _) in deleted { state.rows[object.objectID] = nil }
        }
        for snapshot in saved.snapshots {
            if let id = objectID(of: snapshot.persistentIdentifier) { _ = note(snapshot, of: id) }
        }
    }

    /// Removes the cached values of objects that the data store has deleted itself.
    func forget(_ deleted: Set<NSManagedObjectID>) {
        state.withLock { state in
            for id in deleted { state.rows[id] = nil }
        }
    }

    /// Deletes everything.
    func erase() throws {
        try dataStore.erase()
        state.withLock { $0 = State() }
    }
}
