import CoreDataErrors
import Foundation
import GRDB
import ModelFiles
import Testing

@testable import EngineTesting

@testable import FoundationAdditions
@testable import ManagedObjects
@testable import StoreMigrations

/// Migrations by SQL, compared with migrations by objects and with new stores of the new model.
@Suite struct InPlaceMigrationTests {
    // MARK: - Models in code

    private typealias Change = @Sendable (NSManagedObjectModel) -> Void

    private static func attribute(_ model: NSManagedObjectModel, _ entity: String, _ name: String)
        -> NSAttributeDescription?
    {
        model.entitiesByName[entity]?.attributesByName[name]
    }

    private static func relationship(_ model: NSManagedObjectModel, _ entity: String, _ name: String)
        -> NSRelationshipDescription?
    {
        model.entitiesByName[entity]?.relationshipsByName[name]
    }

    private static func makeToMany(_ relationship: NSRelationshipDescription?) {
        relationship?.maxCount = 0
        relationship?.minCount = 0
    }

    private static func remove(_ model: NSManagedObjectModel, _ entity: String, _ name: String) {
        relationship(model, entity, name)?.inverseRelationship?.inverseRelationship = nil
        model.entitiesByName[entity]?.properties.removeAll { $0.name == name }
    }

    /// Changes of the model of notes, one change each.
    private static let changes: [(name: String, change: Change)] = [
        ("nothing but the hash", { $0.entitiesByName["Note"]?.versionHashModifier = "2" }),
        (
            "an attribute with a default",
            {
                $0.entitiesByName["Item"]?.properties += [
                    NotesModel.attribute("weight", .integer64AttributeType, optional: false, default: 7)
                ]
            }
        ),
        ("an attribute less", { $0.entitiesByName["Note"]?.properties.removeAll { $0.name == "rank" } }),
        (
            "a renamed attribute",
            {
                attribute($0, "Note", "title")?.renamingIdentifier = "title"
                attribute($0, "Note", "title")?.name = "heading"
            }
        ),
        ("a wider number", { attribute($0, "Note", "small")?.attributeType = .integer64AttributeType }),
        ("a real number", { attribute($0, "Note", "count")?.attributeType = .doubleAttributeType }),
        (
            "a required value",
            {
                attribute($0, "Note", "price")?.isOptional = false
                attribute($0, "Note", "price")?.defaultValue = NSDecimalNumber(string: "1.5")
            }
        ),
        (
            "a renamed entity, which sorts differently",
            {
                $0.entitiesByName["Note"]?.renamingIdentifier = "Note"
                $0.entitiesByName["Note"]?.name = "Aide"
            }
        ),
        ("an entity that comes first", { $0.entities += [NotesModel.entity("Aaa", [])] }),
        (
            "an order less and one more",
            {
                $0.entitiesByName["Note"]?.relationshipsByName["items"]?.isOrdered = false
                $0.entitiesByName["Folder"]?.relationshipsByName["notes"]?.isOrdered = true
                $0.entitiesByName["Item"]?.relationshipsByName["tags"]?.isOrdered = true
            }
        ),
        (
            "a subentity of a destination",
            {
                let special = NotesModel.entity("Special", [NotesModel.attribute("mark", .stringAttributeType)])
                $0.entitiesByName["Folder"]?.subentities = [special]
            }
        ),
        (
            "an index and a constraint",
            { $0.entitiesByName["Tag"]?.uniquenessConstraints = [["name"]] }
        ),
        (
            "no tags",
            {
                $0.entitiesByName["Item"]?.properties.removeAll { $0.name == "tags" }
                $0.entities = $0.entities.filter { $0.name != "Tag" && $0.superentity == nil }
            }
        ),
        (
            "a derived count",
            {
                let count = NSDerivedAttributeDescription()
                count.name = "itemCount"
                count.attributeType = .integer64AttributeType
                count.isOptional = true
                count.derivationExpression = NSExpression(format: "items.@count")
                $0.entitiesByName["Note"]?.properties += [count]
            }
        ),
        (
            "a to-one relationship that becomes to-many, with a to-one inverse",
            { makeToMany(relationship($0, "Note", "cover")) }
        ),
        (
            "a to-one relationship that becomes to-many, with a to-many inverse",
            { makeToMany(relationship($0, "Folder", "parent")) }
        ),
        (
            "a to-one relationship that becomes to-many and ordered",
            {
                makeToMany(relationship($0, "Item", "note"))
                relationship($0, "Item", "note")?.isOrdered = true
            }
        ),
        ("a to-many relationship that loses its inverse", { remove($0, "Item", "note") }),
        ("a to-one relationship that loses its inverse", { remove($0, "Folder", "notes") }),
        ("a many-to-many relationship that loses its inverse", { remove($0, "Tag", "items") }),
        (
            "renamed relationships of a join table",
            {
                relationship($0, "Item", "tags")?.renamingIdentifier = "tags"
                relationship($0, "Item", "tags")?.name = "labels"
                relationship($0, "Tag", "items")?.renamingIdentifier = "items"
                relationship($0, "Tag", "items")?.name = "things"
                $0.entities += [NotesModel.entity("Aaa", [])]
            }
        ),
        (
            "attributes that exchange their names",
            {
                attribute($0, "Item", "name")?.renamingIdentifier = "name"
                attribute($0, "Item", "name")?.name = "other"
                $0.entitiesByName["Item"]?.properties += [
                    NotesModel.attribute("name", .stringAttributeType, default: "it's")
                ]
                $0.entitiesByName["Item"]?.attributesByName["name"]?.renamingIdentifier = "unknown"
            }
        ),
        (
            "external storage", { attribute($0, "Note", "blob")?.allowsExternalBinaryDataStorage = true }
        ),
        (
            "an entity out of its hierarchy",
            {
                let special = $0.entitiesByName["SpecialItem"]
                $0.entitiesByName["Item"]?.subentities = []
                special?.properties += [NotesModel.attribute("name", .stringAttributeType)]
            }
        ),
        (
            "an entity into a hierarchy",
            {
                let parent = NotesModel.entity("Basis", [NotesModel.attribute("name", .stringAttributeType)])
                parent.isAbstract = true
                remove($0, "Tag", "name")
                parent.subentities = $0.entitiesByName["Tag"].map { [$0] } ?? []
                $0.entities += [parent]
            }
        ),
        (
            "an R-tree",
            {
                guard let rank = attribute($0, "Note", "rank") else { return }
                let element = NSFetchIndexElementDescription(property: rank, collationType: .rTree)
                $0.entitiesByName["Note"]?.versionHashModifier = "2"
                $0.entitiesByName["Note"]?.indexes += [NSFetchIndexDescription(name: "byRank", elements: [element])]
            }
        ),
        (
            "default values of every kind",
            {
                $0.entitiesByName["Tag"]?.properties += [
                    NotesModel.attribute("a", .stringAttributeType, optional: false, default: "it's \u{0} é"),
                    NotesModel.attribute(
                        "b", .dateAttributeType, optional: false, default: Date(timeIntervalSince1970: 1.5)),
                    NotesModel.attribute("c", .binaryDataAttributeType, optional: false, default: Data([0, 255])),
                    NotesModel.attribute("d", .UUIDAttributeType, optional: false, default: UUID()),
                    NotesModel.attribute("e", .URIAttributeType, default: URL(string: "https://example.org/'")),
                    NotesModel.attribute("f", .doubleAttributeType, default: -Double.infinity),
                    NotesModel.attribute("g", .transformableAttributeType, default: ["x", "y"] as NSArray),
                    NotesModel.attribute("h", .booleanAttributeType, optional: false, default: true),
                ]
            }
        ),
    ]

    @Test(arguments: changes.indices) func aChangeIsMadeInPlace(_ index: Int) throws {
        let new = NotesModel.make()
        let (name, change) = Self.changes[index]
        change(new)
        let count = try MigrationComparison(NotesModel.make(), new).run(seed: UInt64(index) + 1, "\(name)")
        #expect(count > 0)
    }

    /// The reverse of each change that can be inferred, such as external storage that is no longer allowed.
    @Test(arguments: changes.indices) func aChangeIsUndoneInPlace(_ index: Int) throws {
        let old = NotesModel.make()
        let (name, change) = Self.changes[index]
        change(old)
        let new = NotesModel.make()
        guard InferredMapping(from: old.modelValue(), to: new.modelValue()).obstacles.isEmpty else { return }
        try MigrationComparison(old, new).run(seed: UInt64(index) + 1, "\(name), undone")
    }

    /// The migration by objects depends on the order of the objects here: a link is removed when the other object is set.
    @Test func aRelationshipThatBecomesItsOwnInverseHasTheLinksOfBoth() throws {
        let new = NotesModel.make()
        Self.remove(new, "Note", "relatedBy")
        let related = Self.relationship(new, "Note", "related")
        related?.inverseRelationship = related
        let folder = try StoreFolder()
        func links(_ model: NSManagedObjectModel, _ names: [String]) throws -> [Int64: Set<Int64>] {
            try MigrationComparison.withStore(folder.url, model) { coordinator in
                let context = MigrationComparison.context(coordinator)
                defer { withExtendedLifetime(context) {} }
                let notes = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Note"))
                return Dictionary(
                    uniqueKeysWithValues: try notes.map { note in
                        let members = try names.flatMap { try MappingValues.objects(in: note.value(forKey: $0)) }
                        return (note.key.number, Set(members.map(\.key.number)))
                    })
            }
        }
        try MigrationComparison.withStore(folder.url, NotesModel.make()) { coordinator in
            var filling = RandomFilling(seed: 3)
            try filling.fill(MigrationComparison.context(coordinator), coordinator.managedObjectModel)
        }
        let before = try links(NotesModel.make(), ["related", "relatedBy"])
        try InPlaceMigration(
            url: folder.url, configuration: nil, options: MigrationComparison.options, models: [NotesModel.make(), new]
        ).run()
        #expect(try links(MigrationComparison.copy(new), ["related"]) == before)
        #expect(before.values.contains { !$0.isEmpty })
    }

    @Test(arguments: 0..<40) func randomModelsAreMigratedInPlace(_ seed: UInt64) throws {
        var evolution = ModelEvolution(seed: seed)
        let old = evolution.makeModel()
        let (new, edits) = try evolution.evolved(old)
        try MigrationComparison(old, new).run(seed: seed, "seed \(seed): \(edits.joined(separator: ", "))")
    }

    // MARK: - Real models

    /// Every two consecutive versions of the models that Apple's tools wrote: made in place, or refused for the reason that
    /// inference or SQL gives.
    @Test(.enabled(if: CorpusStores.isPresent, "The files that Apple's tools wrote are absent."))
    func versionsOfRealModelsAreMigrated() throws {
        let all = FileManager.default.enumerator(at: CorpusStores.directory, includingPropertiesForKeys: nil)
        var migrated = 0
        var models: [URL] = []
        while let url = all?.nextObject() as? URL { if url.pathExtension == "xcdatamodeld" { models.append(url) } }
        for url in models.sorted(by: { $0.path < $1.path }) {
            let versions = try ModelFile.read(at: url).versions.sorted {
                $0.name.compare($1.name, options: .numeric) == .orderedAscending
            }
            for (before, after) in zip(versions, versions.dropFirst()) {
                guard InferredMapping(from: before.model, to: after.model).obstacles.isEmpty else { continue }
                let (old, new) = try (
                    NSManagedObjectModel(value: before.model), NSManagedObjectModel(value: after.model)
                )
                for model in [old, new] {
                    for entity in model.entities { entity.managedObjectClassName = "NSManagedObject" }
                }
                try MigrationComparison(old, new).run(seed: 7, "\(url.lastPathComponent): \(after.name)")
                migrated += 1
            }
        }
        #expect(migrated > 15)
    }

    // MARK: - Transactions

    @Test func aViolatedConstraintLeavesTheStoreUnchanged() throws {
        let folder = try StoreFolder()
        try MigrationComparison.withStore(folder.url, NotesModel.make()) { coordinator in
            let context = MigrationComparison.context(coordinator)
            for _ in 0..<2 {
                NSEntityDescription.insertNewObject(forEntityName: "Tag", into: context).setValue(
                    "same", forKey: "name")
            }
            try context.save()
        }
        let before = try MigrationComparison.schema(folder.url)
        let new = NotesModel.make()
        new.entitiesByName["Tag"]?.uniquenessConstraints = [["name"]]
        new.freeze()
        let error = #expect(throws: CocoaError.self) {
            try InPlaceMigration(
                url: folder.url, configuration: nil, options: MigrationComparison.options,
                models: [NotesModel.make(), new]
            ).run()
        }
        #expect(error?.errorCode == NSMigrationConstraintViolationError)
        #expect(try MigrationComparison.schema(folder.url) == before)
        #expect(try MigrationComparison.lines(folder.url, NotesModel.make()).count == 2)
    }

    @Test func aConnectionWithTheOldModelCanNoLongerWrite() throws {
        let folder = try StoreFolder()
        let old = try OpenStore(at: folder.url, model: NotesModel.make())
        let context = MigrationComparison.context(old.coordinator)
        NSEntityDescription.insertNewObject(forEntityName: "Tag", into: context).setValue("one", forKey: "name")
        try context.save()
        let new = NotesModel.make()
        new.entities += [NotesModel.entity("Aaa", [])]
        do {
            _ = try OpenStore(
                at: folder.url, model: new,
                options: [
                    NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
                ])
        }
        NSEntityDescription.insertNewObject(forEntityName: "Tag", into: context).setValue("two", forKey: "name")
        let error = #expect(throws: CocoaError.self) { try context.save() }
        #expect(error?.errorCode == 134100)
    }

    /// The columns are those that programs query. The numbers of some entities increase, those of others decrease.
    @Test func tablesOfCloudKitHaveTheNewNumbers() throws {
        let folder = try StoreFolder()
        do { _ = try OpenStore(at: folder.url, model: NotesModel.make(), options: MigrationComparison.options) }
        let queue = try DatabaseQueue(path: folder.url.path)
        try queue.write { database in
            try database.execute(
                sql: """
                    CREATE TABLE ANSCKRECORDMETADATA (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER,
                        ZENTITYID INTEGER, ZENTITYPK INTEGER, ZCKRECORDNAME VARCHAR);
                    CREATE UNIQUE INDEX ANSCKRECORDMETADATA_UNIQUE ON ANSCKRECORDMETADATA (ZENTITYID, ZENTITYPK);
                    CREATE TABLE ANSCKEVENT (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER);
                    INSERT INTO ANSCKEVENT VALUES (1, 17001);
                    INSERT INTO ANSCKRECORDMETADATA SELECT Z_ENT, 17004, 1, Z_ENT, 1, Z_NAME FROM Z_PRIMARYKEY;
                    """)
        }
        // Folder, the first entity, is removed, and two others come before and after Item.
        let new = NotesModel.make()
        new.entities = new.entities.filter { $0.name != "Folder" }
        new.entitiesByName["Note"]?.properties.removeAll { $0.name == "folder" }
        new.entities += [NotesModel.entity("Aaa", []), NotesModel.entity("Bbb", []), NotesModel.entity("Jjj", [])]
        try InPlaceMigration(
            url: folder.url, options: MigrationComparison.options, models: [NotesModel.make(), new]
        ).run()
        try queue.read { database in
            let names = "SELECT Z_NAME FROM Z_PRIMARYKEY WHERE Z_NAME NOT IN ('Aaa', 'Bbb', 'Jjj') ORDER BY Z_NAME"
            let joined =
                "SELECT ZCKRECORDNAME FROM ANSCKRECORDMETADATA JOIN Z_PRIMARYKEY ON ZENTITYID = Z_PRIMARYKEY.Z_ENT "
                + "AND ZCKRECORDNAME = Z_NAME ORDER BY Z_NAME"
            let (found, expected) = try (
                String.fetchAll(database, sql: joined), String.fetchAll(database, sql: names)
            )
            #expect(found == expected && found.count == 4)
            let count = try Int.fetchOne(database, sql: "SELECT count(*) FROM ANSCKRECORDMETADATA")
            #expect(count == 4)
            let other = try Int.fetchOne(database, sql: "SELECT Z_ENT FROM ANSCKEVENT")
            #expect(other == 17001)
        }
    }

    @Test func aHistoryIsContinuedWithTheNewNumbers() throws {
        let folder = try StoreFolder()
        let tracking: [AnyHashable: Any] = [
            NSPersistentHistoryTrackingKey: true, NSMigratePersistentStoresAutomaticallyOption: true,
            NSInferMappingModelAutomaticallyOption: true,
        ]
        do {
            let old = try OpenStore(at: folder.url, model: NotesModel.make(), options: tracking)
            let context = MigrationComparison.context(old.coordinator)
            NSEntityDescription.insertNewObject(forEntityName: "Tag", into: context).setValue("one", forKey: "name")
            try context.save()
        }
        let new = NotesModel.make()
        new.entities += [NotesModel.entity("Aaa", [])]
        let open = try OpenStore(at: folder.url, model: new, options: tracking)
        let request = NSPersistentHistoryChangeRequest.fetchHistory(after: Date.distantPast)
        let result = try MigrationComparison.context(open.coordinator).execute(request) as? NSPersistentHistoryResult
        let transactions = try #require(result?.result as? [NSPersistentHistoryTransaction])
        #expect(transactions.first?.changes?.map { $0.changedObjectID.entity.name } == ["Tag"])
        #expect(
            transactions.last?.author?.hasPrefix("com.apple.coredata.schemamigrator: lightweight migration") == true)
        #expect(open.store.metadata["migrationManagerClass"] as? String == "NSSQLiteInPlaceMigrationManager")
    }
}
