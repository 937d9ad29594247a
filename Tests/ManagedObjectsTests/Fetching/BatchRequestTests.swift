import Foundation
import Testing

import class FoundationAdditions.NSExpression
import class FoundationAdditions.NSPredicate

@testable import EngineTesting

@testable import FoundationAdditions
@testable import ManagedObjects

@Suite("Batch requests change rows without objects", .serialized)
struct BatchRequestTests {
    private func stack(_ type: String) throws -> (TestStack, NSManagedObjectContext) {
        let stack = try TestStack(model: QueryModel.make(), type: type)
        return (stack, stack.context())
    }

    // MARK: - Inserting

    @Test(arguments: TestStores.sqlTypes) func `rows from dictionaries have defaults, composites and references`(
        type: String
    ) throws {
        let (stack, context) = try stack(type)
        let parent = context.insert("Note", ["title": "parent"])
        try context.save()
        let request = NSBatchInsertRequest(
            entityName: "Note",
            objects: [
                ["title": "a", "count": 5, "price": NSDecimalNumber(string: "1.5"), "place": ["city": "Bern"]],
                ["title": "b", "place.city": "Basel", "parent": parent.objectID],
            ])
        request.resultType = .objectIDs
        let result = try #require(try context.execute(request) as? NSBatchInsertResult)
        let ids = try #require(result.result as? [NSManagedObjectID])
        #expect(ids.map { $0.uriRepresentation().lastPathComponent } == ["p2", "p3"])
        let fresh = stack.context()
        let notes = try fresh.all("Note", sortedBy: "title")
        #expect(notes.map { $0.value(forKey: "title") as? String } == ["a", "b", "parent"])
        #expect(notes[0].value(forKey: "place.city") as? String == "Bern")
        #expect(notes[1].value(forKey: "place.city") as? String == "Basel")
        #expect((notes[1].value(forKey: "parent") as? NSManagedObject)?.objectID == parent.objectID)
        // The next object gets the next key.
        let next = fresh.insert("Note")
        try fresh.save()
        #expect(next.objectID.uriRepresentation().lastPathComponent == "p4")
    }

    @Test(arguments: TestStores.sqlTypes) func `rows come from a block until it returns true`(type: String) throws {
        let (stack, context) = try stack(type)
        var number = 0
        let request = NSBatchInsertRequest(entityName: "Note") { (dictionary: NSMutableDictionary) in
            guard number < 1000 else { return true }
            dictionary["count"] = number
            number += 1
            return false
        }
        request.resultType = .count
        #expect((try context.execute(request) as? NSBatchInsertResult)?.result as? Int == 1000)
        var made = 0
        let objects = NSBatchInsertRequest(entityName: "SpecialItem") { (object: NSManagedObject) in
            guard made < 3 else { return true }
            object.setValue("item \(made)", forKey: "name")
            made += 1
            return false
        }
        #expect((try context.execute(objects) as? NSBatchInsertResult)?.result as? Bool == true)
        let fresh = stack.context()
        #expect(try fresh.count(for: NSFetchRequest<NSManagedObject>(entityName: "Note")) == 1000)
        #expect(
            try fresh.all("Item", sortedBy: "name").map { $0.entity.name } == Array(repeating: "SpecialItem", count: 3))
    }

    @Test(arguments: TestStores.sqlTypes) func `a wrong value or key inserts nothing at all`(type: String) throws {
        let (stack, context) = try stack(type)
        for wrong: [String: Any] in [["count": "five"], ["titel": "a"], ["items": [1]]] {
            let request = NSBatchInsertRequest(entityName: "Note", objects: [["title": "good"], wrong])
            #expect(throws: CocoaError.self) { try context.execute(request) }
        }
        #expect(try stack.context().all("Note").isEmpty)
        #expect(throws: CocoaError.self) {
            try context.execute(NSBatchInsertRequest(entityName: "Nowhere", objects: []))
        }
    }

    @Test(arguments: TestStores.sqlTypes) func `the merge policy resolves conflicts of unique values`(type: String)
        throws
    {
        let model = QueryModel.make()
        model.entitiesByName["Tag"]?.uniquenessConstraints = [["name"]]
        let stack = try TestStack(model: model, type: type)
        let context = stack.context()
        let first = context.insert("Tag", ["name": "red"])
        try context.save()
        func insert(_ policy: NSMergePolicy) throws -> [NSManagedObjectID]? {
            context.mergePolicy = policy
            let request = NSBatchInsertRequest(
                entityName: "Tag", objects: [["name": "red"], ["name": "\(policy.mergeType)"]])
            request.resultType = .objectIDs
            return (try context.execute(request) as? NSBatchInsertResult)?.result as? [NSManagedObjectID]
        }
        #expect(throws: CocoaError.self) { try insert(.error) }
        #expect(try insert(.mergeByPropertyStoreTrump)?.count == 1)
        #expect(try insert(.mergeByPropertyObjectTrump)?.first == first.objectID)
        #expect(try stack.context().all("Tag").count == 3)
    }

    // MARK: - Updating

    @Test(arguments: TestStores.sqlTypes) func `constants and expressions over a row's own values`(type: String) throws
    {
        let (stack, context) = try stack(type)
        for count in 0..<10 { _ = context.insert("Note", ["count": count, "small": 1, "title": "note"]) }
        let parent = context.insert("Note", ["title": "parent"])
        try context.save()
        let request = NSBatchUpdateRequest(entityName: "Note")
        request.predicate = NSPredicate(format: "count >= 5 AND parent.title == nil")
        request.propertiesToUpdate = [
            "count": NSExpression(format: "count + small * 10"), "title": "changed", "parent": parent.objectID,
        ]
        request.resultType = .updatedObjectsCountResultType
        #expect((try context.execute(request) as? NSBatchUpdateResult)?.result as? Int == 5)
        let fresh = stack.context()
        let notes = try fresh.all("Note", sortedBy: "count")
        #expect(notes.compactMap { $0.value(forKey: "count") as? Int } == [0, 1, 2, 3, 4, 15, 16, 17, 18, 19])
        #expect((notes.last?.value(forKey: "parent") as? NSManagedObject)?.objectID == parent.objectID)
        // The version is incremented, so that a context with the old row detects the change.
        #expect(notes.last?.version == 2 || notes.last?.isFault == true)
    }

    @Test(arguments: TestStores.sqlTypes) func `a predicate that SQL cannot express selects rows too`(type: String)
        throws
    {
        let (_, context) = try stack(type)
        for title in ["a", "bb", "ccc"] { _ = context.insert("Note", ["title": title]) }
        try context.save()
        let request = NSBatchUpdateRequest(entityName: "Note")
        request.predicate = NSPredicate(format: "title.length > 1")
        request.propertiesToUpdate = ["count": 7]
        request.resultType = .updatedObjectIDsResultType
        let ids = (try context.execute(request) as? NSBatchUpdateResult)?.result as? [NSManagedObjectID]
        #expect(ids?.count == 2)
    }

    @Test(arguments: TestStores.sqlTypes) func `an expression over related rows is rejected`(type: String) throws {
        let (_, context) = try stack(type)
        let request = NSBatchUpdateRequest(entityName: "Note")
        request.propertiesToUpdate = ["count": NSExpression(format: "parent.count")]
        #expect(throws: CocoaError.self) { try context.execute(request) }
        request.propertiesToUpdate = ["title": NSExpression(format: "count + 1")]
        #expect(throws: CocoaError.self) { try context.execute(request) }
    }

    // MARK: - Deleting

    @Test(arguments: TestStores.sqlTypes) func `cascading relationships delete, nullifying ones clear references`(
        type: String
    ) throws {
        let (stack, context) = try stack(type)
        let tag = context.insert("Tag", ["name": "red"])
        for number in 0..<4 {
            let note = context.insert("Note", ["count": number])
            for size in 0..<3 {
                let item = context.insert("Item", ["size": size])
                item.setValue(note, forKey: "note")
                item.setValue(Set([tag]), forKey: "tags")
            }
            let child = context.insert("Note", ["count": 100 + number])
            child.setValue(note, forKey: "parent")
        }
        try context.save()
        let fetch = NSFetchRequest<any NSFetchRequestResult>(entityName: "Note")
        fetch.predicate = NSPredicate(format: "count < 2")
        let request = NSBatchDeleteRequest(fetchRequest: fetch)
        request.resultType = .resultTypeCount
        // Two notes and their six items.
        #expect((try context.execute(request) as? NSBatchDeleteResult)?.result as? Int == 8)
        let fresh = stack.context()
        #expect(try fresh.all("Note").count == 6)
        #expect(try fresh.all("Item").count == 6)
        let orphans = NSFetchRequest<NSManagedObject>(entityName: "Note")
        orphans.predicate = NSPredicate(format: "count >= 100 AND parent == nil")
        #expect(try fresh.count(for: orphans) == 2)
        #expect((try fresh.all("Tag").first?.value(forKey: "items") as? Set<NSManagedObject>)?.count == 6)
    }

    @Test(arguments: TestStores.sqlTypes) func `a rule that denies makes the request fail as a whole`(type: String)
        throws
    {
        let stack = try TestStack(type: type)
        let context = stack.context()
        let full = context.insert("Folder", ["name": "full"])
        let note = context.insert("Note", ["title": "inside"])
        note.setValue(full, forKey: "folder")
        _ = context.insert("Folder", ["name": "empty"])
        try context.save()
        let all = NSBatchDeleteRequest(fetchRequest: NSFetchRequest<NSManagedObject>(entityName: "Folder"))
        do {
            _ = try context.execute(all)
            Issue.record("nothing was denied")
        } catch let error as CocoaError {
            #expect(error.code == .validationRelationshipDeniedDelete)
        }
        #expect(try stack.context().all("Folder").count == 2)
    }

    @Test(arguments: TestStores.sqlTypes) func `objects are deleted by their IDs`(type: String) throws {
        let (stack, context) = try stack(type)
        let notes = (0..<5).map { context.insert("Note", ["count": $0]) }
        try context.save()
        let request = NSBatchDeleteRequest(objectIDs: [notes[1].objectID, notes[3].objectID])
        request.resultType = .resultTypeObjectIDs
        let ids = (try context.execute(request) as? NSBatchDeleteResult)?.result as? [NSManagedObjectID]
        #expect(ids == [notes[1].objectID, notes[3].objectID])
        let fresh = stack.context()
        let left = try fresh.all("Note", sortedBy: "count")
        #expect(left.compactMap { $0.value(forKey: "count") as? Int } == [0, 2, 4])
    }

    // MARK: - Side effects

    @Test(arguments: TestStores.sqlTypes) func `history contains every row`(type: String) throws {
        let stack = try TestStack(
            model: QueryModel.make(), type: type, options: [NSPersistentHistoryTrackingKey: true as NSNumber])
        let context = stack.context()
        context.transactionAuthor = "batch"
        try context.execute(NSBatchInsertRequest(entityName: "Tag", objects: [["name": "a"], ["name": "b"]]))
        let update = NSBatchUpdateRequest(entityName: "Tag")
        update.predicate = NSPredicate(format: "name == 'b'")
        update.propertiesToUpdate = ["name": "c"]
        try context.execute(update)
        try context.execute(NSBatchDeleteRequest(fetchRequest: NSFetchRequest<NSManagedObject>(entityName: "Tag")))
        let store = try #require(stack.coordinator.persistentStores.first as? any HistoryStore)
        var numbers: [Int64] = []
        var changes: [[Int64]] = []
        try store.readHistory(HistoryQuery(start: .beginning)) { transaction, rows in
            numbers.append(transaction.number)
            changes += rows.map { [Int64($0.type.rawValue), $0.key, Int64(numbers.count)] }
            return true
        }
        #expect(changes == [[0, 1, 1], [0, 2, 1], [1, 2, 2], [2, 1, 3], [2, 2, 3]])
        #expect(
            numbers == (TestStores.numbersConcurrently && type == TestStores.postgreSQL ? numbers.sorted() : [1, 2, 3]))
    }

    @Test(arguments: TestStores.sqlTypes) func `derived attributes are updated`(type: String) throws {
        let model = QueryModel.make()
        let derived = NSDerivedAttributeDescription()
        derived.name = "key"
        derived.attributeType = .stringAttributeType
        derived.isOptional = true
        derived.derivationExpression = NSExpression(format: "canonical:(title)")
        let note = try #require(model.entitiesByName["Note"])
        note.properties += [derived]
        let stack = try TestStack(model: model, type: type)
        let context = stack.context()
        try context.execute(NSBatchInsertRequest(entityName: "Note", objects: [["title": "Äb", "body": "Öl"]]))
        func key() throws -> String? {
            let fresh = stack.context()
            return try fresh.all("Note").first?.value(forKey: "key") as? String
        }
        #expect(try key() == "ab")
        let update = NSBatchUpdateRequest(entityName: "Note")
        update.propertiesToUpdate = ["title": "Ü"]
        try context.execute(update)
        #expect(try key() == "u")
        update.propertiesToUpdate = ["title": NSExpression(forKeyPath: "body")]
        if type == NSSQLiteStoreType {
            try context.execute(update)
            #expect(try key() == "ol")
        } else {
            // PostgreSQL does not have the function.
            #expect(throws: CocoaError.self) { try context.execute(update) }
            #expect(try key() == "u")
        }
        update.propertiesToUpdate = ["title": NSNull()]
        try context.execute(update)
        #expect(try key() == nil)
    }

    @Test(arguments: TestStores.sqlTypes) func `attributes that a subentity derives are updated`(type: String) throws {
        func derived(_ name: String, _ format: String) -> NSDerivedAttributeDescription {
            let attribute = NSDerivedAttributeDescription()
            (attribute.name, attribute.isOptional) = (name, true)
            attribute.attributeType = format == "now()" ? .dateAttributeType : .stringAttributeType
            attribute.derivationExpression = NSExpression(format: format)
            return attribute
        }
        let animal = NotesModel.entity(
            "Animal",
            [NotesModel.attribute("name", .stringAttributeType), NotesModel.attribute("sound", .stringAttributeType)])
        let cat = NotesModel.entity("Cat", [derived("key", "uppercase:(name)")])
        let dog = NotesModel.entity("Dog", [derived("key", "canonical:(name)"), derived("copy", "name")])
        let puppy = NotesModel.entity("Puppy", [derived("time", "now()")])
        dog.subentities = [puppy]
        animal.subentities = [cat, dog]
        let model = NSManagedObjectModel()
        model.entities = [animal, cat, dog, puppy]
        let stack = try TestStack(model: model, type: type)
        let context = stack.context()
        for name in ["Animal", "Cat", "Dog", "Puppy"] {
            _ = context.insert(name, ["name": "old", "sound": "Wuff"])
        }
        try context.save()
        func values(_ entity: String, _ key: String) throws -> String? {
            let fresh = stack.context()
            return try fresh.all(entity).map { $0.value(forKey: key) as? String ?? "-" }.sorted().joined(separator: " ")
        }
        let time = try #require(try context.all("Puppy").first?.value(forKey: "time") as? Date)
        let update = NSBatchUpdateRequest(entityName: "Animal")
        update.propertiesToUpdate = ["name": "É"]
        update.resultType = .updatedObjectsCountResultType
        #expect((try context.execute(update) as? NSBatchUpdateResult)?.result as? Int == 4)
        #expect(try values("Cat", "key") == "É")
        #expect(try values("Dog", "key") == "e e")
        #expect(try values("Dog", "copy") == "É É")
        let fresh = stack.context()
        let later = try #require(try fresh.all("Puppy").first?.value(forKey: "time") as? Date)
        #expect(later > time)
        // Only the rows that the predicate selects, by the values before the update.
        update.predicate = NSPredicate(format: "name == 'É'")
        update.propertiesToUpdate = ["name": NSExpression(forKeyPath: "sound")]
        if type == NSSQLiteStoreType {
            try context.execute(update)
            #expect(try values("Cat", "key") == "WUFF")
            #expect(try values("Dog", "key") == "wuff wuff")
            #expect(try values("Dog", "copy") == "Wuff Wuff")
        } else {
            // PostgreSQL does not have the function.
            #expect(throws: CocoaError.self) { try context.execute(update) }
            #expect(try values("Dog", "key") == "e e")
        }
    }
}
