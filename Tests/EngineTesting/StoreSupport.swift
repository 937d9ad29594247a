import Foundation
import GRDB
import Testing

@testable import ManagedObjects
@testable import SQLStores

/// An open store, and the objects that keep it open.
struct OpenStore {
    let coordinator: NSPersistentStoreCoordinator
    let store: SQLiteStore

    init(at url: URL, model: NSManagedObjectModel, options: [AnyHashable: Any]? = nil) throws {
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let added = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: options)
        store = try #require(added as? SQLiteStore)
    }

    func entity(_ name: String) throws -> NSEntityDescription {
        try #require(coordinator.managedObjectModel.entitiesByName[name])
    }

    func rows(_ name: String) throws -> RowResult {
        try store.rows(matching: RowQuery(entity: entity(name)), generation: nil)
    }

    /// The value of a property in the first row with a key.
    func value(_ property: String, of name: String, key: Int64) throws -> Any? {
        let entity = try entity(name)
        let pages = try store.rows(withKeys: [key], entity: entity, generation: nil)
        let page = try #require(pages.first)
        let slot = try #require(page.layout.slot(named: property))
        let value = page.value(of: page.cell(row: 0, slot: slot), slot: page.layout.slots[slot])
        if case .reference(let key) = value { return key.number }
        return value.object(kind: page.layout.slots[slot].kind)
    }

    /// A row of new values, by property name.
    func values(_ name: String, _ properties: [String: Value]) throws -> ContiguousArray<Value> {
        let layout = try entity(name).layout
        var values = layout.initialValues
        for (property, value) in properties { values[try #require(layout.slot(named: property))] = value }
        return values
    }

    @discardableResult
    func insert(_ name: String, key: Int64, _ properties: [String: Value]) throws -> SaveOutcome {
        var plan = SavePlan()
        let insert = SavePlan.Insert(key: key, values: try values(name, properties))
        plan.inserts = [SavePlan.Group(entity: try entity(name), changes: [insert])]
        return try store.write(plan)
    }

    @discardableResult
    func update(
        _ name: String, key: Int64, version: Int64, _ properties: [String: Value], checksVersion: Bool = true
    ) throws -> SaveOutcome {
        let entity = try entity(name)
        let slots = try properties.keys.map { try #require(entity.layout.slot(named: $0)) }.sorted()
        let update = SavePlan.Update(
            key: key, version: version, values: UpdatedValues(try values(name, properties)), slots: slots,
            checksVersion: checksVersion)
        var plan = SavePlan()
        plan.updates = [SavePlan.Group(entity: entity, changes: [update])]
        return try store.write(plan)
    }

    func delete(_ name: String, key: Int64, version: Int64) throws {
        var plan = SavePlan()
        plan.deletes = [
            SavePlan.Group(entity: try entity(name), changes: [SavePlan.Delete(key: key, version: version)])
        ]
        _ = try store.write(plan)
    }

    func reference(_ name: String, _ key: Int64) throws -> Value {
        .reference(ObjectKey(store: store.number, entity: UInt16(try entity(name).index), number: key))
    }

    /// The result of a query on a separate connection.
    func sql<Result: DatabaseValueConvertible>(_ text: String, as type: Result.Type = Result.self) throws -> [Result?] {
        try Optional<Result>.fetchAll(DatabaseQueue(path: try #require(store.url).path), sql: text)
    }
}

extension Optional where Wrapped: DatabaseValueConvertible {
    fileprivate static func fetchAll(_ queue: DatabaseQueue, sql: String) throws -> [Wrapped?] {
        try queue.read { try Wrapped?.fetchAll($0, sql: sql) }
    }
}

/// The code of a thrown error.
func code(_ body: () throws -> Void) -> Int? {
    do {
        try body()
        return nil
    } catch {
        return (error as NSError).code
    }
}

extension NSEntityDescription {
    /// An entity for tests.
    convenience init(_ name: String, _ properties: [NSPropertyDescription], subentities: [NSEntityDescription] = []) {
        self.init()
        self.name = name
        self.properties = properties
        self.subentities = subentities
    }
}

extension NSAttributeDescription {
    convenience init(_ name: String, _ type: NSAttributeType) {
        self.init()
        self.name = name
        attributeType = type
    }
}

extension NSRelationshipDescription {
    /// Adds two relationships that are each other's inverse; a count of 1 is a to-one.
    static func pair(
        _ name: String, to destination: NSEntityDescription, count: Int, isOrdered: Bool = false,
        inverse inverseName: String, of source: NSEntityDescription, inverseCount: Int, inverseIsOrdered: Bool = false
    ) -> (NSRelationshipDescription, NSRelationshipDescription) {
        let forth = NSRelationshipDescription()
        let back = NSRelationshipDescription()
        (forth.name, forth.destinationEntity, forth.maxCount, forth.isOrdered) = (name, destination, count, isOrdered)
        (back.name, back.destinationEntity, back.maxCount, back.isOrdered) = (
            inverseName, source, inverseCount, inverseIsOrdered
        )
        forth.inverseRelationship = back
        back.inverseRelationship = forth
        return (forth, back)
    }
}
