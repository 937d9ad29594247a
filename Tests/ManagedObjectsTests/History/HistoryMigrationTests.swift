import Foundation
import GRDB
import ModelFiles
import Testing

@testable import EngineTesting

@testable import ManagedObjects
@testable import StoreMigrations
@testable import SQLStores

/// Histories of stores that have been migrated to another version of the model.
@Suite struct HistoryMigrationTests {
    /// The second version has a new entity that sorts before the others, so that all numbers differ, a renamed entity, and one
    /// entity less.
    private static func model(version: Int) -> NSManagedObjectModel {
        let isFirst = version == 1
        let person = NotesModel.entity(
            isFirst ? "Person" : "Human",
            [
                NotesModel.attribute("age", .integer32AttributeType),
                NotesModel.attribute(isFirst ? "name" : "fullName", .stringAttributeType),
                NotesModel.attribute("zip", .stringAttributeType),
            ] + (isFirst ? [] : [NotesModel.attribute("born", .dateAttributeType)]))
        for name in ["name", "fullName", "zip", "born"] {
            person.attributesByName[name]?.preservesValueInHistoryOnDeletion = true
        }
        person.renamingIdentifier = "Person"
        (person.attributesByName["name"] ?? person.attributesByName["fullName"])?.renamingIdentifier = "name"
        let pet = NotesModel.entity("Pet", [NotesModel.attribute("name", .stringAttributeType)])
        let other = NotesModel.entity(
            isFirst ? "Thing" : "Animal", [NotesModel.attribute("name", .stringAttributeType)])
        let model = NSManagedObjectModel()
        model.entities = [person, pet, other]
        return model
    }

    private func history(_ stack: TestStack) throws -> [NSPersistentHistoryChange] {
        let request = NSPersistentHistoryChangeRequest.fetchHistory(after: Date.distantPast)
        request.resultType = .changesOnly
        return try #require(
            (try stack.context().execute(request) as? NSPersistentHistoryResult)?.result as? [NSPersistentHistoryChange]
        )
    }

    /// The history of a store of the first version, read by the second after it was rewritten.
    private func migrated(newKey: ((SQLEntity, Int64) throws -> Int64?)? = nil) throws
        -> [NSPersistentHistoryChange]
    {
        let (folder, new) = (try StoreFolder(), try StoreFolder())
        let tracking: [AnyHashable: Any] = [NSPersistentHistoryTrackingKey: true]
        let first = try TestStack(
            model: Self.model(version: 1), url: folder.url,
            options: tracking.merging([HistoryOldValuesOption: true]) { $1 })
        let context = first.context()
        let person = context.insert("Person", ["name": "Ada", "zip": "1"])
        let pet = context.insert("Pet")
        _ = context.insert("Thing")
        try context.save()
        person.setValue("Bob", forKey: "name")
        person.setValue(3, forKey: "age")
        pet.setValue("Rex", forKey: "name")
        try context.save()
        context.delete(person)
        try context.save()
        let source = try #require(first.coordinator.persistentStores.first as? SQLiteStore).content().schema
        let second = try TestStack(model: Self.model(version: 2), url: new.url, options: tracking)
        let store = try #require(second.coordinator.persistentStores.first as? SQLiteStore)
        try store.content().connection.writeWithoutTransaction { database in
            try database.execute(sql: "ATTACH ? AS old", arguments: [folder.url.path])
            for table in ["ACHANGE", "ATRANSACTION", "ATRANSACTIONSTRING"] {
                let columns = try database.columnTypes(of: table).map(\.name)
                let known = try String.fetchAll(
                    database, sql: "SELECT name FROM pragma_table_info(?, 'old')", arguments: [table])
                let names = columns.filter(known.contains).joined(separator: ", ")
                try database.execute(sql: "INSERT INTO main.\(table) (\(names)) SELECT \(names) FROM old.\(table)")
            }
            try database.execute(sql: "DETACH old")
        }
        let migration = HistoryMigration(
            from: source, to: try store.content().schema,
            InferredMapping(from: Self.model(version: 1).modelValue(), to: Self.model(version: 2).modelValue()).entities
        )
        try store.content().connection.write { try migration.rewrite(in: $0, newKey: newKey) }
        defer { withExtendedLifetime(second.coordinator) {} }
        let changes = try history(second)
        for change in changes { #expect(try change.propertyChanges() == nil) }
        let texts = changes.map { change in
            let uri = change.changedObjectID.uriRepresentation()
            return [
                "\(change.changeType)", change.changedObjectID.entity.name ?? "", uri.lastPathComponent,
                (change.updatedProperties ?? []).map(\.name).sorted().joined(separator: " "),
                (change.tombstone ?? [:]).map { "\($0)=\($1)" }.sorted().joined(separator: " "),
            ].filter { !$0.isEmpty }.joined(separator: " ")
        }
        expected(texts)
        return changes
    }

    private func expected(_ texts: [String]) {
        #expect(
            texts.map { $0.replacing(/p\d+/, with: "p") } == [
                "insert Human p", "insert Pet p", "update Human p age fullName", "update Pet p name",
                "delete Human p born=<null> fullName=Bob zip=1",
            ])
    }

    @Test func `numbers, masks and tombstones are rewritten, and changes of removed entities are deleted`() throws {
        let changes = try migrated()
        #expect(
            changes.map { $0.changedObjectID.uriRepresentation().lastPathComponent } == ["p1", "p1", "p1", "p1", "p1"])
    }

    @Test func `a mask that is not data is removed`() throws {
        let (folder, new) = (try StoreFolder(), try StoreFolder())
        let tracking: [AnyHashable: Any] = [NSPersistentHistoryTrackingKey: true]
        let first = try TestStack(model: Self.model(version: 1), url: folder.url, options: tracking)
        let context = first.context()
        let person = context.insert("Person", ["name": "Ada"])
        try context.save()
        person.setValue("Bob", forKey: "name")
        try context.save()
        let second = try TestStack(model: Self.model(version: 2), url: new.url, options: tracking)
        let source = try #require(first.coordinator.persistentStores.first as? SQLiteStore).content()
        let destination = try #require(second.coordinator.persistentStores.first as? SQLiteStore).content()
        let migration = HistoryMigration(
            from: source.schema, to: destination.schema,
            InferredMapping(from: Self.model(version: 1).modelValue(), to: Self.model(version: 2).modelValue()).entities
        )
        let masks = try source.connection.write { database in
            try database.execute(sql: "UPDATE ACHANGE SET ZCOLUMNS = 5 WHERE ZCOLUMNS NOT NULL")
            try migration.rewrite(in: database)
            return try Int.fetchOne(database, sql: "SELECT count(ZCOLUMNS) FROM ACHANGE")
        }
        #expect(masks == 0)
        withExtendedLifetime((first.coordinator, second.coordinator)) {}
    }

    @Test func `a migration by objects keeps the history`() throws {
        let (folder, new) = (try StoreFolder(), try StoreFolder())
        let tracking: [AnyHashable: Any] = [NSPersistentHistoryTrackingKey: true]
        var numbers: [Int64] = []
        do {
            let stack = try TestStack(model: Self.model(version: 1), url: folder.url, options: tracking)
            let context = stack.context()
            let gone = context.insert("Person", ["name": "Ada", "zip": "1"])
            let person = context.insert("Person", ["name": "Bob"])
            try context.save()
            person.setValue("Eve", forKey: "name")
            context.delete(gone)
            try context.save()
            numbers = try history(stack).compactMap { $0.transaction?.transactionNumber }
        }
        let manager = NSMigrationManager(
            sourceModel: Self.model(version: 1), destinationModel: Self.model(version: 2))
        manager.keepsHistory = true
        let mapping = try NSMappingModel.inferredMappingModel(
            forSourceModel: manager.sourceModel, destinationModel: manager.destinationModel)
        try manager.migrateStore(from: folder.url, type: .sqlite, mapping: mapping, to: new.url, type: .sqlite)
        let stack = try TestStack(model: Self.model(version: 2), url: new.url, options: tracking)
        let changes = try history(stack)
        let texts = changes.map { change in
            "\(change.changeType) \(change.changedObjectID.uriRepresentation().pathComponents.suffix(2).joined(separator: " "))"
                + " \((change.updatedProperties ?? []).map(\.name)) \(change.tombstone?["fullName"] ?? "")"
        }
        #expect(
            texts == [
                "insert Human p1 [] ", "insert Human p2 [] ", #"update Human p2 ["fullName"] "#,
                "delete Human p1 [] Ada",
            ])
        #expect(changes.compactMap { $0.transaction?.transactionNumber } == numbers)
    }

    @Test func `objects with other keys keep their history`() throws {
        let changes = try migrated { entity, key in entity.entity.name == "Pet" ? key + 40 : nil }
        // The person no longer exists: its changes have a key that no object has.
        #expect(
            changes.map { $0.changedObjectID.uriRepresentation().lastPathComponent } == [
                "p1", "p41", "p1", "p41", "p1",
            ])
    }
}
