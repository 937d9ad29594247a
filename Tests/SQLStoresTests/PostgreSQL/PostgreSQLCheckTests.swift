#if PostgreSQL
    import Foundation
    import PostgreSQLClient
    import Testing

    @testable import EngineTesting

    @testable import ManagedObjects
    @testable import SQLStores
    @testable import StoreTools

    /// Stores in PostgreSQL whose rows other programs have changed.
    @Suite(.serialized, .enabled(if: TestStores.server != nil, "CORAL_POSTGRESQL names no server."))
    struct PostgreSQLCheckTests {
        private let url: URL
        private let model: NSManagedObjectModel
        private let stack: TestStack

        init() throws {
            model = NotesModel.make()
            model.entitiesByName["Tag"]?.uniquenessConstraints = [["name"]]
            url = try #require(TestStores.url(TestStores.postgreSQL))
            stack = try TestStack(
                model: model, type: TestStores.postgreSQL, url: url, options: [NSPersistentHistoryTrackingKey: true])
            let context = stack.context()
            let notes = (0..<3).map { context.insert("Note", ["title": "n\($0)", "identifier": UUID()]) }
            let folder = context.insert("Folder", ["name": "f"])
            for note in notes { note.setValue(folder, forKey: "folder") }
            for number in 0..<3 {
                let item = context.insert("Item", ["index": number])
                item.setValue(notes[0], forKey: "note")
                item.setValue(
                    Set([context.insert("Tag", ["name": "t\(number)"])]), forKey: "tags")
            }
            notes[0].setValue(notes[0].mutableOrderedSetValue(forKey: "items").firstObject, forKey: "cover")
            try context.save()
        }

        private func execute(_ statements: String...) throws {
            let location = try PostgreSQLLocation(url)
            let connection = try PostgreSQLConnection(location.server, settings: location.settings)
            defer { connection.close() }
            for statement in statements { try connection.execute(script: statement) }
        }

        private func problems() throws -> [RowProblem] {
            let context = try TestStack(model: model, type: TestStores.postgreSQL, url: url).context()
            return try RowCheck(url: url, model: model).problems(in: context) { _, _ in }
        }

        private func texts(_ problems: [RowProblem]) -> Set<String> {
            Set(problems.map { "\($0.kind.rawValue) \($0.entity)\($0.property.map { ".\($0)" } ?? "") \($0.count)" })
        }

        @Test func `a store that was only saved has no problems`() throws { #expect(try texts(problems()) == []) }

        @Test func `rows that no context would save are found, and repaired where no decision is needed`() throws {
            try execute(
                "DELETE FROM ZFOLDER", "UPDATE Z_PRIMARYKEY SET Z_MAX = 1 WHERE Z_NAME = 'Note'",
                "DROP INDEX Z_Tag_UNIQUE_name", "DROP INDEX ZNOTE_ZFOLDER_INDEX",
                "UPDATE ZTAG SET ZNAME = 't1' WHERE ZNAME = 't2'",
                "UPDATE ZNOTE SET ZIDENTIFIER = '\\x0102' WHERE Z_PK = 2", "UPDATE ZITEM SET Z_FOK_NOTE = 7",
                "UPDATE ZITEM SET ZCOVEROF = NULL",
                "DELETE FROM ZITEM WHERE Z_PK = (SELECT max(Z_PK) FROM ZITEM WHERE Z_PK NOT IN (SELECT COALESCE(ZCOVER, 0) FROM ZNOTE))",
                "UPDATE Z_PRIMARYKEY SET Z_MAX = 0 WHERE Z_ENT = 16002",
                "INSERT INTO ACHANGE (Z_PK, Z_ENT, ZTRANSACTIONID, ZENTITY, ZENTITYPK, ZCHANGETYPE) VALUES (900, 16001, 77, 2, 1, 1)",
                "UPDATE ZNOTE SET Z_ENT = 99 WHERE Z_PK = 3")
            let found = try texts(problems())
            let expected: Set = [
                "danglingReference Note.folder 2", "keyBeyondMaximum Note 1", "missingIndex Z_Tag_UNIQUE_name 1",
                "missingIndex ZNOTE_ZFOLDER_INDEX 1", "notUnique Tag.name 1", "wrongType Note.identifier 1",
                "ambiguousPosition Note.items 1", "disagreeingInverse Note.cover 1", "danglingReference Item.tags 1",
                "keyBeyondMaximum ATRANSACTION 1", "keyBeyondMaximum ACHANGE 1",
                "danglingReference ACHANGE.ZTRANSACTIONID 1", "wrongEntity Note 1",
            ]
            #expect(found.sorted() == expected.sorted())
            let check = RowCheck(url: url, model: model)
            for _ in 0..<3 {
                let repairable = try problems().filter(\.isRepairable)
                if repairable.isEmpty { break }
                try check.repair(repairable)
            }
            #expect(
                try texts(problems()).sorted() == [
                    "ambiguousPosition Note.items 1", "missingIndex Z_Tag_UNIQUE_name 1", "notUnique Tag.name 1",
                    "wrongEntity Note 1", "wrongType Note.identifier 1",
                ])
        }

        @Test func `missing tables and columns are found and added`() throws {
            let store = try #require(stack.coordinator.persistentStores.first as? PostgreSQLStore)
            let pairs = try #require(store.content().schema.joinTables.first { $0.owner.name == "tags" }?.name)
            try execute(
                "DROP VIEW \"Note\"", "ALTER TABLE ZNOTE DROP COLUMN ZISPINNED, DROP COLUMN ZFOLDER",
                "DROP TABLE ZFOLDER CASCADE", "DROP TABLE \(pairs) CASCADE")
            let found = try problems()
            let missing = Set(found.filter { $0.kind == .missingTable }.map(\.entity))
            #expect(missing.isSuperset(of: ["ZNOTE.ZISPINNED", "ZNOTE.ZFOLDER", "ZFOLDER", pairs]), "\(missing)")
            let check = RowCheck(url: url, model: model)
            for _ in 0..<3 {
                let repairable = try problems().filter(\.isRepairable)
                if repairable.isEmpty { break }
                try check.repair(repairable)
            }
            #expect(try texts(problems()) == [])
            let context = try TestStack(model: model, type: TestStores.postgreSQL, url: url).context()
            #expect(try context.all("Note").allSatisfy { $0.value(forKey: "isPinned") as? Bool == false })
        }

        @Test func `a copy in another schema has everything, also the history and damaged rows`() throws {
            try execute("UPDATE ZITEM SET ZNOTE = 99 WHERE Z_PK = 1")
            let copy = try #require(TestStores.url(TestStores.postgreSQL))
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            for _ in 0..<2 {
                // The second copy replaces the first one.
                try coordinator.replacePersistentStore(
                    at: copy, withPersistentStoreFrom: url, ofType: TestStores.postgreSQL)
            }
            let other = try TestStack(
                model: model, type: TestStores.postgreSQL, url: copy, options: [NSPersistentHistoryTrackingKey: true])
            let store = try #require(other.coordinator.persistentStores.first as? PostgreSQLStore)
            let original = try #require(stack.coordinator.persistentStores.first as? PostgreSQLStore)
            #expect(store.identifier == original.identifier)
            #expect(try store.transactionCount() == 1)
            let found = try RowCheck(url: copy, model: model).problems(in: other.context()) { _, _ in }
            #expect(texts(found) == ["danglingReference Item.note 1"])
            let options = try [original, store].map { store in
                try store.content().pool.withConnection { connection in
                    let found = try connection.execute(
                        """
                        SELECT c.relname || array_to_string(c.reloptions, ',') FROM pg_class AS c \
                        WHERE c.relnamespace = to_regnamespace($1) AND c.reloptions IS NOT NULL ORDER BY c.relname
                        """, [.text(store.content().location.quotedSchema)])
                    return (0..<found.rowCount).map { found.text($0, 0) }
                }
            }
            #expect(options[0] == options[1] && options[0].contains("znotefillfactor=70"))
            // The copy is independent, and complete: a save is refused by its own unique index.
            let context = other.context()
            _ = context.insert("Note", ["title": "only here"])
            try context.save()
            _ = context.insert("Tag", ["name": "t1"])
            #expect(throws: CocoaError.self) { try context.save() }
            #expect(try stack.context().all("Note").count == 3)
            #expect(try other.context().all("Note").count == 4)
            try coordinator.destroyPersistentStore(at: copy, ofType: TestStores.postgreSQL)
            let elsewhere = try #require(URL(string: "postgresql://elsewhere.invalid/db?schema=x"))
            #expect(throws: CocoaError.self) {
                try coordinator.replacePersistentStore(
                    at: elsewhere, withPersistentStoreFrom: url, ofType: TestStores.postgreSQL)
            }
        }
    }
#endif
