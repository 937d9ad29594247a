import CoreData
import Foundation
import Testing

/// Accessors that a program writes itself: they announce a change, set the primitive value, and report the change.
/// Managed object accessor methods, Core Data Programming Guide:
/// https://developer.apple.com/library/archive/documentation/Cocoa/Conceptual/CoreData/DynamicAccessorGeneration.html
@Suite struct PrimitiveAccessorTests {
    private func set(_ value: Any?, _ key: String, of object: NSManagedObject) {
        object.willChangeValue(forKey: key)
        object.setPrimitiveValue(value, forKey: key)
        object.didChangeValue(forKey: key)
    }

    private func names(_ object: NSManagedObject, _ key: String) -> Set<NSManagedObjectID> {
        let value = object.value(forKey: key)
        let members = (value as? NSOrderedSet)?.array ?? (value as? NSSet)?.allObjects ?? []
        return Set(members.compactMap { ($0 as? NSManagedObject)?.objectID })
    }

    @Test func aToOneMaintainsItsInverse() throws {
        let diary = try Diary()
        let context = diary.context()
        try context.performAndWait {
            let note = context.insert("Note", ["title": "one"])
            let (ada, bob) = (context.insert("Person", ["name": "Ada"]), context.insert("Person", ["name": "Bob"]))
            set(ada, "author", of: note)
            #expect(names(ada, "notes") == [note.objectID])
            try context.save()
            set(bob, "author", of: note)
            #expect(names(ada, "notes") == [])
            #expect(names(bob, "notes") == [note.objectID])
            try context.save()
            context.reset()
            let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
            request.predicate = NSPredicate(format: "notes.@count == 1")
            let holders = try context.fetch(request).compactMap { $0.value(forKey: "name") as? String }
            #expect(holders == ["Bob"])
        }
    }

    @Test func aToManyMaintainsItsInverse() throws {
        let diary = try Diary()
        let context = diary.context()
        try context.performAndWait {
            let note = context.insert("Note", ["title": "one"])
            let ada = context.insert("Person", ["name": "Ada"])
            let added: Set<AnyHashable> = [note]
            ada.willChangeValue(forKey: "notes", withSetMutation: .union, using: added)
            let notes = ada.primitiveValue(forKey: "notes") as? NSMutableSet
            notes?.add(note)
            ada.didChangeValue(forKey: "notes", withSetMutation: .union, using: added)
            #expect(note.value(forKey: "author") as? NSManagedObject === ada)
            try context.save()
            context.refreshAllObjects()
            #expect(names(ada, "notes") == [note.objectID])
            ada.willChangeValue(forKey: "notes", withSetMutation: .minus, using: added)
            (ada.primitiveValue(forKey: "notes") as? NSMutableSet)?.remove(note)
            ada.didChangeValue(forKey: "notes", withSetMutation: .minus, using: added)
            #expect(note.value(forKey: "author") == nil)
            try context.save()
            context.refreshAllObjects()
            #expect(names(ada, "notes") == [])
        }
    }

    /// The object that had the value before loses it.
    @Test func aOneToOneMaintainsItsInverse() throws {
        let model = DiaryModel.make()
        let (note, person) = (try #require(model.entitiesByName["Note"]), try #require(model.entitiesByName["Person"]))
        DiaryModel.relate(
            person, "favourite", (1, false, .nullifyDeleteRule), note, "admirer", (1, false, .nullifyDeleteRule))
        let diary = try Diary(model: model)
        let context = diary.context()
        try context.performAndWait {
            let note = context.insert("Note", ["title": "one"])
            let (ada, bob) = (context.insert("Person", ["name": "Ada"]), context.insert("Person", ["name": "Bob"]))
            set(note, "favourite", of: ada)
            #expect(note.value(forKey: "admirer") as? NSManagedObject === ada)
            try context.save()
            set(bob, "admirer", of: note)
            #expect(ada.value(forKey: "favourite") == nil)
            #expect(bob.value(forKey: "favourite") as? NSManagedObject === note)
            try context.save()
            context.refreshAllObjects()
            #expect(ada.value(forKey: "favourite") == nil)
            #expect(note.value(forKey: "admirer") as? NSManagedObject === bob)
            set(nil, "favourite", of: bob)
            #expect(note.value(forKey: "admirer") == nil)
        }
    }

    @Test func orderedAndManyToManyRelationshipsMaintainTheirInverses() throws {
        let diary = try Diary()
        let context = diary.context()
        try context.performAndWait {
            let note = context.insert("Note", ["title": "one"])
            let items = ["a", "b", "c"].map { context.insert("Item", ["name": $0]) }
            set(NSOrderedSet(array: items), "items", of: note)
            #expect(items.allSatisfy { $0.value(forKey: "note") as? NSManagedObject === note })
            try context.save()
            note.willChangeValue(forKey: "items")
            (note.primitiveValue(forKey: "items") as? NSMutableOrderedSet)?.removeObject(at: 1)
            note.didChangeValue(forKey: "items")
            #expect(items.map { $0.value(forKey: "note") == nil } == [false, true, false])
            let tag = context.insert("Tag", ["name": "red"])
            set(NSSet(array: [tag]), "tags", of: note)
            #expect(names(tag, "notes") == [note.objectID])
            try context.save()
            context.refreshAllObjects()
            #expect(names(tag, "notes") == [note.objectID])
            let left = (note.value(forKey: "items") as? NSOrderedSet)?.array as? [NSManagedObject]
            #expect(left?.compactMap { $0.value(forKey: "name") as? String } == ["a", "c"])
        }
    }

    /// The accessors that Core Data generates for primitive values are methods, which key-value coding finds by their names.
    /// CoreDataPlus sets `primitiveUpdatedAt` in `awakeFromInsert()`: https://github.com/alemar11/CoreDataPlus
    @Test func aKeyOfAPrimitiveValue() throws {
        let diary = try Diary()
        let context = diary.context()
        try context.performAndWait {
            let note = context.insert("Note", ["title": "one"])
            #expect(note.value(forKey: "primitiveTitle") as? String == "one")
            #expect(note.value(forKeyPath: "primitiveTitle") as? String == "one")
            #expect(NSPredicate(format: "primitiveTitle == 'one'").evaluate(with: note))
            try context.save()
            note.setValue("two", forKey: "primitiveTitle")
            #expect(note.value(forKey: "title") as? String == "two")
            #expect(!note.isUpdated)
            note.willChangeValue(forKey: "title")
            note.setValuesForKeys(["primitiveTitle": "three"])
            note.didChangeValue(forKey: "title")
            #expect(note.isUpdated)
            try context.save()
            context.refreshAllObjects()
            #expect(note.dictionaryWithValues(forKeys: ["primitiveTitle"])["primitiveTitle"] as? String == "three")
        }
    }

    @Test func aKeyOfAPrimitiveRelationship() throws {
        let diary = try Diary()
        let context = diary.context()
        try context.performAndWait {
            let note = context.insert("Note", ["title": "one"])
            let ada = context.insert("Person", ["name": "Ada"])
            note.willChangeValue(forKey: "author")
            note.setValue(ada, forKey: "primitiveAuthor")
            note.didChangeValue(forKey: "author")
            #expect(note.value(forKey: "primitiveAuthor") as? NSManagedObject === ada)
            #expect(names(ada, "notes") == [note.objectID])
            let items = ["a", "b"].map { context.insert("Item", ["name": $0]) }
            note.willChangeValue(forKey: "items")
            note.mutableOrderedSetValue(forKey: "primitiveItems").add(items[1])
            (note.value(forKey: "primitiveItems") as? NSMutableOrderedSet)?.insert(items[0], at: 0)
            #expect(items[0].value(forKey: "note") == nil)
            note.didChangeValue(forKey: "items")
            #expect(items[0].value(forKey: "note") as? NSManagedObject === note)
            let tag = context.insert("Tag", ["name": "red"])
            note.willChangeValue(forKey: "tags")
            note.mutableSetValue(forKey: "primitiveTags").add(tag)
            note.didChangeValue(forKey: "tags")
            #expect(names(tag, "notes") == [note.objectID])
            try context.save()
            context.refreshAllObjects()
            #expect((note.value(forKey: "primitiveItems") as? NSOrderedSet)?.array as? [NSManagedObject] == items)
        }
    }

    /// A property of the model takes precedence, and only a key whose rest begins with a capital letter is that of a primitive
    /// value.
    @Test func keysThatBeginWithPrimitive() throws {
        let model = DiaryModel.make()
        let tag = try #require(model.entitiesByName["Tag"])
        tag.managedObjectClassName = NSStringFromClass(TagWithAnyKey.self)
        tag.properties += ["primitiveName", "URL", "s"].map { DiaryModel.attribute($0, .stringAttributeType) }
        let diary = try Diary(model: model)
        let context = diary.context()
        context.performAndWait {
            let tag = context.insert("Tag", ["name": "red", "primitiveName": "green", "URL": "coral.org", "s": "x"])
            #expect(tag.value(forKey: "primitiveName") as? String == "green")
            #expect(tag.value(forKey: "name") as? String == "red")
            #expect(tag.value(forKey: "primitiveURL") as? String == "coral.org")
            for key in ["primitive", "primitives", "primitivename", "primitiveColour"] {
                #expect(tag.value(forKey: key) as? String == "none")
            }
        }
    }
}

/// A tag that returns a value for keys that it does not have.
final class TagWithAnyKey: NSManagedObject {
    override func value(forUndefinedKey key: String) -> Any? { "none" }
}
