import Foundation

import class FoundationAdditions.NSPredicate
import class FoundationAdditions.NSSortDescriptor

@testable import FoundationAdditions
@testable import ManagedObjects

/// A store that is used as the engine uses it: with plans and queries, without contexts and objects.
final class RowBench {
    let coordinator: NSPersistentStoreCoordinator
    let store: NSPersistentStore
    let rows: any RowStore

    init(_ type: String, model: NSManagedObjectModel = NotesModel.make(), url: URL? = nil) throws {
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        store = try coordinator.addPersistentStore(
            ofType: type, configurationName: nil, at: url ?? TestStores.url(type) ?? URL(fileURLWithPath: "/dev/null"),
            options: nil)
        rows = coordinator.rowStores[0]
    }

    func entity(_ name: String) -> NSEntityDescription {
        coordinator.managedObjectModel.entitiesByName[name] ?? NSEntityDescription()
    }

    func relationship(_ entity: String, _ name: String) -> NSRelationshipDescription {
        self.entity(entity).relationshipsByName[name] ?? NSRelationshipDescription()
    }

    func key(_ entity: String, _ number: Int64) -> ObjectKey {
        ObjectKey(store: rows.number, entity: UInt16(self.entity(entity).index), number: number)
    }

    // MARK: - Writing

    /// Values of all slots of an entity; those not named are null.
    func values(_ entity: String, _ named: [String: Value]) -> ContiguousArray<Value> {
        let layout = self.entity(entity).layout
        var values = ContiguousArray(repeating: Value.null, count: layout.slots.count)
        for (name, value) in named {
            if let slot = layout.slot(named: name) { values[slot] = value }
        }
        return values
    }

    /// Inserts rows and returns their keys.
    @discardableResult
    func insert(_ entity: String, _ rows: [[String: Value]]) throws -> [Int64] {
        let keys = Array(try self.rows.reserveKeys(entity: self.entity(entity), count: rows.count))
        var plan = SavePlan()
        plan.inserts = [
            SavePlan.Group(
                entity: self.entity(entity),
                changes: ContiguousArray(
                    zip(keys, rows).map { SavePlan.Insert(key: $0, values: values(entity, $1)) }))
        ]
        _ = try self.rows.write(plan)
        return keys
    }

    func update(
        _ entity: String, _ key: Int64, version: Int64, _ named: [String: Value], checksVersion: Bool = true
    ) throws {
        let layout = self.entity(entity).layout
        var plan = SavePlan()
        plan.updates = [
            SavePlan.Group(
                entity: self.entity(entity),
                changes: [
                    SavePlan.Update(
                        key: key, version: version, values: UpdatedValues(values(entity, named)),
                        slots: named.keys.compactMap { layout.slot(named: $0) }.sorted(),
                        checksVersion: checksVersion)
                ])
        ]
        _ = try rows.write(plan)
    }

    func delete(_ entity: String, _ keys: [(key: Int64, version: Int64)]) throws {
        var plan = SavePlan()
        plan.deletes = [
            SavePlan.Group(
                entity: self.entity(entity),
                changes: ContiguousArray(keys.map { SavePlan.Delete(key: $0.key, version: $0.version) }))
        ]
        _ = try rows.write(plan)
    }

    func pairs(_ entity: String, _ name: String, _ pairs: [SavePlan.Pair]) throws {
        var plan = SavePlan()
        plan.pairs = [SavePlan.PairGroup(relationship: relationship(entity, name), pairs: ContiguousArray(pairs))]
        _ = try rows.write(plan)
    }

    // MARK: - Reading

    /// One slot of the rows of a query as text, in the query's order.
    func read(_ query: RowQuery, _ name: String) throws -> [String] {
        let result = try rows.rows(matching: query, generation: nil)
        return result.order.map { position in
            let page = result.pages[Int(position.page)]
            return Self.text(page, row: Int(position.row), name)
        }
    }

    static func text(_ page: RowPage, row: Int, _ name: String) -> String {
        guard let slot = page.layout.slot(named: name) else { return "no \(name)" }
        let kind = page.layout.slots[slot].kind
        let value = page.value(of: page.cell(row: row, slot: slot), slot: page.layout.slots[slot])
        if case .reference(let key) = value { return "p\(key.number)" }
        return value.object(kind: kind).map { "\($0)" } ?? "nil"
    }

    func query(
        _ entity: String, _ predicate: NSPredicate? = nil, sort: [NSSortDescriptor] = [], offset: Int = 0,
        limit: Int = 0, includesSubentities: Bool = true
    ) -> RowQuery {
        RowQuery(
            entity: self.entity(entity), includesSubentities: includesSubentities, predicate: predicate,
            sortDescriptors: sort, offset: offset, limit: limit)
    }

    func members(_ entity: String, _ name: String, _ owners: [Int64]) throws -> [[Int64]] {
        let result = try rows.members(
            of: relationship(entity, name), owners: owners, ownerEntity: self.entity(entity), includesRows: true,
            generation: nil)
        return owners.indices.map { index in
            result.members[Int(result.starts[index])..<Int(result.starts[index + 1])].map(\.number)
        }
    }
}
