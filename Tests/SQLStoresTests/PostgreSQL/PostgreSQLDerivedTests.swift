#if PostgreSQL
    import Foundation
    import PostgreSQLClient
    import Testing

    @testable import EngineTesting

    @testable import ManagedObjects
    @testable import SQLStores

    /// Attributes that are derived from other objects, in PostgreSQL as in SQLite.
    @Suite(.serialized, .enabled(if: TestStores.server != nil, "CORAL_POSTGRESQL names no server."))
    struct PostgreSQLDerivedTests {
        private func newURL() throws -> URL { try #require(TestStores.url(TestStores.postgreSQL)) }

        private static func model() -> NSManagedObjectModel {
            let model = NotesModel.make()
            let derivations: [(String, String, NSAttributeType, String)] = [
                ("Folder", "noteCount", .integer64AttributeType, "notes.@count"),
                ("Folder", "sum", .integer64AttributeType, "notes.count.@sum"),
                ("Folder", "ranks", .doubleAttributeType, "notes.rank.@sum"),
                ("Note", "folderName", .stringAttributeType, "folder.name"),
                ("Note", "folderKey", .stringAttributeType, "canonical:(folder.name)"),
                ("Item", "noteFolder", .stringAttributeType, "uppercase:(note.folderKey)"),
                ("Note", "itemCount", .integer64AttributeType, "items.@count"),
                ("Item", "tagCount", .integer64AttributeType, "tags.@count"),
                ("Tag", "itemCount", .integer64AttributeType, "items.@count"),
            ]
            for (entity, name, type, expression) in derivations {
                let derived = NSDerivedAttributeDescription()
                derived.name = name
                derived.attributeType = type
                derived.derivationExpression = NSExpression(format: expression)
                model.entitiesByName[entity]?.properties.append(derived)
            }
            return model
        }

        private static let names = [
            "noteCount", "sum", "ranks", "folderName", "folderKey", "noteFolder", "itemCount", "tagCount",
        ]

        /// The derived values of all objects of a context.
        private func values(_ context: NSManagedObjectContext) throws -> [String] {
            try ["Folder", "Note", "Item", "Tag"].flatMap { entity in
                try context.all(entity).sorted { $0.key.number < $1.key.number }.map { object in
                    let values = Self.names.filter { object.entity.attributesByName[$0] != nil }.map {
                        "\($0)=\(object.value(forKey: $0).map { "\($0)" } ?? "nil")"
                    }
                    return "\(object.entity.name ?? "")/\(object.key.number) \(values.joined(separator: " "))"
                }
            }
        }

        /// Makes random changes, the same for the same seed.
        private func change(_ context: NSManagedObjectContext, _ filling: inout RandomFilling) throws {
            func some(_ entity: String, _ filling: inout RandomFilling) throws -> NSManagedObject? {
                let all = try context.all(entity).sorted { $0.key.number < $1.key.number }
                return all.isEmpty ? nil : all[filling.next(all.count)]
            }
            for _ in 0..<6 {
                switch filling.next(8) {
                case 0:
                    let note = context.insert(
                        "Note", ["count": filling.next(100), "rank": Double(filling.next(8)) / 4])
                    note.setValue(try some("Folder", &filling), forKey: "folder")
                case 1: _ = context.insert("Folder", ["name": "folder \(filling.next(100))"])
                case 2: try some("Note", &filling)?.setValue(some("Folder", &filling), forKey: "folder")
                case 3: try some("Note", &filling)?.setValue(filling.next(100), forKey: "count")
                case 4: try some("Folder", &filling)?.setValue("Näme \(filling.next(100))", forKey: "name")
                case 5:
                    let item = context.insert(filling.next(2) == 0 ? "Item" : "SpecialItem")
                    item.setValue(try some("Note", &filling), forKey: "note")
                    let tags = [context.insert("Tag"), try some("Tag", &filling)].compactMap { $0 }
                    item.setValue(Set(tags), forKey: "tags")
                case 6: if let note = try some("Note", &filling) { context.delete(note) }
                default: if let tag = try some("Tag", &filling) { context.delete(tag) }
                }
                context.processPendingChanges()
            }
            try context.save()
        }

        @Test(arguments: 0..<6 as Range<UInt64>)
        func `saves give the same values as in SQLite, in memory and in the store`(_ seed: UInt64) throws {
            let folder = try StoreFolder()
            var found: [[[String]]] = []
            for (type, url) in [(NSSQLiteStoreType, folder.url), (TestStores.postgreSQL, try newURL())] {
                let stack = try TestStack(model: Self.model(), type: type, url: url)
                let context = stack.context()
                var filling = RandomFilling(seed: seed)
                var states: [[String]] = []
                for _ in 0..<12 {
                    try change(context, &filling)
                    let present = try values(context)
                    #expect(try values(stack.context()) == present, "seed \(seed), \(type)")
                    states.append(present)
                }
                found.append(states)
            }
            #expect(found[0].last?.isEmpty == false)
            for (step, (inFile, onServer)) in zip(found[0], found[1]).enumerated() where inFile != onServer {
                Issue.record("seed \(seed), step \(step)\nSQLite:     \(inFile)\nPostgreSQL: \(onServer)")
                break
            }
        }

        /// The count and the sum of the folder. The context is a parameter, because faults lose their values with their context.
        private func totals(_ context: NSManagedObjectContext) throws -> [Int] {
            let folder = try context.all("Folder").first
            return ["noteCount", "sum"].map { folder?.value(forKey: $0) as? Int ?? -1 }
        }

        @Test func `batch requests change derived values`() throws {
            let stack = try TestStack(model: Self.model(), type: TestStores.postgreSQL, url: newURL())
            let context = stack.context()
            let folder = context.insert("Folder", ["name": "f"])
            for count in 0..<4 { context.insert("Note", ["count": count]).setValue(folder, forKey: "folder") }
            try context.save()
            #expect(folder.value(forKey: "sum") as? Int == 6 && folder.value(forKey: "noteCount") as? Int == 4)
            let update = NSBatchUpdateRequest(entityName: "Note")
            update.propertiesToUpdate = ["count": 10]
            try context.execute(update)
            #expect(try totals(stack.context()) == [4, 40])
            let note = try #require(try context.all("Note").first)
            try context.execute(NSBatchDeleteRequest(objectIDs: [note.objectID]))
            #expect(try totals(stack.context()) == [3, 30])
        }

        /// The texts of all notes that are derived from their folders, and of all items that are derived from their notes.
        private func keys(_ context: NSManagedObjectContext) throws -> [String?] {
            try context.all("Note").map { $0.value(forKey: "folderKey") as? String }
                + context.all("Item").map { $0.value(forKey: "noteFolder") as? String }
        }

        @Test func `texts of other objects are computed for every change by a store, and others cannot change them`()
            throws
        {
            let stack = try TestStack(model: Self.model(), type: TestStores.postgreSQL, url: newURL())
            let context = stack.context()
            let folder = context.insert("Folder", ["name": "ÄRGER"])
            let note = context.insert("Note", ["count": 1])
            note.setValue(folder, forKey: "folder")
            context.insert("Item").setValue(note, forKey: "note")
            try context.save()
            #expect(try keys(stack.context()) == ["arger", "ARGER"])
            let update = NSBatchUpdateRequest(entityName: "Folder")
            update.propertiesToUpdate = ["name": "ÖL"]
            try context.execute(update)
            #expect(try keys(stack.context()) == ["ol", "OL"])
            // As another program's connection.
            let store = try #require(stack.coordinator.persistentStores.first as? PostgreSQLStore)
            let location = try store.content().location
            let connection = try PostgreSQLConnection(location.server, settings: location.settings)
            defer { connection.close() }
            let error = #expect(throws: PostgreSQLError.self) {
                try connection.execute(script: "UPDATE ZFOLDER SET ZNAME = 'other'")
            }
            #expect(error?.state == "0A000")
            // Columns that are not the source of a text can be changed.
            try connection.execute(script: "UPDATE ZNOTE SET ZCOUNT = 2")
            context.refreshAllObjects()
            note.setValue(nil, forKey: "folder")
            try context.save()
            #expect(try keys(stack.context()) == [nil, nil])
        }

        // MARK: - Concurrent transactions

        private static func stack(_ url: URL) throws -> TestStack {
            try TestStack(model: model(), type: TestStores.postgreSQL, url: url)
        }

        /// Runs work in four contexts at the same time, each with a coordinator and connections of its own.
        private func concurrently(
            _ url: URL, _ work: @escaping @Sendable (_ number: Int64, _ context: NSManagedObjectContext) throws -> Void
        ) async throws {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<Int64(4) {
                    let stack = try Self.stack(url)
                    group.addTask {
                        let context = stack.context(.privateQueueConcurrencyType)
                        try await context.perform { try work(number, context) }
                    }
                }
                try await group.waitForAll()
            }
        }

        /// The saves do not write the folder, so they do not conflict. Only the triggers write its row.
        @Test func `concurrent changes and deletions of members are all counted`() async throws {
            let url = try newURL()
            let context = try Self.stack(url).context()
            let folder = context.insert("Folder", ["name": "f"])
            for _ in 0..<80 { context.insert("Note", ["count": 0]).setValue(folder, forKey: "folder") }
            try context.save()
            try await concurrently(url) { number, context in
                for note in try context.all("Note") where note.key.number % 4 == number {
                    note.setValue(1, forKey: "count")
                    try context.save()
                }
            }
            #expect(try totals(Self.stack(url).context()) == [80, 80])
            try await concurrently(url) { number, context in
                for note in try context.all("Note") where note.key.number % 8 == number {
                    try context.execute(NSBatchDeleteRequest(objectIDs: [note.objectID]))
                }
            }
            #expect(try totals(Self.stack(url).context()) == [40, 40])
        }

        /// A new member increments the version of its owner, as in a file: concurrent saves that add members conflict.
        @Test func `members that concurrent saves add are all counted`() async throws {
            let url = try newURL()
            let context = try Self.stack(url).context()
            _ = context.insert("Folder", ["name": "f"])
            try context.save()
            try await concurrently(url) { _, context in
                var done = 0
                while done < 20 {
                    let folder = try context.all("Folder").first
                    context.insert("Note", ["count": 1]).setValue(folder, forKey: "folder")
                    do {
                        try context.save()
                        done += 1
                    } catch let error as CocoaError where error.code == .managedObjectMerge {
                        context.rollback()
                        context.refreshAllObjects()
                    }
                }
            }
            #expect(try totals(Self.stack(url).context()) == [80, 80])
        }

        @Test func `a store with derived attributes is removed completely`() throws {
            let url = try newURL()
            let stack = try TestStack(model: Self.model(), type: TestStores.postgreSQL, url: url)
            for store in stack.coordinator.persistentStores { try stack.coordinator.remove(store) }
            try stack.coordinator.destroyPersistentStore(at: url, ofType: TestStores.postgreSQL, options: nil)
            let location = try PostgreSQLLocation(url)
            let connection = try PostgreSQLConnection(location.server)
            defer { connection.close() }
            let left = try connection.execute(
                "SELECT 1 FROM pg_namespace WHERE nspname = $1", [.text(location.schema)])
            #expect(left.rowCount == 0)
        }
    }
#endif
