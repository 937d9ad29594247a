import CoreData
import Testing

/// The behaviour that entity classes rely on.
///
/// Page: https://developer.apple.com/documentation/coredata/nsmanagedobject
@Suite struct ObjectTests {
    /// https://developer.apple.com/documentation/coredata/nsmanagedobject/willsave()
    @Test func aLifeFromInsertionToDeletion() throws {
        let diary = try Diary()
        let context = diary.context()
        try context.performAndWait {
            let log = context.log()
            let note = Note(context: context)
            #expect(log.events == ["awakeFromInsert"])
            note.setValue("one", forKey: "title")
            log.events = []
            try context.save()
            #expect(log.events == ["willSave", "validateForInsert", "didSave"])
            log.events = []
            context.refresh(note, mergeChanges: false)
            #expect(log.events == ["willTurnIntoFault", "didTurnIntoFault"])
            #expect(note.isFault)
            log.events = []
            #expect(note.value(forKey: "title") as? String == "one")
            #expect(log.events == ["awakeFromFetch"])
            log.events = []
            context.delete(note)
            #expect(log.events == ["prepareForDeletion"])
            #expect(note.isDeleted)
            log.events = []
            try context.save()
            #expect(log.events.first == "willSave")
            #expect(note.managedObjectContext == nil)
            #expect(!note.isDeleted)
        }
    }

    /// https://developer.apple.com/documentation/coredata/nsmanagedobject/awake(fromsnapshotevents:)
    @Test func snapshotEventsAreReported() throws {
        let diary = try Diary()
        let (context, other) = (diary.context(), diary.context())
        try context.performAndWait {
            let log = context.log()
            let note = Note(context: context)
            note.setValue("one", forKey: "title")
            try context.save()
            func events(after change: () throws -> Void) rethrows -> [String] {
                log.events = []
                try change()
                return log.events.filter { $0.hasPrefix("awakeFromSnapshotEvents") }
            }
            func awakenings(_ type: NSSnapshotEventType) -> [String] { ["awakeFromSnapshotEvents \(type.rawValue)"] }
            #expect(events { context.refresh(note, mergeChanges: true) } == [])
            note.setValue("two", forKey: "title")
            #expect(events { context.refresh(note, mergeChanges: true) } == awakenings(.refresh))
            #expect(events { context.rollback() } == awakenings(.rollback))
            try other.performAndWait {
                try other.existingObject(with: note.objectID).setValue("three", forKey: "title")
                try other.save()
            }
            note.setValue("four", forKey: "title")
            context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            #expect(try events { try context.save() } == awakenings(.mergePolicy))
            #expect(note.value(forKey: "title") as? String == "four")
        }
    }

    /// https://developer.apple.com/documentation/coredata/nsmanagedobject/changedvalues()
    @Test func changedValuesAreThoseSinceTheSave() throws {
        let diary = try Diary()
        let context = diary.context()
        try context.performAndWait {
            let note = context.insert("Note", ["title": "one", "rank": 1])
            try context.save()
            #expect(note.changedValues().isEmpty)
            note.setValue("two", forKey: "title")
            note.setValue(nil, forKey: "rank")
            #expect(note.changedValues()["title"] as? String == "two")
            #expect(note.changedValues()["rank"] is NSNull)
            #expect(note.committedValues(forKeys: ["title", "rank"])["title"] as? String == "one")
            #expect(note.committedValues(forKeys: ["rank"])["rank"] as? Int == 1)
            #expect(note.hasPersistentChangedValues)
            context.refresh(note, mergeChanges: true)
            #expect(note.value(forKey: "title") as? String == "two")
            context.rollback()
            #expect(note.value(forKey: "title") as? String == "one")
            note.setValue(true, forKey: "draft")
            #expect(note.hasChanges && !note.hasPersistentChangedValues)
        }
    }

    /// https://developer.apple.com/documentation/coredata/nsmanagedobject/init(context:)
    @Test func aClassHasAnEntity() throws {
        let diary = try Diary()
        let context = diary.context()
        try context.performAndWait {
            let note = Note(context: context)
            #expect(note.entity.name == "Note" && note.managedObjectContext === context)
            try context.save()
            let request = NSFetchRequest<Note>(entityName: "Note")
            #expect(try context.fetch(request).first === note)
        }
    }

    /// https://developer.apple.com/library/archive/documentation/Cocoa/Conceptual/KeyValueCoding/CollectionOperators.html
    @Test func keyPathsAndCollectionOperators() throws {
        let diary = try Diary()
        let context = diary.context()
        context.performAndWait {
            let person = context.insert("Person", ["name": "Ada"])
            let note = context.insert("Note", ["title": "one"])
            note.setValue(person, forKey: "author")
            let items = [3.0, 1.0, 2.0].map { context.insert("Item", ["name": "\($0)", "price": $0]) }
            note.setValue(NSOrderedSet(array: items), forKey: "items")
            #expect(note.value(forKeyPath: "author.name") as? String == "Ada")
            #expect(note.value(forKeyPath: "items.@count") as? Int == 3)
            #expect(note.value(forKeyPath: "items.@sum.price") as? Double == 6)
            #expect(note.value(forKeyPath: "items.@max.price") as? Double == 3)
            #expect(note.value(forKeyPath: "items.@avg.price") as? Double == 2)
            note.setValue("Grace", forKeyPath: "author.name")
            #expect(person.value(forKey: "name") as? String == "Grace")
            let values = note.dictionaryWithValues(forKeys: ["title", "rank"])
            #expect(values["title"] as? String == "one" && values["rank"] is NSNull)
        }
    }

    /// Importers read documents by paths, as CoreDataKit does, and code reads relationships by the key of their objects.
    ///
    /// https://developer.apple.com/documentation/foundation/nsset/value(forkey:)
    /// https://developer.apple.com/library/archive/documentation/Cocoa/Conceptual/KeyValueCoding/CollectionOperators.html
    @Test func collectionsHaveKeys() throws {
        let document: NSDictionary = [
            "person": ["name": "Ada", "age": NSNull()], "items": [["price": 1], ["price": 2], [:]], "nested.key": 1,
        ]
        #expect(document.value(forKeyPath: "person.name") as? String == "Ada")
        #expect(document.value(forKeyPath: "person.age") is NSNull)
        #expect(document.value(forKeyPath: "person.desk") == nil)
        #expect(document.value(forKeyPath: "missing.name") == nil)
        #expect(document.value(forKeyPath: "items.@count") as? Int == 3)
        let prices = document.value(forKeyPath: "items.price") as? [Any]
        #expect(prices?.prefix(2).map { $0 as? Int } == [1, 2] && prices?.last is NSNull)
        let diary = try Diary()
        let context = diary.context()
        context.performAndWait {
            let note = context.insert("Note", ["title": "one"])
            let items = [3.0, 1.0].map { context.insert("Item", ["name": "\($0)", "price": $0]) }
            items[0].setValue(note, forKey: "note")
            note.setValue(NSOrderedSet(array: items), forKey: "items")
            note.setValue(Set([context.insert("Tag", ["name": "a"]), context.insert("Tag", [:])]), forKey: "tags")
            let ordered = note.value(forKey: "items") as? NSOrderedSet
            #expect(ordered?.value(forKey: "price") as? NSOrderedSet == [3.0, 1.0])
            #expect(ordered?.value(forKeyPath: "@sum.price") as? Double == 4)
            let tags = note.value(forKey: "tags") as? NSSet
            #expect(tags?.value(forKey: "name") as? Set<String> == ["a"])
            #expect(tags?.value(forKeyPath: "@count") as? Int == 2)
            #expect((items as NSArray).value(forKey: "name") as? [String] == ["3.0", "1.0"])
            #expect((items as NSArray).value(forKeyPath: "note.title") as? [String] == ["one", "one"])
            tags?.setValue("b", forKey: "name")
            #expect(tags?.value(forKey: "name") as? Set<String> == ["b"])
        }
    }

    /// Accessors of ordered relationships that Xcode writes for Objective-C announce their changes by places, SwiftDatastore's too.
    ///
    /// https://developer.apple.com/documentation/objectivec/nsobject-swift.class/willchange(_:valuesat:forkey:)
    @Test func placesOfOrderedRelationshipsAreAnnounced() throws {
        let diary = try Diary()
        let context = diary.context()
        try context.performAndWait { () throws in
            let note = context.insert("Note", ["title": "one"])
            try context.save()
            let item = context.insert("Item", ["name": "first"])
            note.willChange(.insertion, valuesAt: IndexSet(integer: 0), forKey: "items")
            let items = NSMutableOrderedSet(orderedSet: note.primitiveValue(forKey: "items") as? NSOrderedSet ?? [])
            items.insert(item, at: 0)
            note.setPrimitiveValue(items, forKey: "items")
            note.didChange(.insertion, valuesAt: IndexSet(integer: 0), forKey: "items")
            #expect(note.hasChanges)
            #expect(item.value(forKey: "note") as? NSManagedObject === note)
            try context.save()
            context.refreshAllObjects()
            #expect((note.value(forKey: "items") as? NSOrderedSet)?.array as? [NSManagedObject] == [item])
        }
    }

    /// https://developer.apple.com/documentation/objectivec/nsobject-swift.class/mutablesetvalue(forkey:)
    @Test func collectionsThatChangeRelationships() throws {
        let diary = try Diary()
        let context = diary.context()
        context.performAndWait {
            let note = context.insert("Note")
            let tags = ["a", "b"].map { context.insert("Tag", ["name": $0]) }
            let set = note.mutableSetValue(forKey: "tags")
            set.addObjects(from: tags)
            #expect((tags[1].value(forKey: "notes") as? NSSet)?.contains(note) == true)
            set.remove(tags[0])
            #expect(note.value(forKey: "tags") as? NSSet == NSSet(object: tags[1]))
            // A set of its own class can be printed, as Foundation's can.
            #expect("\(set)".contains("Tag"))
            let items = (0..<4).map { context.insert("Item", ["name": "\($0)"]) }
            let ordered = note.mutableOrderedSetValue(forKey: "items")
            ordered.addObjects(from: items)
            ordered.moveObjects(at: IndexSet(integer: 3), to: 0)
            ordered.removeObject(at: 1)
            let names = ((note.value(forKey: "items") as? NSOrderedSet)?.array as? [NSManagedObject])?
                .compactMap { $0.value(forKey: "name") as? String }
            #expect(names == ["3", "1", "2"])
            #expect(items[0].value(forKey: "note") == nil)
        }
    }

    /// https://developer.apple.com/documentation/coredata/nsmanagedobject/validateforinsert()
    @Test func allValidationErrorsAreReportedTogether() throws {
        let diary = try Diary()
        let context = diary.context()
        try context.performAndWait {
            let note = context.insert("Note")
            note.setValue(nil, forKey: "title")
            let person = context.insert("Person", ["age": -3])
            let error = #expect(throws: (any Error).self) { try context.save() } as NSError?
            #expect(error?.domain == NSCocoaErrorDomain && error?.code == NSValidationMultipleErrorsError)
            let details = error?.userInfo[NSDetailedErrorsKey] as? [NSError]
            #expect(details?.contains { $0.code == NSValidationMissingMandatoryPropertyError } == true)
            #expect(
                details?.contains { $0.userInfo[NSValidationObjectErrorKey] as? NSManagedObject === person } == true)
            note.setValue("one", forKey: "title")
            let single = #expect(throws: (any Error).self) { try context.save() } as NSError?
            #expect(single?.userInfo[NSValidationKeyErrorKey] as? String == "age")
            #expect(single?.userInfo[NSValidationValueErrorKey] as? Int == -3)
            person.setValue(3, forKey: "age")
            try context.save()
        }
    }

    /// https://developer.apple.com/documentation/coredata/nsmanagedobject/willsave(): a value that `willSave` sets is
    /// written, and `willSave` is called for the object that it changes.
    @Test func rollbackAndResetDiscardUnsavedChanges() throws {
        let diary = try Diary()
        let context = diary.context()
        try context.performAndWait {
            let note = context.insert("Note", ["title": "one"])
            try context.save()
            let log = context.log()
            let other = context.insert("Note", ["title": "two"])
            note.setValue("changed", forKey: "title")
            context.delete(note)
            context.rollback()
            #expect(note.value(forKey: "title") as? String == "one" && !note.isDeleted)
            #expect(other.managedObjectContext == nil && !context.hasChanges)
            #expect(log.events.contains { $0.hasPrefix("awakeFromSnapshotEvents") })
            context.reset()
            #expect(context.registeredObjects.isEmpty)
            #expect(note.managedObjectContext == nil)
        }
    }

    /// https://developer.apple.com/documentation/coredata/nsmanagedobject/objectids(forrelationshipnamed:)
    @Test func relationshipsReportTheirFaults() throws {
        let diary = try Diary()
        let context = diary.context()
        try context.performAndWait {
            let note = context.insert("Note", ["title": "one"])
            note.setValue(NSOrderedSet(array: [context.insert("Item")]), forKey: "items")
            try context.save()
            context.reset()
            let read = try #require(try context.all("Note").first)
            #expect(read.isFault && read.hasFault(forRelationshipNamed: "items"))
            let ids = read.objectIDs(forRelationshipNamed: "items")
            #expect(ids.count == 1 && ids[0].entity.name == "Item" && !ids[0].isTemporaryID)
            _ = (read.value(forKey: "items") as? NSOrderedSet)?.count
            #expect(!read.isFault && !read.hasFault(forRelationshipNamed: "items"))
        }
    }
}
