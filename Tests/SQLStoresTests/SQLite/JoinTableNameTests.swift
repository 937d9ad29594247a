import Foundation
import GRDB
import SQLStatements
import Testing
@testable import EngineTesting
@testable import SQLiteConnections

@testable import ManagedObjects
@testable import SQLStores

/// The names of join tables: those of the naming rules, those of another store, and arbitrary ones.
@Suite struct JoinTableNameTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)

    init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }

    /// Pages that refer to each other, in both directions, and have labels.
    private func model(labelled isLabelled: Bool = true) -> NSManagedObjectModel {
        func relationship(_ name: String, _ destination: NSEntityDescription) -> NSRelationshipDescription {
            let relationship = NSRelationshipDescription()
            (relationship.name, relationship.destinationEntity, relationship.maxCount) = (name, destination, 0)
            relationship.isOptional = true
            return relationship
        }
        func connect(_ one: NSRelationshipDescription, _ other: NSRelationshipDescription) {
            (one.inverseRelationship, other.inverseRelationship) = (other, one)
        }
        let (page, label) = (NSEntityDescription(), NSEntityDescription())
        (page.name, label.name) = ("Page", "Label")
        let (links, origins) = (relationship("links", page), relationship("origins", page))
        let (labels, pages) = (relationship("labels", label), relationship("pages", page))
        connect(links, origins)
        connect(labels, pages)
        page.properties = isLabelled ? [links, origins, labels] : [links, origins]
        label.properties = isLabelled ? [pages] : []
        let model = NSManagedObjectModel()
        model.entities = [page, label]
        return model
    }

    private func open(
        _ name: String, _ options: [AnyHashable: Any]? = nil, labelled isLabelled: Bool = true
    ) throws -> (NSManagedObjectContext, URL) {
        let url = folder.appendingPathComponent(name)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model(labelled: isLabelled))
        try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: options)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return (context, url)
    }

    private func close(_ context: NSManagedObjectContext) throws {
        context.performAndWait { context.reset() }
        let coordinator = try #require(context.persistentStoreCoordinator)
        for store in coordinator.persistentStores { try coordinator.remove(store) }
    }

    /// A store whose pages link to each other in a chain, with a label for all.
    private func makeStore(_ name: String, _ options: [AnyHashable: Any]? = nil) throws -> URL {
        let (context, url) = try open(name, options)
        try context.performAndWait {
            let pages = (0..<3).map { _ in NSEntityDescription.insertNewObject(forEntityName: "Page", into: context) }
            try context.obtainPermanentIDs(for: pages)
            let label = NSEntityDescription.insertNewObject(forEntityName: "Label", into: context)
            for page in pages { page.setValue(NSSet(object: label), forKey: "labels") }
            for (page, next) in zip(pages, pages.dropFirst()) { page.setValue(NSSet(object: next), forKey: "links") }
            try context.save()
        }
        try close(context)
        return url
    }

    /// The numbers of links, of origins and of labels of all pages, read from the store.
    private func counts(_ url: URL) throws -> [[Int]] {
        let (context, _) = try open(url.lastPathComponent)
        defer { try? close(context) }
        return try context.performAndWait {
            try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Page")).map { page in
                ["links", "origins", "labels"].map { (page.value(forKey: $0) as? NSSet)?.count ?? -1 }
            }.sorted { $0.description < $1.description }
        }
    }

    private let expected = [[0, 1, 1], [1, 0, 1], [1, 1, 1]]

    private func tables(_ url: URL) throws -> [String: [String]] {
        try StoreConnection.read(storeAt: url) { try SQLCatalog(in: $0) }.columns.filter { $0.key.hasPrefix("Z_") }
    }

    private func execute(_ sql: String, _ url: URL) throws {
        let queue = try DatabaseQueue(path: url.path)
        try queue.writeWithoutTransaction { try $0.execute(sql: sql) }
        try queue.close()
    }

    @Test(arguments: ["Z_2ORIGINS", "Z_LINKS_OF_PAGES"])
    func `a new store has the names of another one, and both are read and written`(_ name: String) throws {
        let rules = try makeStore("Rules.sqlite")
        #expect(try tables(rules)["Z_2LINKS"] != nil)
        try execute("ALTER TABLE Z_2LINKS RENAME TO \(name)", rules)
        #expect(try counts(rules) == expected)
        let new = try makeStore("New.sqlite", [JoinTableNamesOption: rules])
        #expect(try counts(new) == expected)
        let (made, model) = (try tables(new), try tables(rules))
        #expect(made[name].map(Set.init) == model[name].map(Set.init))
        #expect(made["Z_2LINKS"] == nil)
        // The integrity of references is checked in the table, too.
        try execute("DELETE FROM \(name)", new)
        #expect(try counts(new) == [[0, 0, 1], [0, 0, 1], [0, 0, 1]])
    }

    @Test func `columns with a number keep it`() throws {
        let rules = try makeStore("Rules.sqlite")
        let column = try #require(try tables(rules)["Z_2LINKS"]?.first { $0.hasPrefix("Z_2LINKS") })
        try execute("ALTER TABLE Z_2LINKS RENAME COLUMN \(column) TO Z_2LINKS1", rules)
        let new = try makeStore("New.sqlite", [JoinTableNamesOption: rules])
        #expect(try tables(new)["Z_2LINKS"]?.contains("Z_2LINKS1") == true)
        #expect(try counts(new) == expected)
    }

    @Test func `a store of another model, without the table, or no store is an error`() throws {
        let rules = try makeStore("Rules.sqlite")
        func error(_ options: [AnyHashable: Any], labelled isLabelled: Bool = true) -> CocoaError? {
            do {
                _ = try open("New.sqlite", options, labelled: isLabelled)
                return nil
            } catch {
                return error as? CocoaError
            }
        }
        let other = error([JoinTableNamesOption: rules], labelled: false)
        #expect(other?.code == .persistentStoreIncompatibleVersionHash)
        #expect(other?.localizedDescription.contains("has another model") == true)
        try? FileManager.default.removeItem(at: folder.appendingPathComponent("New.sqlite"))
        try execute("DROP TABLE Z_2LINKS", rules)
        #expect(error([JoinTableNamesOption: rules])?.localizedDescription.contains("lacks Z_2LINKS") == true)
        let none = folder.appendingPathComponent("None.sqlite")
        #expect(error([JoinTableNamesOption: none]) != nil)
        #expect(error([JoinTableNamesOption: "Rules.sqlite"])?.localizedDescription.contains("must be the URL") == true)
    }

    @Test func `the name of a table in a file is not executed`() throws {
        let rules = try makeStore("Rules.sqlite")
        try execute("ALTER TABLE Z_2LINKS RENAME TO \"Z_2 (x); DROP TABLE ZPAGE; --\"", rules)
        let model = model()
        model.freeze()
        let schema = SQLSchemaBuilder.schema(
            of: model, catalog: try StoreConnection.read(storeAt: rules) { try SQLCatalog(in: $0) })
        #expect(schema.missing == ["Z_2LINKS"])
    }
}
