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
}
