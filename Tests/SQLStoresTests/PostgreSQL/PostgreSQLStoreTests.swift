#if PostgreSQL
    import CoreDataErrors
    import Foundation
    import PostgreSQLClient
    import Testing

    import class ManagedObjects.NSPredicate
    import class ManagedObjects.NSSortDescriptor

    @testable import EngineTesting

    @testable import ManagedObjects
    @testable import SQLStores

    /// Stores in PostgreSQL. Without a server the tests are skipped.
    @Suite(.serialized, .enabled(if: TestStores.server != nil, "CORAL_POSTGRESQL names no server."))
    struct PostgreSQLStoreTests {
        private let url: URL

        init() throws { url = try #require(TestStores.url(TestStores.postgreSQL)) }

        private func stack(
            _ model: NSManagedObjectModel = NotesModel.make(), options: [AnyHashable: Any]? = nil
        ) throws -> TestStack {
            try TestStack(model: model, type: TestStores.postgreSQL, url: url, options: options)
        }

        private func store(_ stack: TestStack) throws -> PostgreSQLStore {
            try #require(stack.coordinator.persistentStores.first as? PostgreSQLStore)
        }

        // MARK: - Values and relationships

        @Test func `objects of every kind are read by another coordinator as they were saved`() throws {
            let context = try stack().context()
            let folder = context.insert("Folder", ["name": "Inbox"])
            let values: [String: Any] = [
                "title": "é 😀 \"quoted\" \\ 'x'", "rank": 0.1, "count": Int64.min, "small": -3, "isPinned": true,
                "createdAt": Date(timeIntervalSinceReferenceDate: 0.123456789), "identifier": UUID(),
                "price": NSDecimalNumber(string: "12.34"),
                "link": try #require(URL(string: "https://example.org/ä?b=c")),
                "blob": Data([0, 1, 255]),
            ]
            let note = context.insert("Note", values)
            note.setValue(folder, forKey: "folder")
            let items = (0..<5).map {
                context.insert($0 == 3 ? "SpecialItem" : "Item", ["index": $0, "name": "i\($0)"])
            }
            note.setValue(NSOrderedSet(array: items.reversed()), forKey: "items")
            let tags = ["red", "green"].map { context.insert("Tag", ["name": $0]) }
            items[0].setValue(Set(tags), forKey: "tags")
            let other = context.insert("Note")
            note.setValue(Set([other]), forKey: "related")
            try context.save()

            let reading = try stack().context()
            let read = try #require(reading.all("Note").first { $0.value(forKey: "title") != nil })
            for (key, value) in values {
                #expect((read.value(forKey: key) as? NSObject) == (value as? NSObject), "\(key)")
            }
            #expect(read.value(forKeyPath: "folder.name") as? String == "Inbox")
            let members = try #require((read.value(forKey: "items") as? NSOrderedSet)?.array as? [NSManagedObject])
            #expect(members.map { $0.value(forKey: "index") as? Int } == [4, 3, 2, 1, 0])
            #expect(members[1].entity.name == "SpecialItem")
            #expect((members[4].value(forKey: "tags") as? Set<NSManagedObject>)?.count == 2)
            #expect((read.value(forKey: "related") as? Set<NSManagedObject>)?.count == 1)
            let empty = try #require((read.value(forKey: "related") as? Set<NSManagedObject>)?.first)
            for key in values.keys where key != "isPinned" { #expect(empty.value(forKey: key) == nil, "\(key)") }
        }

        @Test func `members of an ordered relationship are moved and removed`() throws {
            let context = try stack().context()
            let note = context.insert("Note", ["title": "n"])
            note.setValue(
                NSOrderedSet(array: (0..<20).map { context.insert("Item", ["index": $0]) }), forKey: "items")
            try context.save()
            let items = note.mutableOrderedSetValue(forKey: "items")
            items.moveObjects(at: IndexSet(integer: 19), to: 0)
            if let removed = items.object(at: 5) as? NSManagedObject { context.delete(removed) }
            try context.save()
            let reading = try stack().context()
            let read = try #require(reading.all("Note").first)
            let indexes = (read.value(forKey: "items") as? NSOrderedSet)?.array
                .compactMap { ($0 as? NSManagedObject)?.value(forKey: "index") as? Int }
            #expect(indexes == [19, 0, 1, 2, 3] + Array(5..<19))
        }

        @Test func `a text with a NUL character is refused with its property`() throws {
            let context = try stack().context()
            _ = context.insert("Note", ["title": "a\u{0}b"])
            let error = #expect(throws: CocoaError.self) { try context.save() }
            #expect(error?.code == .managedObjectValidation)
            #expect(error?.localizedDescription.contains("title") == true)
            #expect(try stack().context().all("Note").isEmpty)
        }

        @Test func `views have the names of the model`() throws {
            let stack = try stack()
            let context = stack.context()
            let identifier = UUID()
            _ = context.insert(
                "Note",
                [
                    "title": "t", "isPinned": true, "identifier": identifier,
                    "createdAt": Date(timeIntervalSince1970: 86400),
                ])
            _ = context.insert("SpecialItem", ["extra": "x"])
            try context.save()
            try store(stack).content().pool.withConnection { connection in
                let row = try connection.execute(
                    #"SELECT "title", "isPinned"::text, "identifier"::text, extract(epoch FROM "createdAt")::float8 FROM "Note""#
                )
                #expect(row.text(0, 0) == "t")
                #expect(row.text(0, 1) == "true")
                #expect(row.text(0, 2)?.uppercased() == identifier.uuidString)
                #expect(row.real(0, 3) == 86400)
                #expect(try connection.execute(#"SELECT 1 FROM "Item""#).rowCount == 1)
                #expect(try connection.execute(#"SELECT "extra" FROM "SpecialItem""#).text(0, 0) == "x")
            }
        }

        @Test func `a view has another name than the tables, and a date out of the server's range is NULL`() throws {
            let model = NSManagedObjectModel()
            model.entities = ["achange", "Event"].map {
                NotesModel.entity($0, [NotesModel.attribute("at", .dateAttributeType)])
            }
            let stack = try stack(model, options: [NSPersistentHistoryTrackingKey: true])
            let context = stack.context()
            let dates = [-1e300, -211_813_488_000, 0, 9_223_000_000_000, 1e300]
            for entity in ["achange", "Event"] {
                for date in dates { _ = context.insert(entity, ["at": Date(timeIntervalSinceReferenceDate: date)]) }
            }
            try context.save()
            #expect(try stack.context().all("achange").count == dates.count)
            try store(stack).content().pool.withConnection { connection in
                let row = try connection.execute(#"SELECT count(*), count("at") FROM "Event""#)
                #expect(row.integer(0, 0) == 5 && row.integer(0, 1) == 2)
            }
        }

        @Test func `names of more than 63 bytes stay different`() throws {
            let long = String(repeating: "veryLongName", count: 6)
            let first = NotesModel.entity(
                "First" + long,
                [
                    NotesModel.attribute(long + "A", .stringAttributeType),
                    NotesModel.attribute(long + "B", .stringAttributeType),
                ])
            let second = NotesModel.entity("First" + long + "2", [NotesModel.attribute("name", .stringAttributeType)])
            NotesModel.relate(
                first, long + "Others", many: true, ordered: true, second, long + "Inverse", many: true,
                rule: .nullifyDeleteRule)
            let model = NSManagedObjectModel()
            model.entities = [first, second]
            let context = try stack(model).context()
            let one = context.insert("First" + long, [long + "A": "a", long + "B": "b"])
            let others = ["x", "y"].map { context.insert("First" + long + "2", ["name": $0]) }
            one.setValue(NSOrderedSet(array: others), forKey: long + "Others")
            try context.save()
            let reading = try stack(model.copy() as? NSManagedObjectModel ?? model).context()
            let read = try #require(reading.all("First" + long).first)
            #expect(read.value(forKey: long + "A") as? String == "a")
            #expect(read.value(forKey: long + "B") as? String == "b")
            let names = (read.value(forKey: long + "Others") as? NSOrderedSet)?.array
                .compactMap { ($0 as? NSManagedObject)?.value(forKey: "name") as? String }
            #expect(names == ["x", "y"])
        }

        @Test(arguments: ["no\"t'e\\s; --%&#", "Größe \u{1F600}", String(repeating: "ü", count: 31)])
        func `a schema has any name`(name: String) throws {
            let escaped = try #require(name.addingPercentEncoding(withAllowedCharacters: .alphanumerics))
            let place = try #require(TestStores.schemaURL(escaped))
            func opened(_ options: [AnyHashable: Any]? = nil) throws -> TestStack {
                try TestStack(type: TestStores.postgreSQL, url: place, options: options)
            }
            let stack = try opened([NSPersistentHistoryTrackingKey: true])
            let location = try store(stack).content().location
            #expect(location.schema == name)
            let context = stack.context()
            _ = context.insert("Note", ["title": "a"])
            try context.save()
            #expect(try opened().context().all("Note").count == 1)
            // The connections of the store are found by their name, which the server has not changed.
            let connection = try PostgreSQLConnection(location.server)
            defer { connection.close() }
            let count = try connection.execute(
                "SELECT count(*) FROM pg_stat_activity WHERE application_name = $1", [.text(location.applicationName)])
            #expect(count.integer(0, 0) > 0)
            // A copy replaces the store, and ends its connections.
            let draft = try PostgreSQLDraft(for: place)
            try PostgreSQLCopy(from: place, to: draft.url).run()
            try draft.commit(replacingStore: true)
            #expect(try opened().context().all("Note").count == 1)
            _ = context.insert("Note", ["title": "b"])
            try context.save()
            #expect(try opened().context().all("Note").count == 2)
            try PostgreSQLStore.removeTables(at: place)
            let schemas = try connection.execute("SELECT 1 FROM pg_namespace WHERE nspname = $1", [.text(name)])
            #expect(schemas.rowCount == 0)
        }

        // MARK: - Migration

        @Test func `a store is migrated when it is added, and a process with the old model is refused`() throws {
            let old = try stack()
            let (writer, pinned) = (old.context(), old.context())
            let note = writer.insert("Note", ["title": "a", "count": 3])
            note.setValue(NSOrderedSet(array: [writer.insert("Item", ["index": 1])]), forKey: "items")
            try writer.save()
            try pinned.setQueryGenerationFrom(NSQueryGenerationToken.current)
            #expect(try pinned.all("Note").count == 1)

            let model = NotesModel.make()
            let added = NotesModel.entity("Added", [NotesModel.attribute("name", .stringAttributeType)])
            model.entities = [added] + model.entities
            model.entitiesByName["Note"]?.properties.append(NotesModel.attribute("new", .stringAttributeType))
            #expect(throws: CocoaError.self) { try stack(model.copy() as? NSManagedObjectModel ?? model) }
            let options: [AnyHashable: Any] = [
                NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
            ]
            let context = try stack(model, options: options).context()
            let read = try #require(context.all("Note").first)
            #expect(read.value(forKey: "count") as? Int == 3)
            #expect(read.value(forKey: "new") == nil)
            #expect((read.value(forKey: "items") as? NSOrderedSet)?.count == 1)
            _ = context.insert("Added", ["name": "x"])
            try context.save()

            note.setValue("b", forKey: "title")
            for work in [{ try writer.save() }, { _ = try old.context().all("Note") }, { _ = try pinned.all("Item") }] {
                let error = #expect(throws: CocoaError.self) { try work() }
                #expect([.persistentStoreIncompatibleVersionHash, .persistentStoreTimeout].contains(error?.code))
            }
            let again = try stack(model.copy() as? NSManagedObjectModel ?? model).context()
            #expect(try again.all("Note").first?.value(forKey: "title") as? String == "a")
        }

        // MARK: - Saving

        @Test func `the changes of another process are conflicts`() throws {
            let (first, second) = (try stack().context(), try stack().context())
            let note = first.insert("Note", ["title": "a", "count": 1])
            let gone = first.insert("Note", ["title": "gone"])
            try first.save()
            let other = try #require(second.all("Note").first { $0.value(forKey: "title") as? String == "a" })
            let otherGone = try #require(second.all("Note").first { $0.value(forKey: "title") as? String == "gone" })
            otherGone.setValue("still", forKey: "title")
            other.setValue(2, forKey: "count")
            note.setValue("b", forKey: "title")
            first.delete(gone)
            try first.save()
            let error = #expect(throws: CocoaError.self) { try second.save() }
            #expect(error?.code == .managedObjectMerge)
            #expect((error?.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict])?.count == 2)
            second.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            try second.save()
            let reading = try stack().context()
            let read = try #require(
                reading.all("Note").first {
                    $0.objectID == note.objectID || $0.value(forKey: "title") as? String == "b"
                })
            #expect(read.value(forKey: "count") as? Int == 2)
        }

        @Test(arguments: [NSMergePolicy.error, .mergeByPropertyObjectTrump])
        func `a conflict of the second entity leaves the first one unchanged`(policy: NSMergePolicy) throws {
            let stack = try stack(options: [NSPersistentHistoryTrackingKey: true])
            let (first, second) = (stack.context(), stack.context())
            second.mergePolicy = policy
            let folder = first.insert("Folder", ["name": "f"])
            let notes = (0..<20).map { first.insert("Note", ["title": "n", "count": $0]) }
            try first.save()
            let seen = try second.all("Note").sorted { $0.key.number < $1.key.number }
            let seenFolder = try #require(second.all("Folder").first)
            notes[7].setValue(100, forKey: "count")
            try first.save()
            seenFolder.setValue("changed", forKey: "name")
            for note in seen { note.setValue("changed", forKey: "title") }
            _ = second.insert("Tag", ["name": "t"])
            var changed = 20
            if policy === NSMergePolicy.error {
                let error = #expect(throws: CocoaError.self) { try second.save() }
                let conflicts = error?.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict]
                #expect(conflicts?.map(\.sourceObject.objectID) == [notes[7].objectID])
                changed = 0
            } else {
                try second.save()
            }
            let reading = stack.context()
            let read = try reading.all("Note")
            #expect(read.count { $0.value(forKey: "title") as? String == "changed" } == changed)
            #expect(read.contains { $0.value(forKey: "count") as? Int == 100 })
            let name = try reading.all("Folder").first?.value(forKey: "name") as? String
            #expect(name == (changed == 0 ? "f" : "changed"))
            #expect(try reading.all("Tag").count == (changed == 0 ? 0 : 1))
            #expect(try store(stack).transactionCount() == (changed == 0 ? 2 : 3))
            withExtendedLifetime(folder) {}
        }

        @Test func `the history has each change once, even if consecutive changes have equal parts`() throws {
            let model = NotesModel.make()
            model.entitiesByName["Item"]?.attributesByName["name"]?.preservesValueInHistoryOnDeletion = true
            let stack = try stack(model, options: [NSPersistentHistoryTrackingKey: true])
            let context = stack.context()
            var notes = (0..<40).map { context.insert("Note", ["count": $0]) }
            var items = (0..<40).map { context.insert("Item", ["index": $0, "name": "i\($0)"]) }
            try context.save()
            var random = PredicateGenerator.Randomness(state: 7)
            for _ in 0..<10 {
                var expected: [String] = []
                for number in 0..<Int.random(in: 0...3, using: &random) {
                    items.append(context.insert("Item", ["index": 100 + number, "name": "new"]))
                }
                for note in notes where Bool.random(using: &random) {
                    let keys = ["title", "rank", "small"].filter { _ in Bool.random(using: &random) }
                    for key in keys {
                        note.setValue(
                            key == "title" ? UUID().uuidString : Int.random(in: 1...30_000, using: &random), forKey: key
                        )
                    }
                }
                let deleted = items.filter { !$0.objectID.isTemporaryID && Int.random(in: 0..<8, using: &random) == 0 }
                for item in deleted {
                    expected.append("delete Item \(item.value(forKey: "name") ?? "")")
                    context.delete(item)
                }
                items.removeAll { deleted.contains($0) }
                if let note = notes.popLast() {
                    expected.append("delete Note ")
                    context.delete(note)
                }
                context.processPendingChanges()
                for note in context.updatedObjects {
                    expected.append(
                        "update Note \(note.objectID.uriRepresentation()) \(note.changedValues().keys.sorted())")
                }
                let inserted = context.insertedObjects
                try context.save()
                for item in inserted { expected.append("insert Item \(item.objectID.uriRepresentation())") }
                let request = NSPersistentHistoryChangeRequest.fetchHistory(after: Date.distantPast)
                request.resultType = .transactionsAndChanges
                let result = try context.execute(request) as? NSPersistentHistoryResult
                let transaction = try #require((result?.result as? [NSPersistentHistoryTransaction])?.last)
                let changes = try #require(transaction.changes)
                #expect(
                    changes.map { change in
                        let entity = change.changedObjectID.entity.name ?? ""
                        let uri = change.changedObjectID.uriRepresentation()
                        switch change.changeType {
                        case .insert: return "insert \(entity) \(uri)"
                        case .update:
                            let names = (change.updatedProperties ?? []).map(\.name).sorted()
                            return "update \(entity) \(uri) \(names)"
                        default: return "delete \(entity) \(change.tombstone?["name"] ?? "")"
                        }
                    }.sorted() == expected.sorted())
                #expect(changes.map(\.changeID) == changes.map(\.changeID).sorted())
            }
            try store(stack).content().pool.withConnection { connection in
                let row = try connection.execute("SELECT count(*), count(DISTINCT Z_PK), max(Z_PK) FROM ACHANGE")
                #expect(row.integer(0, 0) == row.integer(0, 1) && row.integer(0, 0) == row.integer(0, 2))
            }
        }
    }
#endif
