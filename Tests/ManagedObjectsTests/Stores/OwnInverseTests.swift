import Foundation
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
}
