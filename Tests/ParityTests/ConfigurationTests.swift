import CoreData
import Testing

/// Stores with a part of a model's entities.
@Suite struct ConfigurationTests {
    /// The entities of CoreDataPlus' second sample model that matter here; the configuration of its first store does not list
    /// the graphic novels, which are books.
    private static func model() -> NSManagedObjectModel {
        func entity(_ name: String, _ attribute: String) -> NSEntityDescription {
            let entity = DiaryModel.entity(name, NSManagedObject.self)
            entity.properties = [DiaryModel.attribute(attribute, .stringAttributeType)]
            return entity
        }
        let (book, novel) = (entity("Book", "title"), entity("GraphicNovel", "style"))
        let feedback = entity("Feedback", "comment")
        book.subentities = [novel]
        let model = NSManagedObjectModel()
        model.entities = [book, novel, feedback]
        model.setEntities([book, feedback], forConfigurationName: "Part1")
        model.setEntities([feedback], forConfigurationName: "Part2")
        return model
    }

    private final class Folder {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)

        init() throws { try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true) }
        deinit { try? FileManager.default.removeItem(at: url) }
    }

    private func open<Result>(
        _ url: URL, _ configuration: String?, _ body: (NSManagedObjectContext) throws -> Result
    ) throws -> Result {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model())
        let store = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: configuration, at: url, options: nil)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        let result = try context.performAndWait { try body(context) }
        context.performAndWait { context.reset() }
        try coordinator.remove(store)
        return result
    }

    /// CoreDataPlus, `test_MigrationFromV1ToV2WithMultipleStores`, opens a store of the whole model with the configuration that
    /// lists all entities but a subentity. According to its comments, Core Data refuses a configuration that lacks more
    /// entities.
    @Test func aStoreHasTheSubentitiesThatItsConfigurationDoesNotList() throws {
        let folder = try Folder()
        let url = folder.url.appendingPathComponent("Whole.sqlite")
        try open(url, nil) { context in
            _ = context.insert("GraphicNovel", ["title": "Maus", "style": "black and white"])
            try context.save()
        }
        try open(url, "Part1") { context in
            #expect(try context.all("Book").map { $0.entity.name } == ["GraphicNovel"])
            _ = context.insert("GraphicNovel", ["title": "Persepolis", "style": "ink"])
            try context.save()
        }
        let error = #expect(throws: CocoaError.self) { try open(url, "Part2") { _ in } }
        #expect(error?.code.rawValue == NSPersistentStoreIncompatibleVersionHashError)
        let titles = try open(url, nil) {
            try $0.all("GraphicNovel", sortedBy: "title").map { $0.value(forKey: "title") as? String }
        }
        #expect(titles == ["Maus", "Persepolis"])
    }

    /// A store that is created with the configuration also contains these subentities, and can be opened with the configuration
    /// again.
    @Test(arguments: [NSSQLiteStoreType, NSInMemoryStoreType]) func aNewStoreHasUnlistedSubentities(type: String) throws
    {
        let folder = try Folder()
        let model = Self.model()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(
            ofType: type, configurationName: "Part1", at: folder.url.appendingPathComponent("Part.sqlite"), options: nil
        )
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait { () throws in
            _ = context.insert("GraphicNovel", ["title": "Maus"])
            try context.save()
            #expect(try context.all("Book").count == 1)
        }
        #expect(model.isConfiguration(withName: "Part1", compatibleWithStoreMetadata: store.metadata))
        #expect(model.isConfiguration(withName: nil, compatibleWithStoreMetadata: store.metadata))
        #expect(!model.isConfiguration(withName: "Part2", compatibleWithStoreMetadata: store.metadata))
        #expect(model.entities(forConfigurationName: "Part1")?.count == 2)
    }
}
