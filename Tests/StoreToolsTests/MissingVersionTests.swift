import Foundation
import GRDB
import Testing

import class FoundationAdditions.NSPredicate

@testable import EngineTesting

@testable import FoundationAdditions
@testable import ManagedObjects
@testable import SQLStores
@testable import StoreTools

/// Rows that other programs wrote or repaired may have no version. Every change of such a row sets one, so that other contexts
/// detect the change.
@Suite struct MissingVersionTests {
    enum Change: String, CaseIterable {
        case save, overwritingSave, batchUpdate, batchDelete, rowUpdate, changeOfInverse, repair
    }

    @Test(arguments: Change.allCases) func `every change of a row without a version sets one`(_ change: Change) throws {
        let folder = try StoreFolder()
        let model = NotesModel.make()
        let stack = try TestStack(model: model, url: folder.url)
        let context = stack.context()
        let (note, item) = (context.insert("Note", ["title": "a"]), context.insert("Item", ["name": "b"]))
        note.setValue(item, forKey: "cover")
        try context.save()
        context.reset()
        let database = try DatabaseQueue(path: folder.url.path)
        try database.write { try $0.execute(sql: "UPDATE ZNOTE SET Z_OPT = NULL") }
        try make(change, context, stack, database)
        let versions = try database.read { try Int?.fetchAll($0, sql: "SELECT Z_OPT FROM ZNOTE") }
        #expect(versions == [1])
    }

    private func make(
        _ change: Change, _ context: NSManagedObjectContext, _ stack: TestStack, _ database: DatabaseQueue
    ) throws {
        let store = try #require(stack.coordinator.persistentStores.first as? SQLiteStore)
        let entity = try #require(stack.coordinator.managedObjectModel.entitiesByName["Note"])
        switch change {
        case .save:
            try context.all("Note")[0].setValue("c", forKey: "title")
            try context.save()
        case .overwritingSave:
            let note = try context.all("Note")[0]
            let slot = try #require(entity.layout.slot(named: "title"))
            var values = entity.layout.initialValues
            values[slot] = .string("c")
            let update = SavePlan.Update(
                key: note.objectID.key.number, version: 0, values: UpdatedValues(values), slots: [slot],
                checksVersion: false)
            var plan = SavePlan()
            plan.updates = [SavePlan.Group(entity: entity, changes: [update])]
            _ = try store.write(plan)
        case .batchUpdate:
            let request = NSBatchUpdateRequest(entityName: "Note")
            request.propertiesToUpdate = ["title": "c"]
            _ = try context.execute(request)
        case .batchDelete:
            // The note's reference to the item is cleared.
            _ = try context.execute(NSBatchDeleteRequest(fetchRequest: NSFetchRequest(entityName: "Item")))
        case .rowUpdate:
            _ = try context.writeRows(in: store) { writer in
                let rows = try #require(try writer.table(of: entity))
                let slot = try #require(rows.slot(ofAttribute: "count"))
                let batch = rows.makeBatch()
                batch.set(Int64(7), batch.addRow(), slot)
                try rows.update(0, of: batch, key: 1, slots: 1 << UInt64(slot))
            }
        case .changeOfInverse:
            _ = try context.writeRows(in: store) { writer in
                let item = try #require(stack.coordinator.managedObjectModel.entitiesByName["Item"])
                let reference = try #require(try writer.table(of: item)?.reference(named: "coverOf"))
                try reference.didSet(1, from: 1, to: nil)
            }
        case .repair:
            try database.write { try $0.execute(sql: "PRAGMA foreign_keys = OFF; UPDATE ZNOTE SET ZCOVER = 99") }
            let check = RowCheck(url: try #require(stack.url), model: stack.coordinator.managedObjectModel)
            let problems = try check.problems(in: context) { _, _ in }
            try check.repair(problems.filter { $0.kind == .danglingReference })
        }
    }
}
