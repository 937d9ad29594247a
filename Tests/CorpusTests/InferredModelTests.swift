#if !canImport(Darwin)
    import Coral
    import Foundation
    import GRDB
    import Testing

    /// Models that are inferred from the tables of real stores.
    @Suite struct InferredModelTests {
        private static let stores =
            Corpus.stores + ["CoreDataBooks.CDBStore"].flatMap { Corpus.files(named: $0) }

        /// With the inferred model each store opens, and has as many objects as rows. Every relationship leads to an object.
        @Test(.enabled(if: !stores.isEmpty, "The corpus is absent."), arguments: stores)
        func `an inferred model reads every row`(_ original: URL) throws {
            let store = try StoreCopy(original)
            let inspection = try StoreInspection(url: store.url)
            let model = try #require(try inspection.inferredModel())
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            try coordinator.addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: nil, at: store.url,
                options: [NSReadOnlyPersistentStoreOption: true, NSIgnorePersistentStoreVersioningOption: true])
            let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            context.persistentStoreCoordinator = coordinator
            try context.performAndWait {
                for entity in model.entities where entity.superentity == nil {
                    let name = entity.name ?? ""
                    let objects = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: name))
                    let count = try context.count(for: NSFetchRequest<NSManagedObject>(entityName: name))
                    #expect(objects.count == count)
                    for object in objects.prefix(200) {
                        for attribute in entity.attributesByName.keys { _ = object.value(forKey: attribute) }
                        for (relationship, description) in entity.relationshipsByName {
                            guard let target = object.value(forKey: relationship) as? NSManagedObject,
                                let destination = description.destinationEntity
                            else { continue }
                            #expect(target.entity.isKindOf(entity: destination))
                            _ = try context.existingObject(with: target.objectID)
                        }
                    }
                }
            }
            // The entities are those of Core Data's own table, which may have other names than a cached model of a later version.
            let names = try DatabaseQueue(path: store.url.path).read { database in
                try String.fetchAll(database, sql: "SELECT Z_NAME FROM Z_PRIMARYKEY WHERE Z_ENT < 16000")
            }
            #expect(Set(model.entitiesByName.keys) == Set(names))
        }
    }
#endif
