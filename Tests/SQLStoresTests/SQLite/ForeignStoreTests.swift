import Foundation
import GRDB
import SQLStatements
import Testing

@testable import EngineTesting

@testable import ManagedObjects
@testable import SQLStores

@Suite(
    "Writing stores created by Apple's framework",
    .enabled(if: CorpusStores.isPresent, "the corpus is not beside the package"))
struct ForeignStoreTests {
    /// The schema, and the number of rows of each table except the history's.
    private static func outline(of url: URL) throws -> (schema: [String: String], counts: [String: Int]) {
        try DatabaseQueue(path: url.path).read { database in
            let catalog = try SQLCatalog(in: database)
            var counts: [String: Int] = [:]
            for table in catalog.columns.keys where table.hasPrefix("Z") {
                counts[table] = try Int.fetchOne(database, sql: "SELECT count(*) FROM \(table)")
            }
            return (catalog.statements, counts)
        }
    }

    /// A value of each type.
    private static func value(of slot: EntityLayout.Slot) -> Value {
        switch slot.kind {
        case .integer16, .integer32, .integer64, .boolean: .integer(1)
        case .double, .float, .date: .real(1.5)
        case .decimal: .decimal(Decimal(string: "2.25") ?? 0)
        case .string: .string("text")
        case .data, .transformable: .data(Data([1, 2, 3]))
        case .uuid: .uuid(UUID())
        case .uri: .object(ObjectValue(URL(fileURLWithPath: "/")))
        case .undefined, .toOne, .position: .null
        }
    }

    @Test("Inserts, changes and deletes a row of every entity, and nothing else", arguments: CorpusStores.withModel)
    func writesEveryEntity(path: String) throws {
        let folder = try CorpusStores.copy(path)
        let before = try Self.outline(of: folder.url)
        let model = try #require(try SQLiteStore.storedModel(at: folder.url))
        let open = try OpenStore(at: folder.url, model: model)
        let content = try open.store.content()
        for place in content.schema.entities where !place.entity.isAbstract {
            let entity = content.model.orderedEntities[place.entity.index]
            let layout = entity.layout
            let key = try open.store.reserveKeys(entity: entity, count: 1).lowerBound
            var plan = SavePlan()
            plan.inserts = [
                SavePlan.Group(
                    entity: entity,
                    changes: [SavePlan.Insert(key: key, values: ContiguousArray(layout.slots.map { _ in .null }))])
            ]
            _ = try open.store.write(plan)

            let values = ContiguousArray(layout.slots.map(Self.value))
            let slots = layout.slots.indices.filter { layout.slots[$0].isPersistent && !layout.slots[$0].isHidden }
            plan = SavePlan()
            plan.updates = [
                SavePlan.Group(
                    entity: entity,
                    changes: [SavePlan.Update(key: key, version: 1, values: UpdatedValues(values), slots: slots)])
            ]
            _ = try open.store.write(plan)

            let page = try #require(try open.store.rows(withKeys: [key], entity: entity, generation: nil).first)
            #expect(page.versions == [2] && page.layout.entity === entity)
            for slot in slots where place.columns[slot] != nil && place.entity.slots[slot].attribute?.derivation == nil
            {
                let isNull = page.cell(row: 0, slot: slot).kind == .null
                #expect(isNull == values[slot].isNull, "\(place.entity.name).\(layout.slots[slot].name ?? "")")
            }

            plan = SavePlan()
            plan.deletes = [
                SavePlan.Group(entity: entity, changes: [SavePlan.Delete(key: key, version: 2)])
            ]
            _ = try open.store.write(plan)
        }
        let after = try Self.outline(of: folder.url)
        #expect(after.schema == before.schema)
        #expect(
            after.counts.filter { !$0.key.hasPrefix("Z_RT_") } == before.counts.filter { !$0.key.hasPrefix("Z_RT_") })
        let check = try DatabaseQueue(path: folder.url.path).read {
            try String.fetchAll($0, sql: "PRAGMA integrity_check")
        }
        #expect(check == ["ok"])
    }
}
