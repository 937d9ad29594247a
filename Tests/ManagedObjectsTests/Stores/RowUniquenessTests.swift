import Foundation
import Testing

import class FoundationAdditions.NSSortDescriptor

@testable import EngineTesting

@testable import FoundationAdditions
@testable import ManagedObjects

/// Uniqueness constraints, as every store checks them.
@Suite struct RowUniquenessTests {
    private func bench(_ type: String) throws -> RowBench { try RowBench(type, model: Self.model()) }

    private static func model() -> NSManagedObjectModel {
        let person = NotesModel.entity(
            "Person",
            [NotesModel.attribute("email", .stringAttributeType), NotesModel.attribute("age", .integer32AttributeType)])
        person.uniquenessConstraints = [["email"]]
        let model = NSManagedObjectModel()
        model.entities = [person]
        return model
    }

    @Test(arguments: RowStoreTests.types) func `a value of another row is refused`(type: String) throws {
        let bench = try bench(type)
        try bench.insert("Person", [["email": .string("a@x")], ["email": .null], ["email": .null]])
        let error = #expect(throws: SaveConflicts.self) { try bench.insert("Person", [["email": .string("a@x")]]) }
        let taken = try #require(error?.taken.first)
        #expect(taken.constraint == ["email"])
        #expect(taken.key == 4)
        #expect(taken.holder == bench.key("Person", 1))
        #expect(try bench.rows.count(matching: bench.query("Person"), generation: nil) == 3)
    }

    /// Both have a column for the value, in one table.
    @Test(arguments: RowStoreTests.types) func `entities of one root have equal values of attributes of one name`(
        type: String
    ) throws {
        let thing = NotesModel.entity("Thing", [])
        let subentities = ["Left", "Right"].map { name in
            let entity = NotesModel.entity(name, [NotesModel.attribute("code", .stringAttributeType)])
            entity.uniquenessConstraints = [["code"]]
            return entity
        }
        thing.subentities = subentities
        let model = NSManagedObjectModel()
        model.entities = [thing] + subentities
        let stack = try TestStack(model: model, type: type)
        let context = stack.context()
        _ = context.insert("Left", ["code": "stored"])
        try context.save()
        let other = stack.context()
        other.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        // The conflict over one value makes all of them be looked for.
        for (name, code) in [("Left", "stored"), ("Left", "new"), ("Right", "new"), ("Right", "stored")] {
            _ = other.insert(name, ["code": code])
        }
        try other.save()
        let fresh = stack.context()
        let codes = try ["Left", "Right"].map { name in
            try fresh.all(name).compactMap { $0.value(forKey: "code") as? String }.sorted()
        }
        #expect(codes == [["new", "stored"], ["new", "stored"]])
    }

    /// Each row is compared with other rows only.
    @Test(arguments: RowStoreTests.types) func `a subentity may repeat a constraint of its superentity`(type: String)
        throws
    {
        let stack = try TestStack(model: Self.repeatingModel(), type: type)
        let context = stack.context()
        let stored = context.insert("Book", ["code": "a", "title": "old"])
        let item = context.insert("Item", ["code": "d"])
        try context.save()
        let other = stack.context()
        other.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        let books = ["a", "b", "c"].map { other.insert("Book", ["code": $0, "title": "new"]) }
        try other.save()
        let fresh = stack.context()
        let found = try fresh.all("Book", sortedBy: "code").map { book in
            ["code", "title"].map { book.value(forKey: $0) as? String }
        }
        #expect(found == [["a", "new"], ["b", "new"], ["c", "new"]])
        #expect(fresh.object(with: stored.objectID).value(forKey: "title") as? String == "new")
        #expect(books[1].managedObjectContext === other && books[2].managedObjectContext === other)
        other.mergePolicy = NSMergePolicy.error
        _ = other.insert("Book", ["code": "e"])
        _ = other.insert("Book", ["code": "d"])
        let error = #expect(throws: CocoaError.self) { try other.save() }
        let conflicts = try #require(error?.userInfo["conflictList"] as? [NSConstraintConflict])
        #expect(conflicts.count == 1)
        #expect(conflicts.first?.constraintValues["code"] as? String == "d")
        #expect(conflicts.first?.databaseObject?.objectID == item.objectID)
        #expect(error?.userInfo[NSLocalizedDescriptionKey] as? String == #"Another Item has the code "d"."#)
    }

    private static func repeatingModel() -> NSManagedObjectModel {
        let item = NotesModel.entity("Item", [NotesModel.attribute("code", .stringAttributeType)])
        let book = NotesModel.entity("Book", [NotesModel.attribute("title", .stringAttributeType)])
        item.uniquenessConstraints = [["code"]]
        book.uniquenessConstraints = [["code"]]
        item.subentities = [book]
        let model = NSManagedObjectModel()
        model.entities = [item, book]
        return model
    }

    /// Values are cleared before rows exchange them; those of other columns stay.
    @Test(arguments: RowStoreTests.types) func `a save keeps the unique values that it does not change`(type: String)
        throws
    {
        let person = NotesModel.entity(
            "Person", ["first", "last", "email", "code"].map { NotesModel.attribute($0, .stringAttributeType) })
        person.uniquenessConstraints = [["first", "last"], ["email"], ["code"]]
        let model = NSManagedObjectModel()
        model.entities = [person]
        let stack = try TestStack(model: model, type: type)
        let context = stack.context()
        let people = ["a", "b"].map { name in
            context.insert("Person", ["first": "1\(name)", "last": "x", "email": "\(name)@x", "code": name])
        }
        try context.save()
        func values() throws -> [[String?]] {
            let fresh = stack.context()
            return people.map { person in
                let object = fresh.object(with: person.objectID)
                return ["first", "last", "email", "code"].map { object.value(forKey: $0) as? String }
            }
        }
        people[0].setValue("1b", forKey: "first")
        people[1].setValue("y", forKey: "last")
        try context.save()
        #expect(try values() == [["1b", "x", "a@x", "a"], ["1b", "y", "b@x", "b"]])
        people[0].setValue("new@x", forKey: "email")
        people[1].setValue("new", forKey: "code")
        try context.save()
        #expect(try values() == [["1b", "x", "new@x", "a"], ["1b", "y", "b@x", "new"]])
        people[0].setValue("b@x", forKey: "email")
        people[1].setValue("new@x", forKey: "email")
        try context.save()
        #expect(try values() == [["1b", "x", "b@x", "a"], ["1b", "y", "new@x", "new"]])
    }

    @Test(arguments: RowStoreTests.types) func `two rows of one plan cannot have equal values`(type: String) throws {
        let bench = try bench(type)
        let error = #expect(throws: SaveConflicts.self) {
            try bench.insert("Person", [["email": .string("a@x")], ["email": .string("a@x")]])
        }
        let taken = try #require(error?.taken.first)
        #expect([taken.key, taken.holder.number].sorted() == [1, 2])
    }

    /// Rows are inserted in blocks; each refused row is reported, and only refused rows are.
    @Test(arguments: RowStoreTests.types) func `each refused row of many is reported`(type: String) throws {
        let bench = try bench(type)
        try bench.insert("Person", [["email": .string("a@x")], ["email": .string("b@x")]])
        func rows(_ change: (inout [String]) -> Void = { _ in }) -> [[String: Value]] {
            var emails = (0..<50).map { "\($0)@x" }
            change(&emails)
            return emails.map { ["email": .string($0)] }
        }
        let error = #expect(throws: SaveConflicts.self) {
            try bench.insert(
                "Person", rows { emails in (emails[7], emails[20], emails[33]) = ("a@x", "b@x", emails[31]) })
        }
        let taken = try #require(error?.taken).sorted { $0.key < $1.key }
        #expect(taken.map(\.key) == [10, 23, 36])
        #expect(taken.map(\.holder) == [1, 2, 34].map { bench.key("Person", $0) })
        #expect(try bench.rows.count(matching: bench.query("Person"), generation: nil) == 2)
        try bench.insert("Person", rows())
        let sort = [NSSortDescriptor(key: "email", ascending: true)]
        let emails = try bench.read(bench.query("Person", sort: sort), "email")
        #expect(emails == (["a@x", "b@x"] + (0..<50).map { "\($0)@x" }).sorted())
    }

    @Test(arguments: RowStoreTests.types) func `a value may be used again when its row is deleted or changed`(
        type: String
    ) throws {
        let bench = try bench(type)
        let keys = try bench.insert("Person", [["email": .string("a@x")], ["email": .string("b@x")]])
        try bench.update("Person", keys[0], version: 1, ["email": .string("c@x")])
        try bench.insert("Person", [["email": .string("a@x")]])
        var plan = SavePlan()
        let entity = bench.entity("Person")
        plan.deletes = [SavePlan.Group(entity: entity, changes: [SavePlan.Delete(key: keys[1], version: 1)])]
        let key = try bench.rows.reserveKeys(entity: entity, count: 1).lowerBound
        plan.inserts = [
            SavePlan.Group(
                entity: entity,
                changes: [SavePlan.Insert(key: key, values: bench.values("Person", ["email": .string("b@x")]))])
        ]
        _ = try bench.rows.write(plan)
        let emails = try bench.read(
            bench.query("Person", sort: [NSSortDescriptor(key: "email", ascending: true)]), "email")
        #expect(emails == ["a@x", "b@x", "c@x"])
    }

    @Test func `the objects that have the values of many new ones are read together`() throws {
        func readCount(_ count: Int) throws -> Int {
            let log = StatementLog()
            let stack = try log.stack(model: Self.model())
            func people() -> NSManagedObjectContext {
                let context = stack.context()
                for number in 0..<count { _ = context.insert("Person", ["email": "\(number)@x"]) }
                return context
            }
            try people().save()
            let context = people()
            context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            return try log.counting { try context.save() }.count { $0.contains("ZEMAIL FROM ZPERSON WHERE Z_PK IN") }
        }
        #expect(try readCount(100) == 1)
        #expect(try readCount(400) == 1)
    }
}
