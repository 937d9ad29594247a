import Foundation
import GRDB
import Testing

import class FoundationAdditions.NSExpression

@testable import EngineTesting

@testable import FoundationAdditions
@testable import ManagedObjects

/// The number of members of a relationship that is its own inverse, as a derived attribute: the store has each pair once.
@Suite(.serialized) struct OwnInverseTests {
    private static func model(isDerived: Bool = true) -> NSManagedObjectModel {
        let person = NotesModel.entity("Person", [NotesModel.attribute("name", .stringAttributeType)])
        let friends = NSRelationshipDescription()
        (friends.name, friends.destinationEntity, friends.maxCount) = ("friends", person, 0)
        friends.isOptional = true
        friends.deleteRule = .nullifyDeleteRule
        friends.inverseRelationship = friends
        person.properties += [friends]
        if isDerived { person.properties += [DerivedModel.derived("count", .integer64AttributeType, "friends.@count")] }
        let model = NSManagedObjectModel()
        model.entities = [person]
        return model
    }

    private func counts(_ stack: TestStack) throws -> [Int] {
        let context = stack.context()
        return try context.all("Person", sortedBy: "name").map { $0.value(forKey: "count") as? Int ?? 0 }
    }

    @Test(arguments: TestStores.sqlTypes) func `members are counted on both sides`(type: String) throws {
        let stack = try TestStack(model: Self.model(), type: type)
        let context = stack.context()
        let people = ["a", "b", "c", "d"].map { context.insert("Person", ["name": $0]) }
        func befriend(_ index: Int, _ others: [Int]) {
            people[index].setValue(Set(others.map { people[$0] }), forKey: "friends")
        }
        befriend(0, [1, 2])
        try context.save()
        #expect(try counts(stack) == [2, 1, 1, 0])
        // The context has the new values of both sides.
        #expect(people.map { $0.value(forKey: "count") as? Int ?? 0 } == [2, 1, 1, 0])
        befriend(3, [3, 1, 0])
        try context.save()
        #expect(try counts(stack) == [3, 2, 1, 3])
        #expect(people.map { $0.value(forKey: "count") as? Int ?? 0 } == [3, 2, 1, 3])
        befriend(0, [2])
        try context.save()
        #expect(try counts(stack) == [1, 1, 1, 2])
        context.delete(people[3])
        try context.save()
        #expect(try counts(stack) == [1, 0, 1])
        try context.execute(NSBatchDeleteRequest(objectIDs: [people[2].objectID]))
        #expect(try counts(stack) == [0, 0])
    }

    @Test(arguments: TestStores.sqlTypes) func `a migration counts members on both sides`(type: String) throws {
        try TestStores.withFile { file in
            let url = try #require(type == NSSQLiteStoreType ? file : TestStores.url(type))
            let old = try TestStack(model: Self.model(isDerived: false), type: type, url: url)
            let context = old.context()
            let people = ["a", "b", "c"].map { context.insert("Person", ["name": $0]) }
            people[0].setValue(Set([people[0], people[1]]), forKey: "friends")
            people[1].setValue(Set([people[0], people[2]]), forKey: "friends")
            try context.save()
            for store in old.coordinator.persistentStores { try old.coordinator.remove(store) }
            let options: [AnyHashable: Any] = [
                NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
            ]
            let new = try TestStack(model: Self.model(), type: type, url: url, options: options)
            #expect(try counts(new) == [2, 2, 1])
        }
    }

    // MARK: - Stores of earlier versions

    private func triggers(_ url: URL) throws -> [String: String] {
        try DatabaseQueue(path: url.path).read { database in
            let rows = try Row.fetchAll(database, sql: "SELECT name, sql FROM sqlite_master WHERE type = 'trigger'")
            return Dictionary(uniqueKeysWithValues: rows.map { ($0["name"] as String, $0["sql"] as String) })
        }
    }

    /// Gives a store of the people a, b, c and d, of whom a is a friend of b and c, the triggers and counts of earlier versions.
    private func createFormer(_ url: URL, addition: String = "") throws {
        let stack = try TestStack(model: Self.model(), type: NSSQLiteStoreType, url: url)
        let context = stack.context()
        let people = ["a", "b", "c", "d"].map { context.insert("Person", ["name": $0]) }
        people[0].setValue(Set(people[1...2]), forKey: "friends")
        try context.save()
        for store in stack.coordinator.persistentStores { try stack.coordinator.remove(store) }
        let name = try #require(try triggers(url).keys.first { $0.hasSuffix("_Person_count_PARAMETER_INSERT") })
        let table = String(name.dropFirst("Z_DA_".count).dropLast("_Person_count_PARAMETER_INSERT".count))
        try DatabaseQueue(path: url.path).write { database in
            let columns = try Row.fetchAll(database, sql: "PRAGMA table_info(\(table))").map { $0["name"] as String }
            let source = try #require(columns.first { $0 != "REFLEXIVE" })
            func replace(
                _ on: String, _ suffix: String, _ event: String, _ value: String, _ report: String, _ key: String
            ) throws {
                let name = "Z_DA_\(on)_Person_count_\(suffix)"
                try database.execute(sql: "DROP TRIGGER \(name)")
                try database.execute(
                    sql: "CREATE TRIGGER \(name) AFTER \(event) ON \(on) FOR EACH ROW BEGIN "
                        + "UPDATE ZPERSON SET ZCOUNT = \(value) WHERE Z_PK = \(key); "
                        + "SELECT NSCoreDataDATrigger\(report)AffectedObjectValue('ZPERSON', Z_ENT, Z_PK, 'count', ZCOUNT) "
                        + "FROM ZPERSON WHERE Z_PK = \(key);\(addition) END")
            }
            let (added, removed) = ("NEW.\(source)", "OLD.\(source)")
            try replace(table, "PARAMETER_INSERT", "INSERT", "IFNULL(ZCOUNT, 0) + 1", "Updated", added)
            try replace(table, "PARAMETER_DELETE", "DELETE", "ZCOUNT - 1", "Updated", removed)
            let count = "(SELECT COUNT(*) FROM \(table) WHERE \(source) = NEW.Z_PK)"
            try replace("ZPERSON", "SOURCE_INSERT", "INSERT", count, "InsertUpdated", "NEW.Z_PK")
            try database.execute(
                sql: "UPDATE ZPERSON SET ZCOUNT = (SELECT COUNT(*) FROM \(table) WHERE \(source) = ZPERSON.Z_PK)")
        }
    }

    @Test func `the triggers and counts of a store of an earlier version are corrected when it is opened`() throws {
        try TestStores.withFile { url in
            try createFormer(url)
            let former = try triggers(url)
            let stack = try TestStack(model: Self.model(), type: NSSQLiteStoreType, url: url)
            #expect(try counts(stack) == [2, 1, 1, 0])
            let new = try TestStores.withFile { other in
                _ = try TestStack(model: Self.model(), type: NSSQLiteStoreType, url: other)
                return try triggers(other)
            }
            #expect(former != new)
            #expect(try triggers(url) == new)
            let context = stack.context()
            let people = try context.all("Person", sortedBy: "name")
            people[3].setValue(Set([people[0]]), forKey: "friends")
            people[1].setValue(Set<NSManagedObject>(), forKey: "friends")
            try context.save()
            #expect(try counts(stack) == [2, 0, 1, 1])
        }
    }

    @Test func `triggers with any other text stay, and a store that is opened for reading`() throws {
        try TestStores.withFile { url in
            try createFormer(url, addition: " SELECT 1;")
            let former = try triggers(url)
            let stack = try TestStack(model: Self.model(), type: NSSQLiteStoreType, url: url)
            let found = try counts(stack)
            #expect(try triggers(url) == former && found != [2, 1, 1, 0])
        }
        try TestStores.withFile { url in
            try createFormer(url)
            let former = try triggers(url)
            _ = try TestStack(
                model: Self.model(), type: NSSQLiteStoreType, url: url,
                options: [NSReadOnlyPersistentStoreOption: true as NSNumber])
            #expect(try triggers(url) == former)
        }
    }
}
