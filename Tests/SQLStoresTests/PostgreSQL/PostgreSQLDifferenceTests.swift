#if PostgreSQL
    import Foundation
    import PostgreSQLClient
    import Testing

    import class ManagedObjects.NSExpression
    import class ManagedObjects.NSPredicate

    @testable import EngineTesting

    @testable import ManagedObjects
    @testable import SQLStores

    /// What the article "More than one machine" lists as different from a store in a file: points 3 to 7, 11 and 12. Points 1, 8 and
    /// 10 are in `PostgreSQLStoreTests`, 2 in `PostgreSQLStatementTests`, 9 in `PostgreSQLDerivedTests`, the history of 10 in
    /// `PostgreSQLMigrationTests`.
    @Suite(.serialized, .enabled(if: TestStores.server != nil, "CORAL_POSTGRESQL names no server."))
    struct PostgreSQLDifferenceTests {
        private func context(_ model: NSManagedObjectModel = NotesModel.make()) throws -> NSManagedObjectContext {
            try TestStack(model: model, type: TestStores.postgreSQL, url: TestStores.url(TestStores.postgreSQL))
                .context()
        }

        private func aggregate(_ format: String, _ type: NSAttributeType) -> NSFetchRequest<NSDictionary> {
            let column = NSExpressionDescription()
            column.name = "found"
            column.expression = NSExpression(format: format)
            column.expressionResultType = type
            let request = NSFetchRequest<NSDictionary>(entityName: "Note")
            request.resultType = .dictionaryResultType
            request.propertiesToFetch = [column]
            return request
        }

        @Test func `a whole number is compared with a fraction as a double`() throws {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
            request.predicate = NSPredicate(format: "count == %@", 9_007_199_254_740_992.0)
            var counts: [Int] = []
            for context in [try context(), try TestStack(type: NSSQLiteStoreType).context()] {
                _ = context.insert("Note", ["count": 9_007_199_254_740_993])
                try context.save()
                counts.append(try context.count(for: request))
            }
            // The nearest double of the odd number is the even one.
            #expect(counts[0] == 1)
            if !TestStores.replacesSQLite { #expect(counts[1] == 0) }
        }

        @Test func `an R-tree index is not created, and its predicates are evaluated without it`() throws {
            let model = NotesModel.make()
            let note = try #require(model.entitiesByName["Note"])
            let rank = try #require(note.attributesByName["rank"])
            note.indexes = [
                NSFetchIndexDescription(
                    name: "byRank", elements: [NSFetchIndexElementDescription(property: rank, collationType: .rTree)])
            ]
            let context = try context(model)
            for number in 0..<5 { _ = context.insert("Note", ["rank": Double(number)]) }
            try context.save()
            let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
            request.predicate = NSPredicate(format: "indexed:by:(rank, 'byRank') BETWEEN {1, 3}")
            #expect(try context.count(for: request) == 3)
            try withConnection(of: context) { connection, schema in
                let found = try connection.execute(
                    "SELECT count(*) FROM pg_indexes WHERE schemaname = $1 AND indexname ILIKE '%rank%'",
                    [.text(schema)])
                #expect(found.integer(0, 0) == 0)
            }
        }

        @Test func `large values are in the rows`() throws {
            let model = NotesModel.make()
            model.entitiesByName["Note"]?.attributesByName["blob"]?.allowsExternalBinaryDataStorage = true
            let context = try context(model)
            let data = Data((0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) })
            _ = context.insert("Note", ["blob": data])
            try context.save()
            context.reset()
            #expect(try context.all("Note").first?.value(forKey: "blob") as? Data == data)
            try withConnection(of: context) { connection, _ in
                let length = try connection.execute("SELECT octet_length(ZBLOB) FROM ZNOTE").integer(0, 0)
                #expect(length >= data.count)
            }
        }

        private func withConnection(
            of context: NSManagedObjectContext, _ body: (PostgreSQLConnection, _ schema: String) throws -> Void
        ) throws {
            let store = try #require(context.persistentStoreCoordinator?.persistentStores.first as? PostgreSQLStore)
            let content = try store.content()
            try content.pool.withConnection { try body($0, content.location.schema) }
        }

        @Test func `a sum beyond 64 bits is an error`() throws {
            let context = try context()
            for _ in 0..<2 { _ = context.insert("Note", ["count": Int64.max]) }
            try context.save()
            #expect(throws: CocoaError.self) { try context.fetch(aggregate("sum:(count)", .integer64AttributeType)) }
        }

        @Test func `shifts, and the extremes of UUIDs and data, are computed in the process`() throws {
            let context = try context()
            let identifiers = (0..<3).map { _ in UUID() }
            for (number, identifier) in identifiers.enumerated() {
                _ = context.insert(
                    "Note", ["count": number + 1, "identifier": identifier, "blob": Data([UInt8(number + 1)])])
            }
            try context.save()
            let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
            request.predicate = NSPredicate(format: "leftshift:by:(count, 2) == 12")
            #expect(try context.count(for: request) == 1)
            let least = try context.fetch(aggregate("min:(identifier)", .UUIDAttributeType)).first?["found"] as? UUID
            #expect(least?.uuidString == identifiers.map(\.uuidString).min())
            let greatest = try context.fetch(aggregate("max:(blob)", .binaryDataAttributeType)).first?["found"]
            #expect(greatest as? Data == Data([3]))
        }

        @Test func `a batch update does not compute texts with functions`() throws {
            for type in TestStores.sqlTypes {
                let context = try TestStack(type: type, url: TestStores.url(type)).context()
                _ = context.insert("Note", ["title": "äb", "count": 1])
                try context.save()
                let update = NSBatchUpdateRequest(entityName: "Note")
                update.propertiesToUpdate = ["title": NSExpression(format: "uppercase:(title)")]
                let isFile = type != TestStores.postgreSQL
                if isFile {
                    try context.execute(update)
                } else {
                    #expect(throws: CocoaError.self) { try context.execute(update) }
                }
                context.reset()
                #expect(try context.all("Note").first?.value(forKey: "title") as? String == (isFile ? "ÄB" : "äb"))
            }
        }

        @Test func `a sum of fractions in a whole number is rounded as in a file`() throws {
            func model() -> NSManagedObjectModel {
                let model = NotesModel.make()
                let total = NSDerivedAttributeDescription()
                total.name = "total"
                total.attributeType = .integer64AttributeType
                total.derivationExpression = NSExpression(format: "items.@sum.weight")
                model.entitiesByName["Note"]?.properties.append(total)
                let weight = NotesModel.attribute("weight", .doubleAttributeType)
                model.entitiesByName["Item"]?.properties.append(weight)
                return model
            }
            var totals: [[Int?]] = []
            for type in TestStores.sqlTypes {
                let stack = try TestStack(model: model(), type: type, url: TestStores.url(type))
                let context = stack.context()
                for weights in [[1.5, 1], [0.25, 0.25], [-1.5, -1], [2.5], [3.75, 0.75], []] {
                    let note = context.insert("Note")
                    for weight in weights { context.insert("Item", ["weight": weight]).setValue(note, forKey: "note") }
                }
                try context.save()
                let reading = stack.context()
                totals.append(
                    try reading.all("Note").sorted { $0.key.number < $1.key.number }.map {
                        $0.value(forKey: "total") as? Int
                    })
                withExtendedLifetime(reading) {}
            }
            #expect(totals.allSatisfy { $0 == totals[0] }, "\(totals)")
        }

        @Test func `a database of another encoding is refused`() throws {
            let server = try #require(TestStores.server)
            let name = "latin_" + UUID().uuidString.prefix(8).lowercased()
            let connection = try PostgreSQLConnection(server)
            defer { connection.close() }
            try connection.execute(
                script: "CREATE DATABASE \(name) ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0")
            defer { _ = try? connection.execute(script: "DROP DATABASE \(name) WITH (FORCE)") }
            var parts = try #require(URLComponents(string: server))
            parts.path = "/" + name
            let error = #expect(throws: CocoaError.self) {
                _ = try TestStack(type: TestStores.postgreSQL, url: parts.url)
            }
            #expect(error?.code == .persistentStoreOpen)
            #expect(error?.localizedDescription.contains("LATIN1") == true)
        }

        @Test func `a table with columns of other types is refused`() throws {
            let context = try context()
            _ = context.insert("Note", ["count": 3])
            try context.save()
            let store = try #require(context.persistentStoreCoordinator?.persistentStores.first as? PostgreSQLStore)
            try withConnection(of: context) { connection, _ in
                try connection.execute(script: "DROP VIEW \"Note\"; ALTER TABLE ZNOTE ALTER COLUMN ZCOUNT TYPE numeric")
            }
            let error = #expect(throws: CocoaError.self) {
                _ = try TestStack(type: TestStores.postgreSQL, url: store.url)
            }
            #expect(error?.code == .fileReadCorruptFile)
            #expect(error?.localizedDescription.contains("ZNOTE.ZCOUNT has the type numeric") == true)
        }

        @Test func `rows may refer to rows that do not exist`() throws {
            let context = try context()
            let folder = context.insert("Folder", ["name": "f"])
            let note = context.insert("Note", ["title": "n"])
            note.setValue(folder, forKey: "folder")
            try context.save()
            let store = try #require(context.persistentStoreCoordinator?.persistentStores.first as? PostgreSQLStore)
            _ = try store.content().pool.withConnection { try $0.execute("DELETE FROM ZFOLDER") }
            let other = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
            other.persistentStoreCoordinator = context.persistentStoreCoordinator
            #expect(try other.all("Note").count == 1)
        }
    }
#endif
