#if !canImport(Darwin)

    @testable import Coral
    import CoralTesting
    import GRDB
    import GraphDocuments
    @testable import ManagedObjects
    @testable import SQLStores
    import Testing

    /// Records that rows cannot hold are imported through objects, in the transaction of the rows of all others.
    @Suite(.enabled(if: Engine.hasRows)) struct RowImportObjectsTests {
        /// Notes with ordered items, which rows do not support.
        private static func makeModel() -> NSManagedObjectModel {
            let note = WebModel.entity(
                "Note",
                [("title", .stringAttributeType), ("rank", .integer32AttributeType), ("code", .stringAttributeType)])
            note.attributesByName["code"]?.setValidationPredicates(
                [NSPredicate(format: "SELF MATCHES '[a-z]+'")], withValidationWarnings: [])
            note.userInfo = ["coral.identity": "title"]
            let item = WebModel.entity("Item", [("name", .stringAttributeType)])
            item.userInfo = ["coral.identity": "name"]
            let tag = WebModel.entity("Tag", [("word", .stringAttributeType)])
            tag.userInfo = ["coral.identity": "word"]
            WebModel.relate(note, "items", .toMany(ordered: true), item, "note", .toOne)
            WebModel.relate(note, "tags", .toMany(ordered: false), tag, "notes", .toMany(ordered: false))
            WebModel.relate(tag, "first", .toOne, note, "firstOf", .toMany(ordered: false))
            item.relationshipsByName["note"]?.isOptional = false
            let model = NSManagedObjectModel()
            model.entities = [note, item, tag]
            return model
        }

        private final class Notes {
            let context: NSManagedObjectContext
            let url: URL
            private let folder: URL

            init(_ model: NSManagedObjectModel = RowImportObjectsTests.makeModel()) throws {
                folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
                try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
                url = folder.appendingPathComponent("Notes.sqlite")
                context = try makeContext(model, at: url)
            }

            deinit { try? FileManager.default.removeItem(at: folder) }

            @discardableResult
            func importDocument(_ json: String, by path: RowImporting = .always) throws -> BatchImporter.Result {
                var options = ImportOptions()
                options.layout = .plain
                var importer = BatchImporter(into: try #require(context.persistentStoreCoordinator), options: options)
                importer.rowImporting = path
                return try importer.importDocument(.data(Data(json.utf8)))
            }

            /// The notes with their items in order, their tags, and the tags whose first note they are.
            func notes() throws -> [String] {
                try context.performAndWait {
                    defer { context.reset() }
                    let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
                    request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
                    return try context.fetch(request).map { note in
                        func names(_ key: String, _ name: String) -> [String] {
                            let members = note.value(forKey: key)
                            let objects =
                                (members as? NSOrderedSet)?.array ?? (members as? Set<NSManagedObject>).map(Array.init)
                                ?? []
                            return objects.compactMap { ($0 as? NSManagedObject)?.value(forKey: name) as? String }
                        }
                        let tags = names("tags", "word").sorted()
                        return "\(note.value(forKey: "title") ?? "") \(note.value(forKey: "rank") ?? "") "
                            + "\(names("items", "name")) \(tags) \(names("firstOf", "word").sorted())"
                    }
                }
            }

            /// The rows of a query.
            func values(_ sql: String) throws -> [String] {
                try DatabaseQueue(path: url.path).read { try Row.fetchAll($0, sql: sql).map(\.description) }
            }
        }

        /// Note b states its items in order: only objects set them. Records before and after refer to it by its key.
        private static let document = #"""
            {"Tag": [{"word": "x", "first": "b"}, {"word": "y"}],
             "Note": [{"title": "a", "rank": 1, "tags": ["x"]}, {"title": "b", "rank": 2, "items": ["j", "i"], "tags": ["y", "x"]},
                      {"title": "c", "rank": 3, "tags": []}],
             "Item": [{"name": "i", "note": "b"}, {"name": "j", "note": "b"}, {"name": "k", "note": "c"}]}
            """#

        @Test func `one record goes to objects, and all others are rows`() throws {
            let (mixed, objects) = (try Notes(), try Notes())
            let result = try mixed.importDocument(Self.document)
            let reason = ObjectsReason(.model, "Rows do not support Note.items.", entity: "Note", property: "items")
            #expect(result.path == .rowsAndObjects(records: 1, because: reason))
            let expected = try objects.importDocument(Self.document, by: .never)
            #expect(result.recordCount == expected.recordCount)
            #expect(result.insertCount == 8)
            #expect(expected.insertCount == 8)
            #expect(
                try mixed.notes() == ["a 1 [] [\"x\"] []", #"b 2 ["j", "i"] ["x", "y"] ["x"]"#, #"c 3 ["k"] [] []"#])
            #expect(try mixed.notes() == objects.notes())
        }

        @Test func `a second import finds the objects, and changes nothing`() throws {
            let notes = try Notes()
            try notes.importDocument(Self.document)
            let before = try notes.values("SELECT * FROM ZNOTE ORDER BY 1")
            let again = try notes.importDocument(Self.document)
            #expect(again.insertCount == 0 && again.updateCount == 0 && again.linkCount == 0)
            #expect(try notes.values("SELECT * FROM ZNOTE ORDER BY 1") == before)
        }

        @Test(arguments: RowImporting.allCases)
        func `a row sets a required relationship of such a record at the end`(path: RowImporting) throws {
            let model = Self.makeModel()
            let note = try #require(model.entitiesByName["Note"])
            let badge = WebModel.entity("Badge", [("code", .stringAttributeType)])
            badge.userInfo = ["coral.identity": "code"]
            WebModel.relate(note, "badge", .toOne, badge, "bearer", .toOne)
            note.relationshipsByName["badge"]?.isOptional = false
            model.entities.append(badge)
            let notes = try Notes(model)
            // The badge refers to a note that follows, which objects import.
            let document = #"{"Badge": [{"code": "1", "bearer": "b"}], "Note": [{"title": "b", "items": []}]}"#
            try notes.importDocument(document, by: path)
            let codes = try notes.context.performAndWait {
                try notes.context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Note"))
                    .map { $0.value(forKeyPath: "badge.code") as? String }
            }
            #expect(codes == ["1"])
            let error = #expect(throws: ImportError.self) {
                try notes.importDocument(#"{"Note": [{"title": "c", "items": []}]}"#, by: path)
            }
            #expect(error?.message == "Note.badge is required and has no value.")
        }

        @Test func `an error of such a record leaves the store unchanged`() throws {
            let notes = try Notes()
            try notes.importDocument(#"{"Note": [{"title": "a", "rank": 1}]}"#)
            let document =
                #"{"Note": [{"title": "a", "rank": 5}, {"title": "b", "items": ["unknown"]}, {"title": "c"}]}"#
            #expect(throws: ImportError.self) { try notes.importDocument(document) }
            #expect(try notes.notes() == ["a 1 [] [] []"])
        }

        @Test func `an object that loses its required destination to such a record is an error`() throws {
            let notes = try Notes()
            try notes.importDocument(Self.document)
            let before = try notes.notes()
            #expect(throws: ImportError.self) {
                try notes.importDocument(#"{"Note": [{"title": "b", "items": ["i"]}]}"#)
            }
            #expect(try notes.notes() == before)
            // A later row supplies it.
            try notes.importDocument(
                #"{"Note": [{"title": "d"}, {"title": "b", "items": ["i"]}], "Item": [{"name": "j", "note": "d"}]}"#)
            #expect(try notes.notes().last == #"d  ["j"] [] []"#)
        }

        @Test func `an object with a value that only objects read is changed`() throws {
            let notes = try Notes()
            try notes.importDocument(#"{"Note": [{"title": "a", "rank": 1, "code": "ab"}]}"#)
            // A value as another program may write it.
            try DatabaseQueue(path: notes.url.path).write { try $0.execute(sql: "UPDATE ZNOTE SET ZCODE = X'6162'") }
            let result = try notes.importDocument(
                #"{"Note": [{"title": "z"}, {"title": "a", "rank": 2}], "Tag": [{"word": "x", "first": "a"}]}"#)
            guard case .rowsAndObjects(1, let reason) = result.path else {
                Issue.record("\(result.path)")
                return
            }
            #expect(reason.code == .contents)
            #expect(reason.property == "code")
            #expect(result.insertCount == 2)
            #expect(result.updateCount == 1)
            #expect(try notes.notes() == [#"a 2 [] [] ["x"]"#, "z  [] [] []"])
        }

        @Test func `the history has one transaction with the changes of rows and objects`() throws {
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            let url = folder.appendingPathComponent("History.sqlite")
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.makeModel())
            try coordinator.addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: nil, at: url,
                options: [NSPersistentHistoryTrackingKey: true as NSNumber])
            var options = ImportOptions()
            options.layout = .plain
            let result = try BatchImporter(into: coordinator, options: options)
                .importDocument(.data(Data(Self.document.utf8)))
            #expect(result.path != .rows)
            let counts = try DatabaseQueue(path: url.path).read { database in
                try ["ATRANSACTION", "ACHANGE"].map {
                    try Int.fetchOne(database, sql: "SELECT count(*) FROM \($0)")
                }
            }
            // Each object was inserted, whatever changed it afterwards.
            #expect(counts == [1, 8])
        }

        @Test func `two records of one object, one of which needs objects, are imported through objects`() throws {
            let notes = try Notes()
            let result = try notes.importDocument(
                #"{"Note": [{"title": "b", "items": []}, {"title": "b", "rank": 7}]}"#)
            #expect(
                result.path
                    == .objects(
                        because: ObjectsReason(
                            .document, "Several records of Note have the same key.", entity: "Note")))
            #expect(try notes.notes() == ["b 7 [] [] []"])
        }

        @Test func `many such records are imported through objects`() throws {
            let notes = try Notes()
            let records = (0...5001).map { #"{"title": "\#($0)", "items": []}"# }.joined(separator: ",")
            let result = try notes.importDocument(#"{"Note": [\#(records)]}"#)
            #expect(result.path.reason?.property == "items")
            guard case .objects = result.path else {
                Issue.record("\(result.path)")
                return
            }
            #expect(result.insertCount == 5002)
        }

        @Test func `contexts merge the changes of rows and objects together, after the commit`() throws {
            let notes = try Notes()
            nonisolated(unsafe) var inserted = 0
            let observer = NotificationCenter.default.addObserver(
                forName: .NSManagedObjectContextDidSaveObjectIDs, object: nil, queue: nil
            ) { [url = notes.url] notification in
                let ids = notification.userInfo?[NSInsertedObjectIDsKey] as? Set<NSManagedObjectID> ?? []
                guard ids.first?.persistentStore?.url == url else { return }
                inserted += ids.count
                // A reader of another connection finds the rows.
                let count = try? DatabaseQueue(path: url.path).read {
                    try Int.fetchOne($0, sql: "SELECT count(*) FROM ZNOTE")
                }
                #expect(count == 3)
            }
            defer { NotificationCenter.default.removeObserver(observer) }
            try notes.importDocument(Self.document)
            #expect(inserted == 8)
        }
    }

#endif
