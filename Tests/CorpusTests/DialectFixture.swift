import Coral
import Foundation

/// The model and the documents of a library's own tests.
final class DialectFixture {
    let model: NSManagedObjectModel
    let context: NSManagedObjectContext
    private let documents: URL

    /// - Parameter model: The path of the model below the corpus.
    /// - Parameter documents: The path of the folder with the documents.
    /// - Parameter change: Changes the model's annotations before the model is used.
    init(model: String, documents: String, change: (NSManagedObjectModel) -> Void = { _ in }) throws {
        let compiled = try NSManagedObjectModel.model(contentsOf: Corpus.root.appendingPathComponent(model))
        change(compiled)
        self.model = compiled
        self.documents = Corpus.root.appendingPathComponent(documents)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: compiled)
        try coordinator.addPersistentStore(
            ofType: NSInMemoryStoreType, configurationName: nil, at: nil, options: nil)
        context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
    }

    static func exists(_ path: String) -> Bool {
        FileManager.default.fileExists(atPath: Corpus.root.appendingPathComponent(path).path)
    }

    func document(_ name: String) throws -> Data {
        try Data(contentsOf: documents.appendingPathComponent(name))
    }

    /// Imports a document; returns the objects at its top.
    @discardableResult
    func take(
        _ document: ImportSource, as entity: String, _ options: ImportOptions
    ) throws -> [NSManagedObject] {
        try context.performAndWait {
            var importer = GraphImporter(into: context, options: options)
            // Core Data validates a save into a parent context, where objects with only a key are invalid.
            if !Engine.hasRows { importer.worksInPlace = true }
            let plan: ImportPlan<NSManagedObject> = try importer.plan(document, entity: entity)
            return try plan.apply()
        }
    }

    func save() throws { try context.performAndWait { try context.save() } }

    func objects(_ entity: String, where format: String? = nil) throws -> [NSManagedObject] {
        try context.performAndWait {
            let request = NSFetchRequest<NSManagedObject>(entityName: entity)
            if let format { request.predicate = NSPredicate(format: format) }
            return try context.fetch(request)
        }
    }

    func insert(_ entity: String, _ values: [String: Any]) -> NSManagedObject {
        context.performAndWait {
            let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
            for (key, value) in values { object.setValue(value, forKey: key) }
            return object
        }
    }
}

extension NSManagedObject {
    func int(_ key: String) -> Int? { (value(forKey: key) as? NSNumber)?.intValue }
    func text(_ key: String) -> String? { value(forKey: key) as? String }
    func one(_ key: String) -> NSManagedObject? { value(forKey: key) as? NSManagedObject }
    func many(_ key: String) -> [NSManagedObject] {
        if let ordered = value(forKey: key) as? NSOrderedSet {
            return ordered.array.compactMap { $0 as? NSManagedObject }
        }
        return (value(forKey: key) as? NSSet)?.allObjects.compactMap { $0 as? NSManagedObject } ?? []
    }
}
