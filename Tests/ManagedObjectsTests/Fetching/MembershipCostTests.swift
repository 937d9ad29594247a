import Foundation
import GRDB
import GRDBSQLite
import Testing

import class FoundationAdditions.NSPredicate

@testable import EngineTesting

@testable import FoundationAdditions
@testable import ManagedObjects
@testable import SQLStores

/// Owners of a certain member are found by the member, not one by one.
struct MembershipCostTests {
    static let predicates = [
        ("Item", "ANY tags == %@"), ("Item", "tags CONTAINS %@"), ("Item", "%@ IN tags"),
        ("Item", "SUBQUERY(tags, $t, $t == %@).@count > 0"),
        ("Note", "ANY items.tags == %@"), ("Note", "ANY related == %@"),
        // By a value without an index.
        ("Item", "ANY tags.name == 'found'"), ("Item", "'found' IN tags.name"),
        ("Item", "SUBQUERY(tags, $t, $t.name == 'found').@count > 0"),
        ("Item", "ANY tags.name == 'found' OR ANY tags.name == 'missing'"),
    ]

    @Test(arguments: Self.predicates.indices)
    func `the steps do not grow with the rows that do not match`(index: Int) throws {
        let (entity, format) = Self.predicates[index]
        let steps = try [300, 3000].map { try Self.steps(entity, format, count: $0) }
        #expect(steps[1] < 2 * steps[0], "\(steps)")
    }

    /// The number of steps of SQLite's machine that find three of many owners.
    private static func steps(_ name: String, _ format: String, count: Int) throws -> Int {
        let stack = try TestStack(type: NSSQLiteStoreType)
        let context = stack.context()
        let tag = context.insert("Tag", ["name": "found"])
        let other = context.insert("Tag")
        let hub = context.insert("Note")
        for number in 0..<count {
            let item = context.insert("Item")
            let note = context.insert("Note", ["items": NSOrderedSet(object: item)])
            let isFound = number % (count / 3) == 1
            item.setValue(NSSet(object: isFound ? tag : other), forKey: "tags")
            if isFound { note.setValue(NSSet(object: hub), forKey: "related") }
        }
        try context.save()
        let entity = try #require(stack.coordinator.managedObjectModel.entitiesByName[name])
        let member = format.contains("related") ? hub : tag
        let predicate = try NSPredicate(format: format, member)
            .converted(for: entity, in: context.persistentStoreCoordinator)
        let request = NSFetchRequest<NSManagedObject>(entityName: name)
        request.predicate = predicate
        #expect(try stack.context().count(for: request) == 3)
        guard let store = stack.coordinator.persistentStores.first as? SQLiteStore else { return 0 }
        let content = try store.content()
        let query = try content.compiler.rows(
            RowQuery(entity: entity, predicate: predicate), selecting: .keys, store: store.number)
        return try content.connection.read { database in
            let statement = try database.makeStatement(sql: query.sql)
            let rows = try Row.fetchAll(statement, arguments: StatementArguments(query.arguments))
            #expect(rows.count == 3)
            return Int(sqlite3_stmt_status(statement.sqliteStatement, SQLITE_STMTSTATUS_VM_STEP, 0))
        }
    }
}
