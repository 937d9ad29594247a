import Foundation
import Testing

import class FoundationAdditions.NSExpression
import class FoundationAdditions.NSPredicate

@testable import EngineTesting

@testable import FoundationAdditions
@testable import ManagedObjects

/// Batch insertions of rows with unique values that other rows have.
@Suite(.serialized) struct BatchConflictTests {
    private static var history: [AnyHashable: Any] { [NSPersistentHistoryTrackingKey: true as NSNumber] }

    @discardableResult
    private func insert(
        _ entity: String, _ rows: [[String: Any]], _ policy: NSMergePolicy, in stack: TestStack
    ) throws -> [NSManagedObjectID] {
        let context = stack.context()
        context.mergePolicy = policy
        let request = NSBatchInsertRequest(entityName: entity, objects: rows)
        request.resultType = .objectIDs
        let result = try context.execute(request) as? NSBatchInsertResult
        return try #require(result?.result as? [NSManagedObjectID])
    }

    private func values(_ entity: String, _ keys: [String], in stack: TestStack) throws -> [[String]] {
        let context = stack.context()
        return try context.all(entity).map { object in keys.map { "\(object.value(forKey: $0) ?? "-")" } }
            .sorted { $0[0] < $1[0] }
    }

    // MARK: - Entities of one hierarchy

    private static func animals() -> NSManagedObjectModel {
        let animal = NotesModel.entity(
            "Animal",
            [NotesModel.attribute("name", .stringAttributeType), NotesModel.attribute("sound", .stringAttributeType)])
        animal.uniquenessConstraints = [["name"]]
        let cat = NotesModel.entity("Cat", [NotesModel.attribute("lives", .integer32AttributeType)])
        let dog = NotesModel.entity(
            "Dog",
            (0..<20).map { NotesModel.attribute("trick\($0)", .stringAttributeType) }
                + [
                    DerivedModel.derived("key", .stringAttributeType, "canonical:(sound)"),
                    NotesModel.attribute("weight", .integer32AttributeType, default: 5),
                ])
        animal.subentities = [cat, dog]
        let model = NSManagedObjectModel()
        model.entities = [animal, cat, dog]
        return model
    }

    @Test(arguments: TestStores.sqlTypes) func `a row of a sibling entity gets the values that both entities have`(
        type: String
    ) throws {
        for policy in [NSMergePolicy.mergeByPropertyObjectTrump, .overwrite] {
            let stack = try TestStack(model: Self.animals(), type: type, options: Self.history)
            let context = stack.context()
            let dog = context.insert("Dog", ["name": "Rex", "sound": "Wuff", "trick0": "sit", "weight": 30])
            let cat = context.insert("Cat", ["name": "Tom", "sound": "Miau", "lives": 7])
            let animal = context.insert("Animal", ["name": "Ann", "sound": "-"])
            try context.save()
            let cats: [[String: Any]] = [["name": "Rex", "sound": "Ä", "lives": 9], ["name": "Tim", "lives": 1]]
            #expect(try insert("Cat", cats, policy, in: stack).first == dog.objectID)
            let dogs: [[String: Any]] = [
                ["name": "Tom", "sound": "Ö", "trick19": "roll", "weight": 1],
                ["name": "Ann", "sound": "Ü", "trick3": "jump"],
            ]
            #expect(try insert("Dog", dogs, policy, in: stack) == [cat.objectID, animal.objectID])
            let keys = ["name", "sound"]
            #expect(
                try values("Dog", keys + ["key", "trick0", "trick19", "weight"], in: stack)
                    == [["Rex", "Ä", "a", "sit", "-", "30"]])
            #expect(
                try values("Cat", keys + ["lives"], in: stack) == [["Tim", "-", "1"], ["Tom", "Ö", "7"]])
            #expect(try values("Animal", keys, in: stack).first == ["Ann", "Ü"])
            #expect(try stack.updates() == [["key", "name", "sound"], ["name", "sound"], ["name", "sound"]])
        }
    }

    @Test(arguments: TestStores.sqlTypes) func `a stored row keeps what is derived from values that it keeps`(
        type: String
    ) throws {
        let model = Self.animals()
        let stack = try TestStack(model: model, type: type)
        let context = stack.context()
        _ = context.insert("Dog", ["name": "Rex", "sound": "Wüff"])
        try context.save()
        try insert("Dog", [["name": "Rex", "weight": 8]], .mergeByPropertyObjectTrump, in: stack)
        #expect(try values("Dog", ["sound", "key", "weight"], in: stack) == [["Wüff", "wuff", "8"]])
    }

    @Test(arguments: TestStores.sqlTypes) func `a row does not conflict with itself over a repeated constraint`(
        type: String
    ) throws {
        for policy in [NSMergePolicy.error, .mergeByPropertyObjectTrump, .mergeByPropertyStoreTrump] {
            let model = Self.animals()
            model.entitiesByName["Cat"]?.uniquenessConstraints = [["name"]]
            let stack = try TestStack(model: model, type: type)
            let rows: [[String: Any]] = [["name": "Tim", "lives": 1], ["name": "Tom", "lives": 2]]
            let ids = try insert("Cat", rows, policy, in: stack)
            #expect(Set(ids).count == 2)
            #expect(try values("Cat", ["name", "lives"], in: stack) == [["Tim", "1"], ["Tom", "2"]])
        }
    }

    // MARK: - Several constraints

    private static func accounts() -> NSManagedObjectModel {
        let account = NotesModel.entity(
            "Account",
            [
                NotesModel.attribute("email", .stringAttributeType),
                NotesModel.attribute("code", .integer64AttributeType),
            ]
        )
        account.uniquenessConstraints = [["email"], ["code"]]
        let model = NSManagedObjectModel()
        model.entities = [account]
        return model
    }

    /// The first row is not inserted, and does not keep the second from being inserted.
    @Test(arguments: TestStores.sqlTypes) func `a row that is not inserted holds no unique values`(type: String) throws
    {
        for (policy, result) in [
            (NSMergePolicy.mergeByPropertyStoreTrump, [["a", "0"], ["b", "1"], ["c", "2"]]),
            (.mergeByPropertyObjectTrump, [["b", "1"], ["c", "2"]]),
        ] {
            let stack = try TestStack(model: Self.accounts(), type: type)
            try insert("Account", [["email": "a", "code": 0]], .error, in: stack)
            let rows: [[String: Any]] = [
                ["email": "a", "code": 1], ["email": "b", "code": 1], ["email": "c", "code": 2],
            ]
            let ids = try insert("Account", rows, policy, in: stack)
            #expect(try values("Account", ["email", "code"], in: stack) == result)
            let context = stack.context()
            for id in ids { #expect(throws: Never.self) { try context.existingObject(with: id) } }
        }
    }

    // MARK: - Equal values

    @Test(arguments: TestStores.sqlTypes) func `whole numbers are compared exactly`(type: String) throws {
        let stack = try TestStack(model: Self.accounts(), type: type)
        let large = 9_007_199_254_740_992
        let rows = [["code": large], ["code": large + 1], ["code": Int.max], ["code": Int.max - 1]]
        #expect(try insert("Account", rows, .error, in: stack).count == 4)
        // The conflict over one value makes all of them be looked for.
        let context = stack.context()
        context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        for code in [large, large + 4, large + 5] { _ = context.insert("Account", ["code": code]) }
        try context.save()
        let fresh = stack.context()
        let codes = try fresh.all("Account").compactMap { $0.value(forKey: "code") as? Int }.sorted()
        #expect(codes == [large, large + 1, large + 4, large + 5, Int.max - 1, Int.max])
    }

    @Test(arguments: TestStores.sqlTypes) func `numbers are compared as the database compares them`(type: String) throws
    {
        let point = NotesModel.entity(
            "Point",
            [NotesModel.attribute("x", .doubleAttributeType), NotesModel.attribute("name", .stringAttributeType)])
        point.uniquenessConstraints = [["x"]]
        let model = NSManagedObjectModel()
        model.entities = [point]
        let stack = try TestStack(model: model, type: type)
        let zeros: [[String: Any]] = [["x": 0.0, "name": "a"], ["x": -0.0, "name": "b"]]
        #expect(try insert("Point", zeros, .mergeByPropertyStoreTrump, in: stack).count == 1)
        #expect(try values("Point", ["name"], in: stack) == [["a"]])
        // Not a number is stored as NULL, which equals nothing.
        #expect(try insert("Point", [["x": Double.nan], ["x": Double.nan]], .error, in: stack).count == 2)
    }
}

extension TestStack {
    /// The names of the properties that the updates of the history have changed, sorted.
    fileprivate func updates() throws -> [[String]] {
        let context = context()
        let request = NSPersistentHistoryChangeRequest.fetchHistory(after: nil as NSPersistentHistoryToken?)
        let result = try context.execute(request) as? NSPersistentHistoryResult
        let transactions = result?.result as? [NSPersistentHistoryTransaction] ?? []
        return transactions.flatMap { $0.changes ?? [] }.compactMap { change in
            change.changeType == .update ? change.updatedProperties?.map(\.name).sorted() : nil
        }
    }
}
