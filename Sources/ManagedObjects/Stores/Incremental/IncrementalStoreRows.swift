import CoreDataErrors
import Foundation

/// Adapts an incremental store to rows, for one context.
final class IncrementalStoreRows: ObjectStore, BatchStore {
    let store: NSIncrementalStore
    /// The requesting context; nil in the instance that a coordinator keeps.
    private weak var contextIfAny: NSManagedObjectContext?
    /// The objects whose rows the context uses.
    private var registered: Set<ObjectKey> = []

    init(_ store: NSIncrementalStore, context: NSManagedObjectContext? = nil) {
        self.store = store
        contextIfAny = context
    }

    deinit { unregisterAll() }

    var number: UInt16 {
        get { store.number }
        set { store.number = newValue }
    }

    func answering(_ context: NSManagedObjectContext) -> any RowStore { context.rows(of: store) }

    var readsRowsTogether: Bool { store is any IncrementalStoreBatching }

    func context() throws -> NSManagedObjectContext {
        guard let contextIfAny else {
            throw CocoaError(
                .persistentStoreOperation, "An incremental store can be read by contexts only.", url: store.url)
        }
        return contextIfAny
    }

    func coordinator() throws -> NSPersistentStoreCoordinator {
        guard let coordinator = try context().coordinator else {
            throw CocoaError(.persistentStoreOperation, "The store was removed from its coordinator.", url: store.url)
        }
        return coordinator
    }

    // MARK: - Rows

    func rows(matching query: RowQuery, generation: StoreGeneration?) throws -> RowResult {
        let keys = try keys(matching: query, generation: generation)
        var positions: [ObjectKey: RowResult.Position] = [:]
        var result = RowResult()
        result.pages = try rows(withKeys: keys)
        for (number, page) in result.pages.enumerated() {
            for row in 0..<page.count {
                positions[page.key(ofRow: row)] = RowResult.Position(
                    page: Int32(truncatingIfNeeded: number), row: Int32(truncatingIfNeeded: row))
            }
        }
        result.order = ContiguousArray(keys.compactMap { positions[$0] })
        return result
    }

    func rows(
        withKeys keys: [Int64], entity: NSEntityDescription, generation: StoreGeneration?
    ) throws -> [RowPage] {
        let coordinator = try coordinator()
        return try rows(
            withKeys: keys.map { number in
                let own = store.references?.entity(of: number, root: entity) ?? entity
                return ObjectKey(
                    store: store.number, entity: UInt16(truncatingIfNeeded: own.index), number: number)
            }, coordinator: coordinator)
    }

    private func rows(withKeys keys: [ObjectKey]) throws -> [RowPage] {
        try rows(withKeys: keys, coordinator: coordinator())
    }

    private func rows(withKeys keys: [ObjectKey], coordinator: NSPersistentStoreCoordinator) throws -> [RowPage] {
        guard !keys.isEmpty else { return [] }
        let nodes = try nodes(keys.map(coordinator.objectID))
        var pages = ValuePages(entities: coordinator.entities, store: store.number)
        for node in nodes {
            guard let key = store.key(of: node.objectID) else { throw wrongID(node.objectID) }
            try pages.add(key) { try row(key, node, coordinator) }
        }
        register(pages.pages.flatMap { page in (0..<page.count).map(page.key(ofRow:)) }, coordinator)
        return pages.pages
    }

    /// The nodes of objects: one call if the store supports batches, otherwise one for each object. Missing objects are
    /// omitted.
    private func nodes(_ ids: [NSManagedObjectID]) throws -> [NSIncrementalStoreNode] {
        let context = try context()
        if let batching = store as? any IncrementalStoreBatching {
            return try batching.newValuesForObjects(with: ids, with: context)
        }
        return try ids.compactMap { id in
            do {
                return try store.newValuesForObject(with: id, with: context)
            } catch let error as CocoaError where error.code == .managedObjectReferentialIntegrity {
                return nil
            }
        }
    }

    private func row(
        _ key: ObjectKey, _ node: NSIncrementalStoreNode, _ coordinator: NSPersistentStoreCoordinator
    ) throws -> ValueRow {
        let layout = coordinator.entities[Int(key.entity)].layout
        var values = ContiguousArray<Value>(repeating: .null, count: layout.slots.count)
        for (index, slot) in layout.slots.enumerated() where slot.isPersistent {
            guard let name = slot.name else { continue }
            values[index] = try value(of: slot, named: name, node)
        }
        return ValueRow(
            entity: key.entity, version: Int64(bitPattern: node.version), values: values)
    }

    private func value(
        of slot: EntityLayout.Slot, named name: String, _ node: NSIncrementalStoreNode
    ) throws -> Value {
        if let relationship = slot.property as? NSRelationshipDescription {
            let given =
                try node.value(for: relationship)
                ?? store.newValue(forRelationship: relationship, forObjectWith: node.objectID, with: context())
            return try destination(given).map { .reference($0) } ?? .null
        }
        let given = Self.value(at: name, of: node, slot.property)
        let value: Value
        do {
            value = try Value(given, kind: slot.kind)
        } catch let error as UnacceptableValue {
            throw CocoaError(
                .coreData,
                "The store returned a value of type \(error.actual) for “\(name)” of "
                    + "\(node.objectID.uriRepresentation().absoluteString); expected: \(error.expected).",
                url: store.url)
        }
        guard case .object(let box) = value, slot.kind == .transformable, let attribute = slot.attribute else {
            return value
        }
        return (try? TransformableCoding.encode(box, attribute: attribute)).map { .data($0) } ?? value
    }

    /// The value at the path of a slot: elements of composite attributes are in dictionaries.
    private static func value(
        at path: String, of node: NSIncrementalStoreNode, _ property: NSPropertyDescription
    ) -> Any? {
        guard path.contains(".") else { return node.value(for: property) }
        var steps = path.split(separator: ".").map(String.init)[...]
        guard let name = steps.popFirst(), let composite = node.objectID.entity.propertiesByName[name] else {
            return nil
        }
        var value = node.value(for: composite)
        while let step = steps.popFirst() { value = (value as? [String: Any])?[step] }
        return value
    }

    private func destination(_ value: Any) throws -> ObjectKey? {
        if value is NSNull { return nil }
        guard let id = value as? NSManagedObjectID, let key = store.key(of: id) else {
            throw CocoaError(
                .coreData, "The store returned a \(type(of: value)) for a relationship; expected: its own object IDs.",
                url: store.url)
        }
        return key
    }

    func wrongID(_ id: NSManagedObjectID) -> CocoaError {
        CocoaError(
            .coreData, "The store returned the ID \(id.uriRepresentation().absoluteString), which it has not created.",
            url: store.url)
    }

    // MARK: - Members

    func members(
        of relationship: NSRelationshipDescription, owners: [Int64], ownerEntity: NSEntityDescription,
        includesRows: Bool, isKnown: (ObjectKey) -> Bool, generation: StoreGeneration?
    ) throws -> MemberResult {
        guard let toMany = ownerEntity.layout.toMany.first(where: { $0.name == relationship.name }) else {
            throw CocoaError(
                .coreData, "“\(ownerEntity.name ?? "").\(relationship.name)” is not a to-many relationship.",
                url: store.url)
        }
        let (context, coordinator) = (try context(), try coordinator())
        let ids = owners.map { number in
            coordinator.objectID(
                for: ObjectKey(
                    store: store.number, entity: UInt16(truncatingIfNeeded: ownerEntity.index), number: number))
        }
        var result = MemberResult()
        if let batching = store as? any IncrementalStoreBatching {
            let found = try batching.newValues(
                forRelationship: toMany.relationship, forObjectsWith: ids, with: context)
            for id in ids { result.append(try keys(found[id], isOrdered: toMany.isOrdered), to: toMany) }
        } else {
            for id in ids {
                let found = try store.newValue(
                    forRelationship: toMany.relationship, forObjectWith: id, with: context)
                result.append(try keys(found, isOrdered: toMany.isOrdered), to: toMany)
            }
        }
        return result
    }

    /// The keys of a collection of IDs: in its order, or in ascending order if the relationship is unordered.
    private func keys(_ value: Any?, isOrdered: Bool) throws -> [ObjectKey] {
        let ids: [Any] =
            switch value {
            case nil, is NSNull: []
            case let set as NSOrderedSet: set.array
            case let set as NSSet: set.allObjects
            case let array as [Any]: array
            case let set as Set<AnyHashable>: set.map(\.base)
            case let other?: [other]
            }
        let keys = try ids.compactMap(destination)
        return isOrdered ? keys : keys.sorted { $0.number < $1.number }
    }

    // MARK: - Objects in use

    func register(_ keys: [ObjectKey], _ coordinator: NSPersistentStoreCoordinator) {
        let new = keys.filter { registered.insert($0).inserted }
        if !new.isEmpty { store.managedObjectContextDidRegisterObjects(with: new.map(coordinator.objectID)) }
    }

    /// Called when the context no longer uses objects.
    func unregister(_ keys: [ObjectKey]) {
        let gone = keys.filter { registered.remove($0) != nil }
        guard !gone.isEmpty, let coordinator = store.persistentStoreCoordinator else { return }
        store.managedObjectContextDidUnregisterObjects(with: gone.map(coordinator.objectID))
    }

    /// Called when the context no longer uses any objects.
    func unregisterAll() { unregister(registered.sorted { $0.number < $1.number }) }
}
