#if PostgreSQL
    import CoreDataErrors
    import Foundation
    import PostgreSQLClient
    import Testing

    @testable import EngineTesting

    @testable import ManagedObjects
    @testable import StoreMigrations
    @testable import SQLStores

    /// Migrations of stores in PostgreSQL by DDL, compared with those of stores in files.
    @Suite(.serialized, .enabled(if: TestStores.server != nil, "CORAL_POSTGRESQL names no server."))
    struct PostgreSQLMigrationTests {
        private static var options: [AnyHashable: Any] {
            [NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true]
        }

        private func newURL() throws -> URL { try #require(TestStores.url(TestStores.postgreSQL)) }

        /// The tables with the types of their columns in any order, the indexes without those of keys, and the views.
        private func schema(_ url: URL) throws -> [String] {
            let location = try PostgreSQLLocation(url)
            let connection = try PostgreSQLConnection(location.server, settings: location.settings)
            defer { connection.close() }
            let found = try connection.execute(
                """
                SELECT 'column ' || table_name || '.' || column_name || ' ' || data_type FROM information_schema.columns \
                WHERE table_schema = $1 UNION ALL \
                SELECT 'index ' || replace(indexdef, quote_ident($1) || '.', '') FROM pg_indexes \
                WHERE schemaname = $1 AND indexname NOT LIKE '%\\_pkey%' UNION ALL \
                SELECT 'key ' || c.relname || ' ' || pg_get_constraintdef(k.oid) FROM pg_constraint AS k \
                JOIN pg_class AS c ON c.oid = k.conrelid JOIN pg_namespace AS n ON n.oid = c.relnamespace \
                WHERE n.nspname = $1 UNION ALL \
                SELECT 'view ' || viewname || definition FROM pg_views WHERE schemaname = $1 ORDER BY 1
                """, [.text(location.schema)])
            return (0..<found.rowCount).compactMap { found.text($0, 0) }
        }

        // MARK: - Objects and tables

        @Test(arguments: 0..<40 as Range<UInt64>)
        func `random models are migrated as in a file`(_ seed: UInt64) throws {
            var evolution = ModelEvolution(seed: seed)
            let old = evolution.makeModel()
            let (new, edits) = try evolution.evolved(old)
            let comment: Comment = "seed \(seed): \(edits.joined(separator: ", "))"
            let comparison = try MigrationComparison(old, new)
            let (file, server, fresh) = (comparison.file("Old.sqlite"), try newURL(), try newURL())
            try MigrationComparison.withStore(file, MigrationComparison.copy(old)) { coordinator in
                var filling = RandomFilling(seed: seed)
                try filling.fill(MigrationComparison.context(coordinator), coordinator.managedObjectModel)
            }
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: try MigrationComparison.copy(old))
            let store = try coordinator.addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: nil, at: file,
                options: [NSReadOnlyPersistentStoreOption: true])
            let onServer = try coordinator.migratePersistentStore(
                store, to: server, options: nil, withType: TestStores.postgreSQL)
            try coordinator.remove(onServer)
            for url in [file, server] {
                try InPlaceMigration(
                    url: url, options: MigrationComparison.options,
                    models: [MigrationComparison.copy(old), MigrationComparison.copy(new)]
                ).run()
            }
            let inFile = try MigrationComparison.lines(file, MigrationComparison.copy(new))
            let migrated = try MigrationComparison.lines(server, MigrationComparison.copy(new))
            #expect(migrated.count == inFile.count, comment)
            for (line, expected) in zip(migrated, inFile) where line != expected {
                Issue.record("\(comment)\nPostgreSQL: \(line)\nSQLite:     \(expected)")
                break
            }
            try MigrationComparison.withStore(fresh, MigrationComparison.copy(new)) { _ in }
            let (made, expected) = try (schema(server), schema(fresh))
            #expect(made.filter { !expected.contains($0) } == [], comment)
            #expect(expected.filter { !made.contains($0) } == [], comment)
            for url in [server, fresh] {
                try coordinator.destroyPersistentStore(at: url, ofType: TestStores.postgreSQL, options: nil)
            }
        }

        // MARK: - History

        /// The history as text, with the names of entities and properties.
        private func history(_ context: NSManagedObjectContext) throws -> [String] {
            let request = NSPersistentHistoryChangeRequest.fetchHistory(after: nil as NSPersistentHistoryToken?)
            let result = try #require(try context.execute(request) as? NSPersistentHistoryResult)
            let transactions = try #require(result.result as? [NSPersistentHistoryTransaction])
            return transactions.flatMap { transaction in
                ["\(transaction.transactionNumber) \(transaction.author ?? "")"]
                    + (transaction.changes ?? []).map { change in
                        let updated = change.updatedProperties.map { $0.map(\.name).sorted() }
                        let tombstone = change.tombstone.map { values in
                            values.map { "\($0.key)=\($0.value)" }.sorted()
                        }
                        return "\(change.changeType.rawValue) \(change.changedObjectID.entity.name ?? "")/"
                            + "\(change.changedObjectID.primaryKey ?? 0) \(updated ?? []) \(tombstone ?? [])"
                    }
            }
        }

        @Test func `the history names the new entities and properties after a migration`() throws {
            func model(isNew: Bool) throws -> NSManagedObjectModel {
                let model = NotesModel.make()
                let note = try #require(model.entitiesByName["Note"])
                let title = try #require(note.attributesByName["title"])
                title.preservesValueInHistoryOnDeletion = true
                note.attributesByName["count"]?.preservesValueInHistoryOnDeletion = true
                guard isNew else { return model }
                title.renamingIdentifier = "title"
                title.name = "heading"
                note.properties.removeAll { $0.name == "rank" }
                note.properties.append(NotesModel.attribute("another", .stringAttributeType))
                model.entities = [NotesModel.entity("Aaa", [])] + model.entities
                return model
            }
            let folder = try StoreFolder()
            var found: [[String]] = []
            for (type, url) in [(NSSQLiteStoreType, folder.url), (TestStores.postgreSQL, try newURL())] {
                var options: [AnyHashable: Any] = [NSPersistentHistoryTrackingKey: true]
                let old = try TestStack(model: model(isNew: false), type: type, url: url, options: options)
                let context = old.context()
                context.transactionAuthor = "Ada"
                let notes = (0..<3).map { context.insert("Note", ["title": "n\($0)", "count": $0, "rank": 0.5]) }
                let item = context.insert("Item", ["index": 1])
                try context.save()
                notes[0].setValue("changed", forKey: "title")
                notes[1].setValue(1.5, forKey: "rank")
                item.setValue(notes[1], forKey: "note")
                try context.save()
                context.delete(notes[2])
                try context.save()
                for store in old.coordinator.persistentStores { try old.coordinator.remove(store) }

                options.merge(Self.options) { $1 }
                let new = try TestStack(model: model(isNew: true), type: type, url: url, options: options)
                let reading = new.context()
                #expect(try reading.all("Note").count == 2)
                found.append(try history(reading))
                // The history is continued.
                _ = reading.insert("Aaa")
                try reading.save()
                let last = try history(reading)
                #expect(last.last?.hasPrefix("0 Aaa/1") == true && last.count == found[found.count - 1].count + 2)
            }
            // Numbers that are given concurrently have gaps; those of changes' kinds come before a list.
            if TestStores.numbersConcurrently {
                found = found.map { $0.map { $0.contains(" [") ? $0 : String($0.drop { $0.isNumber }) } }
            }
            #expect(found[1] == found[0])
            #expect(found[1].contains { $0.contains("heading") } && found[1].contains { $0.contains("heading=n2") })
        }

        /// Migrates a store as when it is added with a mapping model, by objects.
        private func migrateByObjects(_ url: URL, from old: NSManagedObjectModel, to new: NSManagedObjectModel) throws {
            let manager = NSMigrationManager(sourceModel: old, destinationModel: new)
            manager.keepsHistory = true
            let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: old, destinationModel: new)
            let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
                ofType: TestStores.postgreSQL, at: url)
            manager.destinationIdentifier = metadata[NSStoreUUIDKey] as? String
            try PostgreSQLReplacement(url: url, metadata: metadata).run {
                try manager.migrateStore(
                    from: url, sourceType: TestStores.postgreSQL, options: nil, with: mapping, toDestinationURL: $0,
                    destinationType: TestStores.postgreSQL, destinationOptions: nil)
            }
        }

        @Test func `a migration with a mapping model keeps the history, its numbers and its tokens`() throws {
            func model(isNew: Bool) -> NSManagedObjectModel {
                let model = NotesModel.make()
                guard isNew, let note = model.entitiesByName["Note"], let title = note.attributesByName["title"] else {
                    return model
                }
                title.renamingIdentifier = "title"
                title.name = "heading"
                model.entities = [NotesModel.entity("Aaa", [])] + model.entities
                return model
            }
            let url = try newURL()
            let options: [AnyHashable: Any] = [NSPersistentHistoryTrackingKey: true]
            let old = try TestStack(model: model(isNew: false), type: TestStores.postgreSQL, url: url, options: options)
            let context = old.context()
            context.transactionAuthor = "Ada"
            let notes = (0..<3).map { context.insert("Note", ["title": "n\($0)"]) }
            try context.save()
            let token = try #require(old.coordinator.currentPersistentHistoryToken(fromStores: nil))
            notes[0].setValue("changed", forKey: "title")
            context.delete(notes[1])
            try context.save()
            let before = try history(context)
            for store in old.coordinator.persistentStores { try old.coordinator.remove(store) }

            try migrateByObjects(url, from: model(isNew: false), to: model(isNew: true))
            let new = try TestStack(model: model(isNew: true), type: TestStores.postgreSQL, url: url, options: options)
            let reading = new.context()
            #expect(try history(reading) == before.map { $0.replacingOccurrences(of: "title", with: "heading") })
            let request = NSPersistentHistoryChangeRequest.fetchHistory(after: token)
            let result = try #require(try reading.execute(request) as? NSPersistentHistoryResult)
            let after = try #require(result.result as? [NSPersistentHistoryTransaction])
            #expect(after.map { $0.changes?.count } == [2])
            _ = reading.insert("Aaa")
            try reading.save()
            #expect(try history(reading).last == "0 Aaa/1 [] []")
        }

        @Test func `old values are recorded for the new columns after a migration`() throws {
            let url = try newURL()
            var options: [AnyHashable: Any] = [NSPersistentHistoryTrackingKey: true, HistoryOldValuesOption: true]
            func model(isNew: Bool) -> NSManagedObjectModel {
                let model = NotesModel.make()
                if isNew, let title = model.entitiesByName["Note"]?.attributesByName["title"] {
                    title.renamingIdentifier = "title"
                    title.name = "heading"
                }
                return model
            }
            let old = try TestStack(model: model(isNew: false), type: TestStores.postgreSQL, url: url, options: options)
            let context = old.context()
            _ = context.insert("Note", ["title": "a"])
            try context.save()
            for store in old.coordinator.persistentStores { try old.coordinator.remove(store) }
            options.merge(Self.options) { $1 }
            let new = try TestStack(model: model(isNew: true), type: TestStores.postgreSQL, url: url, options: options)
            let changing = new.context()
            try changing.all("Note").first?.setValue("b", forKey: "heading")
            try changing.save()
            let request = NSPersistentHistoryChangeRequest.fetchHistory(after: Date.distantPast)
            request.resultType = .changesOnly
            let found = try changing.execute(request) as? NSPersistentHistoryResult
            let change = try #require((found?.result as? [NSPersistentHistoryChange])?.last)
            let properties = try #require(try change.propertyChanges())
            guard case .value(let before, let after)? = properties["heading"] else {
                Issue.record("\(properties)")
                return
            }
            #expect(before as? String == "a" && after as? String == "b")
        }

        // MARK: - Progress

        /// A model whose new version has a derived text that the server cannot compute.
        private static func model(isNew: Bool) -> NSManagedObjectModel {
            let model = NotesModel.make()
            guard isNew else { return model }
            let derived = NSDerivedAttributeDescription()
            derived.name = "canonical"
            derived.attributeType = .stringAttributeType
            derived.derivationExpression = NSExpression(format: "canonical:(title)")
            model.entitiesByName["Note"]?.properties.append(derived)
            return model
        }

        /// A store with so many notes.
        private func store(count: Int) throws -> URL {
            let url = try newURL()
            let stack = try TestStack(model: Self.model(isNew: false), type: TestStores.postgreSQL, url: url)
            let context = stack.context()
            let insert = NSBatchInsertRequest(
                entityName: "Note", objects: (0..<count).map { ["title": "Título \($0)"] })
            try context.execute(insert)
            for store in stack.coordinator.persistentStores { try stack.coordinator.remove(store) }
            return url
        }

        @Test func `texts are computed in chunks, with progress, and can be cancelled`() throws {
            let url = try store(count: 25_000)
            var migration = InPlaceMigration(
                url: url, options: [:], models: [Self.model(isNew: false), Self.model(isNew: true)])
            var fractions: [Double] = []
            migration.didComplete = { fractions.append($0) }
            migration.isCancelled = { fractions.contains { $0 > 0.5 } }
            let error = #expect(throws: CocoaError.self) { try migration.run() }
            #expect(error?.code == .migrationCancelled)
            let before = try TestStack(model: Self.model(isNew: false), type: TestStores.postgreSQL, url: url)
            #expect(try before.context().all("Note").count == 25_000)
            for store in before.coordinator.persistentStores { try before.coordinator.remove(store) }

            fractions = []
            migration.isCancelled = nil
            try migration.run()
            #expect(fractions == fractions.sorted() && fractions.last == 1)
            let steps = Set(fractions.filter { $0 > 0 && $0 < 1 })
            #expect(steps.count >= 3, "\(fractions)")
            let after = try TestStack(model: Self.model(isNew: true), type: TestStores.postgreSQL, url: url)
            let context = after.context()
            #expect(
                try context.all("Note").allSatisfy {
                    ($0.value(forKey: "canonical") as? String)?.hasPrefix("titulo ") == true
                })
        }

        @Test func `a statement that runs is ended when a migration is cancelled`() throws {
            let url = try store(count: 10)
            let location = try PostgreSQLLocation(url)
            let blocking = try PostgreSQLConnection(
                location.server, settings: ["search_path": .names([location.schema])])
            defer { blocking.close() }
            // The migration waits for the lock.
            try blocking.execute(script: "BEGIN; LOCK TABLE ZNOTE IN ACCESS SHARE MODE")
            let start = Date()
            var migration = InPlaceMigration(
                url: url, options: [:], models: [Self.model(isNew: false), Self.model(isNew: true)])
            migration.isCancelled = { Date().timeIntervalSince(start) > 0.5 }
            let error = #expect(throws: CocoaError.self) { try migration.run() }
            #expect(error?.code == .migrationCancelled)
        }

        // MARK: - Failures

        @Test func `rows that violate a new constraint leave the store unchanged`() throws {
            let url = try newURL()
            let stack = try TestStack(model: NotesModel.make(), type: TestStores.postgreSQL, url: url)
            let context = stack.context()
            for _ in 0..<2 { _ = context.insert("Note", ["title": "same"]) }
            try context.save()
            for store in stack.coordinator.persistentStores { try stack.coordinator.remove(store) }
            let before = try schema(url)
            let model = NotesModel.make()
            model.entitiesByName["Note"]?.uniquenessConstraints = [["title"]]
            let error = #expect(throws: CocoaError.self) {
                try TestStack(model: model, type: TestStores.postgreSQL, url: url, options: Self.options)
            }
            #expect(error?.errorCode == NSMigrationConstraintViolationError)
            #expect(try schema(url) == before)
            #expect(
                try TestStack(model: NotesModel.make(), type: TestStores.postgreSQL, url: url).context().all("Note")
                    .count == 2)
        }

        @Test func `new derived texts are computed as in a file, without functions of the server`() throws {
            func model(isNew: Bool) -> NSManagedObjectModel {
                let model = NotesModel.make()
                guard isNew else { return model }
                for (name, function) in [("canonical", "canonical"), ("upper", "uppercase"), ("lower", "lowercase")] {
                    let derived = NSDerivedAttributeDescription()
                    derived.name = name
                    derived.attributeType = .stringAttributeType
                    derived.derivationExpression = NSExpression(format: "\(function):(title)")
                    model.entitiesByName["Note"]?.properties.append(derived)
                }
                return model
            }
            let folder = try StoreFolder()
            let titles = ["Éa", "straße"]
            for (type, url) in [(NSSQLiteStoreType, folder.url), (TestStores.postgreSQL, try newURL())] {
                let old = try TestStack(model: model(isNew: false), type: type, url: url)
                let context = old.context()
                for title in titles { _ = context.insert("Note", ["title": title]) }
                _ = context.insert("Note")
                try context.save()
                for store in old.coordinator.persistentStores { try old.coordinator.remove(store) }
                let new = try TestStack(model: model(isNew: true), type: type, url: url, options: Self.options)
                let reading = new.context()
                // The objects are faults, which lose their values with their context.
                defer { withExtendedLifetime(reading) {} }
                let notes = try reading.all("Note").sorted { $0.key.number < $1.key.number }
                func texts(_ name: String) -> [String?] { notes.map { $0.value(forKey: name) as? String } }
                let folded = titles.map {
                    $0.folding(options: [.caseInsensitive, .diacriticInsensitive], locale: nil)
                }
                #expect(texts("canonical") == folded + [nil], "\(type)")
                #expect(texts("upper") == ["ÉA", "STRASSE", nil], "\(type)")
                #expect(texts("lower") == ["éa", "straße", nil], "\(type)")
            }
        }
    }
#endif
