import Coral
import CoralTesting
import GRDB

/// A small store with random objects, in which objects have equal values too: a new uniqueness constraint fails for them.
struct SampleStore {
    let model: NSManagedObjectModel
    let count: Int

    /// Creates the store.
    ///
    /// Throws errors of Core Data's, and `CommandError` if the model's rules reject random values.
    func write(to url: URL) throws {
        let model = model.keepingStoredArchives()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: url,
            options: [NSSQLitePragmasOption: ["journal_mode": "DELETE"]])
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        do {
            try context.performAndWait {
                var generator = GraphGenerator(seed: 1)
                generator.values = try archives
                let objects = try generator.objects(count, in: context)
                repeatValues(of: objects)
                try context.save()
            }
        } catch let error as GraphGenerationError {
            throw Self.failure("\(error)")
        } catch {
            throw Self.failure(ErrorText.text(of: error))
        }
        try coordinator.remove(store)
    }

    /// The values of transformable attributes, which are archives here: a migration copies them as they are.
    private var archives: [String: @Sendable (Int) -> Any?] {
        get throws {
            let archive = try NSKeyedArchiver.archivedData(
                withRootObject: ["?"] as NSArray, requiringSecureCoding: true)
            var values: [String: @Sendable (Int) -> Any?] = [:]
            for entity in model.entities {
                for (name, attribute) in entity.attributesByName
                where attribute.attributeType == .transformableAttributeType && !attribute.isTransient {
                    values["\(entity.name ?? "").\(name)"] = { _ in archive }
                }
            }
            return values
        }
    }

    private static func failure(_ reason: String) -> CommandError {
        CommandError("No random objects fit the rules of the model: give a store with --store. \(reason)")
    }

    /// Gives the second object of each entity the values of the first, except those that must be unique.
    private func repeatValues(of objects: [NSManagedObject]) {
        for (_, members) in Dictionary(grouping: objects, by: { $0.entity.name ?? "" }) where members.count > 1 {
            let entity = members[0].entity
            var unique: Set<String> = []
            var level: NSEntityDescription? = entity
            while let current = level {
                for constraint in current.uniquenessConstraints { unique.formUnion(constraint.map { "\($0)" }) }
                level = current.superentity
            }
            for (name, attribute) in entity.attributesByName
            where !unique.contains(name) && !attribute.isTransient && !(attribute is NSDerivedAttributeDescription) {
                members[1].setValue(members[0].value(forKey: name), forKey: name)
            }
        }
    }

    /// Makes a store one file, without a write-ahead log, so that it can be kept in a repository.
    static func makeSingleFile(_ url: URL) throws {
        let queue = try DatabaseQueue(path: url.path)
        try queue.writeWithoutTransaction { try $0.execute(sql: "PRAGMA journal_mode = DELETE") }
        try queue.close()
    }
}
