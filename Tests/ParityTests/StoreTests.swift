import CoreData
import Testing

/// The behaviour that programs rely on when adding, moving and removing stores.
@Suite struct StoreTests {
    private func model() -> NSManagedObjectModel {
        let name = NSAttributeDescription()
        name.name = "name"
        name.attributeType = .stringAttributeType
        let entity = NSEntityDescription()
        entity.name = "Person"
        entity.managedObjectClassName = "NSManagedObject"
        entity.properties = [name]
        let model = NSManagedObjectModel()
        model.entities = [entity]
        return model
    }

    private func folder() throws -> URL {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("StoreTests-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return folder
    }

    private func insert(_ name: String, into context: NSManagedObjectContext) -> NSManagedObject {
        let person = NSEntityDescription.insertNewObject(forEntityName: "Person", into: context)
        person.setValue(name, forKey: "name")
        return person
    }

    private func names(_ context: NSManagedObjectContext) throws -> [String] {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        return try context.fetch(request).compactMap { $0.value(forKey: "name") as? String }
    }

    /// NSPersistentContainer: "The completion handler is called once for each persistent store."
    /// https://developer.apple.com/documentation/coredata/nspersistentcontainer/loadpersistentstores(completionhandler:)
    @Test func aContainerLoadsItsStores() throws {
        let container = NSPersistentContainer(name: "People", managedObjectModel: model())
        let description = NSPersistentStoreDescription()
        #expect(description.type == NSSQLiteStoreType)
        #expect(description.url == URL(fileURLWithPath: "/dev/null"))
        description.type = NSInMemoryStoreType
        container.persistentStoreDescriptions = [description]
        var calls = 0
        container.loadPersistentStores { description, error in
            calls += 1
            #expect(error == nil)
            #expect(description.type == NSInMemoryStoreType)
        }
        #expect(calls == 1)
        let context = container.newBackgroundContext()
        try context.performAndWait {
            _ = insert("Ada", into: context)
            try context.save()
            #expect(try names(context) == ["Ada"])
        }
    }

    /// NSPersistentStoreCoordinator: a store is found by its URL, keeps its UUID, and is not found after it is removed.
    /// https://developer.apple.com/documentation/coredata/nspersistentstorecoordinator/persistentstore(for:)
    @Test func aStoreKeepsItsUUIDWhenAddedAgain() throws {
        let folder = try folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let url = folder.appendingPathComponent("People.sqlite")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model())
        let store = try coordinator.addPersistentStore(type: .sqlite, at: url)
        #expect(coordinator.persistentStore(for: url) === store)
        #expect(coordinator.url(for: store) == url)
        let identifier = store.identifier
        try coordinator.remove(store)
        #expect(coordinator.persistentStores.isEmpty)
        let again = try coordinator.addPersistentStore(type: .sqlite, at: url)
        #expect(again.identifier == identifier)
        #expect(coordinator.metadata(for: again)[NSStoreUUIDKey] as? String == identifier)
        #expect(coordinator.metadata(for: again)[NSStoreTypeKey] as? String == NSSQLiteStoreType)
    }

    /// NSManagedObjectID: "uriRepresentation() … can be used to recreate the object ID."
    /// https://developer.apple.com/documentation/coredata/nsmanagedobjectid/urirepresentation()
    @Test func aURIIsRecognised() throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model())
        let store = try coordinator.addPersistentStore(
            ofType: NSInMemoryStoreType, configurationName: nil, at: nil, options: nil)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            let person = insert("Ada", into: context)
            try context.save()
            let uri = person.objectID.uriRepresentation()
            #expect(uri.scheme == "x-coredata" && uri.host == store.identifier)
            #expect(coordinator.managedObjectID(forURIRepresentation: uri) == person.objectID)
        }
        #expect(coordinator.managedObjectID(forURIRepresentation: URL(fileURLWithPath: "/")) == nil)
    }

    /// migratePersistentStore: the coordinator continues with the new store, and contexts with their objects.
    /// https://developer.apple.com/documentation/coredata/nspersistentstorecoordinator/migratepersistentstore(_:to:options:type:)
    @Test func aStoreMovesWhileAContextUsesIt() throws {
        let folder = try folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model())
        let store = try coordinator.addPersistentStore(
            type: .sqlite, at: folder.appendingPathComponent("First.sqlite"))
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            let person = insert("Ada", into: context)
            try context.save()
            let moved = try coordinator.migratePersistentStore(
                store, to: folder.appendingPathComponent("Second.sqlite"), type: .sqlite)
            #expect(coordinator.persistentStores == [moved])
            person.setValue("Grace", forKey: "name")
            try context.save()
            #expect(try names(context) == ["Grace"])
        }
        let other = NSPersistentStoreCoordinator(managedObjectModel: model())
        try other.addPersistentStore(type: .sqlite, at: folder.appendingPathComponent("First.sqlite"))
        let reader = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        reader.persistentStoreCoordinator = other
        let left = try reader.performAndWait { try names(reader) }
        #expect(left == ["Ada"])
    }

    /// addPersistentStore: a store of another model is rejected with NSPersistentStoreIncompatibleVersionHashError.
    /// https://developer.apple.com/documentation/coredata/nspersistentstoreincompatibleversionhasherror-swift.var
    @Test func aStoreOfAnotherModelIsRefused() throws {
        let folder = try folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let url = folder.appendingPathComponent("People.sqlite")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model())
        try coordinator.remove(coordinator.addPersistentStore(type: .sqlite, at: url))
        let changed = model()
        changed.entitiesByName["Person"]?.name = "Human"
        let error = #expect(throws: CocoaError.self) {
            try NSPersistentStoreCoordinator(managedObjectModel: changed).addPersistentStore(type: .sqlite, at: url)
        }
        #expect(error?.code == .persistentStoreIncompatibleVersionHash)
    }
}
