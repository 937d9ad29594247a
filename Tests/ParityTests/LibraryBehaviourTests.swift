import CoreData
import Testing

private class KeyPathSaga: NSManagedObject {
    #if canImport(Darwin)
        @NSManaged var title: String?
    #else
        var title: String? { value(forKey: "title") as? String }

        override class func registerKeyPaths() {
            super.registerKeyPaths()
            func register<Saga: KeyPathSaga>(_: Saga.Type) { KeyPathRegistry.register(\Saga.title, as: "title") }
            register(Self.self)
        }
    #endif
}

private final class KeyPathTrilogy: KeyPathSaga {}

extension NSPersistentStoreCoordinator {
    fileprivate static func made() -> Self { self.init(managedObjectModel: NSManagedObjectModel()) }
}

/// Behaviour of Core Data that packages of others assert in their own tests on Apple's framework.
@Suite struct LibraryBehaviourTests {
    /// CoreDataPlus, `test_ChangedAndCommittedValue`: https://github.com/alemar11/CoreDataPlus
    @Test func aNewObjectHasChangedWhatWasSet() throws {
        let diary = try Diary()
        let context = diary.context()
        try context.performAndWait { () throws in
            let note = context.insert("Note")
            #expect(note.changedValues().isEmpty)
            note.setValue("one", forKey: "title")
            #expect(note.changedValues().keys.sorted() == ["title"])
            let item = context.insert("Item", ["name": "a"])
            item.setValue(note, forKey: "note")
            #expect(item.changedValues().keys.sorted() == ["name", "note"])
            #expect(note.changedValues().keys.sorted() == ["items", "title"])
            try context.save()
            #expect(note.changedValues().isEmpty)
        }
    }

    /// QueryKit takes the name of a key path from this property, in `KeyPath.swift`: https://github.com/QueryKit/QueryKit
    @Test func keyPathsHaveNames() {
        func name<Root, Value>(_ keyPath: KeyPath<Root, Value>) -> String? { (keyPath as AnyKeyPath)._kvcKeyPathString }
        #expect(name(\KeyPathSaga.title) == "title")
        #expect((\KeyPathSaga.title)._kvcKeyPathString == "title")
        #expect(name(\String.count) == nil)
    }

    /// The key path of an inherited property, whose root is the subclass:
    /// https://developer.apple.com/documentation/foundation/nssortdescriptor/init(keypath:ascending:)
    @Test func keyPathsOfInheritedPropertiesHaveNames() {
        #expect((\KeyPathTrilogy.title)._kvcKeyPathString == "title")
        #expect(NSSortDescriptor(keyPath: \KeyPathTrilogy.title, ascending: true).key == "title")
        #expect(NSExpression(forKeyPath: \KeyPathTrilogy.title).keyPath == "title")
    }

    /// Sworm, `testBlobsMigration`, adds a store in a folder that does not exist: https://github.com/prisma-ai/sworm
    @Test func theFolderOfAStoreIsCreated() throws {
        let top = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: top) }
        let container = NSPersistentContainer(name: "Saga", managedObjectModel: DiaryModel.make())
        let url = top.appendingPathComponent("inner/store.sqlite")
        container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: url)]
        var failure: (any Error)?
        container.loadPersistentStores { failure = $1 }
        #expect(failure == nil)
        #expect(FileManager.default.fileExists(atPath: url.path))
    }

    /// CoreDataPlus, `destroyStore(at:options:)`: https://github.com/alemar11/CoreDataPlus
    @Test func aClassMethodCreatesACoordinator() {
        #expect(NSPersistentStoreCoordinator.made().persistentStores.isEmpty)
    }

    /// CoreDataPlus, `test_FaultAndMaterialize` refreshes an object that has not been saved. It becomes a fault, and its values
    /// are lost:
    /// https://developer.apple.com/documentation/coredata/nsmanagedobjectcontext/refresh(_:mergechanges:)
    @Test func refreshingAnUnsavedObjectDiscardsItsValues() throws {
        let diary = try Diary()
        let context = diary.context()
        try context.performAndWait { () throws in
            let tag = context.insert("Tag", ["name": "a"])
            let note = context.insert("Note", ["title": "one", "rank": 3, "tags": Set([tag])])
            context.refresh(note, mergeChanges: true)
            #expect(note.value(forKey: "title") as? String == "one")
            context.refresh(note, mergeChanges: false)
            #expect(note.isFault && note.isInserted)
            note.willAccessValue(forKey: nil)
            #expect(!note.isFault && note.isInserted)
            #expect(note.value(forKey: "rank") == nil)
            #expect(note.value(forKey: "title") as? String == "")
            #expect((tag.value(forKey: "notes") as? NSSet)?.count == 0)
            context.refresh(note, mergeChanges: false)
            #expect(note.isFault)
            try context.save()
            #expect(try context.all("Note").count == 1)
            #expect(note.value(forKey: "title") as? String == "" && !note.hasChanges)
        }
    }

    /// A new object that is a fault fires when it is read, changed, validated or undone; it remains one object of its context.
    @Test func anUnsavedFaultFires() throws {
        let diary = try Diary()
        let context = diary.context()
        try context.performAndWait { () throws in
            context.undoManager = UndoManager()
            let note = context.insert("Note", ["title": "one"])
            context.processPendingChanges()
            context.refresh(note, mergeChanges: false)
            note.setValue("two", forKey: "title")
            #expect(note.changedValues()["title"] as? String == "two")
            context.refresh(note, mergeChanges: false)
            try note.validateForInsert()
            #expect(try context.all("Note") == [note])
            context.processPendingChanges()
            context.refresh(note, mergeChanges: false)
            context.rollback()
            #expect(note.managedObjectContext == nil && note.value(forKey: "title") as? String == "")
            #expect(try context.all("Note").isEmpty)
        }
    }

    /// CoreDataPlus, `test_FaultAndMaterializeObjectWithoutNSManagedObjectContext`: an object that a reset has removed from its
    /// context has no values to fire for, and is a fault no longer:
    /// https://developer.apple.com/documentation/coredata/nsmanagedobjectcontext/reset()
    @Test func accessingAnObjectAfterAReset() throws {
        let diary = try Diary()
        let context = diary.context()
        try context.performAndWait { () throws in
            let note = context.insert("Note", ["title": "one"])
            try context.save()
            context.refresh(note, mergeChanges: false)
            context.reset()
            #expect(note.isFault)
            note.willAccessValue(forKey: nil)
            #expect(note.managedObjectContext == nil && !note.isFault)
        }
    }

    /// CoreDataPlus, `test_PersistentStoreWithHistoryTrackingEnabledGeneratesHistoryTokens`
    @Test func aSaveNotifiesOfItsHistoryToken() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: DiaryModel.make())
        try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: folder.appendingPathComponent("Diary.sqlite"),
            options: [NSPersistentHistoryTrackingKey: true as NSNumber])
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        nonisolated(unsafe) var tokens: [NSPersistentHistoryToken?] = []
        let observer = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextDidSave, object: context, queue: nil
        ) { tokens.append($0.userInfo?["newChangeToken"] as? NSPersistentHistoryToken) }
        defer { NotificationCenter.default.removeObserver(observer) }
        try context.performAndWait { () throws in
            _ = context.insert("Note", ["title": "one"])
            try context.save()
            try context.save()
        }
        #expect(tokens.count == 2 && tokens.last == .some(nil))
        #expect(tokens.first == coordinator.currentPersistentHistoryToken(fromStores: nil))
    }

    /// CoreDataPlus, `test_InferringMappingModelFromV1toV2`: an inferred mapping lists the names of its properties.
    @Test func anInferredMappingListsItsProperties() throws {
        func model(_ names: [String], renaming: [String: String] = [:]) -> NSManagedObjectModel {
            let entity = NSEntityDescription()
            entity.name = "Author"
            entity.properties = names.map { name in
                let attribute = NSAttributeDescription()
                attribute.name = name
                attribute.attributeType = .stringAttributeType
                attribute.isOptional = true
                attribute.renamingIdentifier = renaming[name]
                return attribute
            }
            let model = NSManagedObjectModel()
            model.entities = [entity]
            return model
        }
        let mapping = try NSMappingModel.inferredMappingModel(
            forSourceModel: model(["alias", "cover", "siteURL"]),
            destinationModel: model(["alias", "frontCover", "age"], renaming: ["frontCover": "cover"]))
        let userInfo = try #require(mapping.entityMappings?.first?.userInfo)
        #expect(userInfo["mappedProperties"] as? Set<String> == ["alias", "frontCover"])
        #expect(userInfo["addedProperties"] as? Set<String> == ["age"])
        #expect(userInfo["removedProperties"] as? Set<String> == ["siteURL"])
    }

    /// CoreDataPlus, `test_InvestigationNSPersistentStoreCoordinatorStoresNotifications`: the object of the notification
    /// is the store.
    @Test func theStoreIsTheObjectOfItsRemoval() throws {
        let diary = try Diary()
        nonisolated(unsafe) var removed: Any?
        let observer = NotificationCenter.default.addObserver(
            forName: .NSPersistentStoreCoordinatorWillRemoveStore, object: diary.store, queue: nil
        ) { removed = $0.object }
        defer { NotificationCenter.default.removeObserver(observer) }
        try diary.coordinator.remove(diary.store)
        #expect(removed as? NSPersistentStore === diary.store)
    }

    /// CoreDataPlus, `test_FetchAsDictionaryUsingBatchSize`: dictionaries contain object IDs.
    @Test(arguments: [NSSQLiteStoreType, NSInMemoryStoreType]) func dictionariesContainObjectIDs(type: String) throws {
        let diary = try Diary(type)
        let context = diary.context()
        try context.performAndWait { () throws in
            let note = context.insert("Note", ["title": "one"])
            try context.save()
            let request = NSFetchRequest<NSDictionary>(entityName: "Note")
            request.resultType = .dictionaryResultType
            request.propertiesToFetch = ["title", "objectID"]
            let found = try #require(try context.fetch(request).first)
            #expect(found["objectID"] as? NSManagedObjectID == note.objectID)
            #expect(found["title"] as? String == "one")
        }
    }

    /// CoreDataPlus expects the query generation in the notification of a save.
    ///
    /// https://developer.apple.com/documentation/coredata/nsmanagedobjectcontext/notificationkey/querygeneration
    @Test func aPinnedContextPostsItsGeneration() throws {
        let diary = try Diary()
        let context = diary.context()
        nonisolated(unsafe) var token: NSQueryGenerationToken?
        let observer = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextDidSave, object: context, queue: nil
        ) { notification in
            let key = NSManagedObjectContext.NotificationKey.queryGeneration.rawValue
            token = notification.userInfo?[key] as? NSQueryGenerationToken
        }
        defer { NotificationCenter.default.removeObserver(observer) }
        try context.performAndWait { () throws in
            try context.setQueryGenerationFrom(.current)
            _ = context.insert("Note", ["title": "one"])
            try context.save()
        }
        let reading = diary.context()
        let posted: NSQueryGenerationToken = try #require(token)
        try reading.performAndWait { () throws in
            try reading.setQueryGenerationFrom(posted)
            #expect(try reading.all("Note").count == 1)
            try reading.setQueryGenerationFrom(nil)
        }
    }

    /// The variables of a fetched property: the object, and the description with its user info.
    ///
    /// https://developer.apple.com/documentation/coredata/nsfetchedpropertydescription
    @Test(arguments: [NSSQLiteStoreType, NSInMemoryStoreType]) func aFetchedPropertyReadsItsUserInfo(type: String)
        throws
    {
        let model = DiaryModel.make()
        let person = try #require(model.entitiesByName["Person"])
        let property = NSFetchedPropertyDescription()
        property.name = "firstNotes"
        property.userInfo = ["limit": "2", "names": ["0", "1", "2"]]
        let request = NSFetchRequest<any NSFetchRequestResult>()
        request.entity = model.entitiesByName["Note"]
        request.predicate = NSPredicate(
            format: "author.name == $FETCH_SOURCE.name AND rank < $FETCHED_PROPERTY.userInfo.limit "
                + "AND title IN $FETCHED_PROPERTY.userInfo.names AND $FETCHED_PROPERTY.name == 'firstNotes'")
        property.fetchRequest = request
        person.properties += [property]
        let diary = try Diary(type, model: model)
        let context = diary.context()
        try context.performAndWait { () throws in
            let ada = context.insert("Person", ["name": "Ada"])
            for rank in 0..<4 {
                context.insert("Note", ["title": "\(rank)", "rank": rank]).setValue(ada, forKey: "author")
            }
            try context.save()
            let found = ada.value(forKey: "firstNotes") as? [NSManagedObject]
            #expect(found?.compactMap { $0.value(forKey: "title") as? String }.sorted() == ["0", "1"])
        }
    }

    /// Core Data ends an event of the main queue with the turn of the run loop.
    ///
    /// https://developer.apple.com/documentation/coredata/nsmanagedobjectcontext/processpendingchanges()
    @Test @MainActor func eventsEndWithTheTurnOfTheRunLoop() async throws {
        let diary = try Diary(NSInMemoryStoreType)
        let context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        context.persistentStoreCoordinator = diary.coordinator
        nonisolated(unsafe) var inserted = 0
        let observer = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextObjectsDidChange, object: context, queue: nil
        ) { notification in
            inserted += (notification.userInfo?[NSInsertedObjectsKey] as? Set<NSManagedObject>)?.count ?? 0
        }
        defer { NotificationCenter.default.removeObserver(observer) }
        for number in 0..<3 { _ = context.insert("Note", ["title": "\(number)"]) }
        #expect(inserted == 0)
        for _ in 0..<12_000 where inserted == 0 { try await Task.sleep(for: .milliseconds(10)) }
        #expect(inserted == 3)
    }

    /// `T(context:)` of a type that is known at run time:
    /// https://developer.apple.com/documentation/coredata/nsmanagedobject/init(context:)
    @Test func aClassKnownAtRunTimeCreatesItsObjects() throws {
        func make<Object: NSManagedObject>(_ type: Object.Type, in context: NSManagedObjectContext) -> Object {
            type.init(context: context)
        }
        let diary = try Diary(NSInMemoryStoreType)
        let context = diary.context()
        context.performAndWait {
            #expect(make(Note.self, in: context).entity.name == "Note")
            #expect(autoreleasepool { make(Note.self, in: context).isInserted })
        }
    }
}
