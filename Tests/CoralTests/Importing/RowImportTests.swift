#if !canImport(Darwin)

    @testable import Coral
    import CoralTesting
    import GRDB
    import GraphDocuments
    @testable import ManagedObjects
    import Synchronization
    import Testing

    /// Importing documents by rows gives the same stores as importing them by objects.
    @Suite(.enabled(if: Engine.hasRows)) struct RowImportTests {
        /// A library: subentities, keys through relationships, every kind of relationship and attribute.
        static func makeModel() -> NSManagedObjectModel {
            let holding = WebModel.entity("Holding", [("code", .stringAttributeType), ("name", .stringAttributeType)])
            holding.isAbstract = true
            holding.userInfo = ["coral.identity": "code"]
            let book = WebModel.entity("Book", [("pages", .integer16AttributeType)])
            let disc = WebModel.entity("Disc", [("length", .doubleAttributeType)])
            holding.subentities = [book, disc]
            let person = WebModel.entity("Person", [("name", .stringAttributeType), ("born", .dateAttributeType)])
            person.userInfo = ["coral.identity": "name"]
            let card = WebModel.entity("Card", [("number", .integer64AttributeType)])
            card.userInfo = ["coral.identity": "number"]
            let chapter = WebModel.entity(
                "Chapter",
                [
                    ("position", .integer32AttributeType), ("title", .stringAttributeType),
                    ("weight", .doubleAttributeType), ("ratio", .floatAttributeType),
                    ("isDone", .booleanAttributeType), ("id", .UUIDAttributeType),
                    ("picture", .binaryDataAttributeType), ("link", .URIAttributeType),
                    ("price", .decimalAttributeType), ("printed", .dateAttributeType),
                    ("words", .integer64AttributeType),
                ])
            chapter.userInfo = ["coral.identity": "book, position"]
            let tag = WebModel.entity("Tag", [("word", .stringAttributeType), ("colour", .stringAttributeType)])
            tag.uniquenessConstraints = [["word"]]
            let remark = WebModel.entity("Remark", [("text", .stringAttributeType)])
            remark.userInfo = ["coral.identity": "text"]
            let visit = WebModel.entity("Visit", [("day", .dateAttributeType)])
            chapter.attributesByName["words"]?.defaultValue = 7
            WebModel.relate(
                book, "chapters", .toMany(ordered: true), chapter, "book", .toOne, rule: .cascadeDeleteRule)
            WebModel.relate(person, "holdings", .toMany(ordered: false), holding, "owner", .toOne)
            WebModel.relate(person, "card", .toOne, card, "person", .toOne)
            WebModel.relate(chapter, "tags", .toMany(ordered: false), tag, "chapters", .toMany(ordered: false))
            WebModel.relate(remark, "about", .toOne, holding, "remarks", .toMany(ordered: false))
            WebModel.relate(visit, "visitor", .toOne, person, "visits", .toMany(ordered: false))
            WebModel.relate(person, "friend", .toOne, person, "friendOf", .toMany(ordered: false))
            let model = NSManagedObjectModel()
            model.entities = [holding, book, disc, person, card, chapter, tag, remark, visit]
            return model
        }

        /// A store of the library in a file.
        private final class Library {
            let url: URL
            let context: NSManagedObjectContext
            private let folder: URL

            init(_ model: NSManagedObjectModel = RowImportTests.makeModel()) throws {
                folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
                try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
                url = folder.appendingPathComponent("Library.sqlite")
                context = try makeContext(model, at: url)
            }

            deinit { try? FileManager.default.removeItem(at: folder) }

            func coordinator() throws -> NSPersistentStoreCoordinator {
                try #require(context.persistentStoreCoordinator)
            }

            /// Imports by rows; nil if that is not possible.
            func takeRows(
                _ json: String, progress: Progress? = nil, _ change: (inout ImportOptions) -> Void = { _ in }
            ) throws -> BatchImporter.Result? {
                let importer = BatchImporter(into: try coordinator(), options: RowImportTests.options(change))
                let model = try ImportModel(try coordinator().managedObjectModel, options: importer.options)
                let result = try Engine.current.importRows(
                    of: .data(Data(json.utf8)), by: importer, entity: nil, model: model, saves: true, progress: progress
                )
                guard case .rows(let result) = result else { return nil }
                return result
            }

            /// Imports by objects, with one save.
            @discardableResult
            func takeObjects(
                _ json: String, _ change: (inout ImportOptions) -> Void = { _ in }
            ) throws -> ImportPlan<NSManagedObject> {
                var importer = GraphImporter(into: context, options: RowImportTests.options(change))
                importer.worksInPlace = true
                return try context.performAndWait {
                    let plan = try importer.plan(.data(Data(json.utf8)), entity: nil)
                    try plan.apply()
                    if context.hasChanges { try context.save() }
                    context.reset()
                    return plan
                }
            }

            /// All rows of all tables except the metadata.
            func rows() throws -> [String: [String]] {
                let queue = try DatabaseQueue(path: url.path)
                return try queue.read { database in
                    var rows: [String: [String]] = [:]
                    let names = try String.fetchAll(
                        database, sql: "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
                    for name in names where !["Z_METADATA", "Z_MODELCACHE"].contains(name) {
                        rows[name] = try Row.fetchAll(database, sql: "SELECT * FROM \(name)").map(\.description)
                            .sorted()
                    }
                    return rows
                }
            }
        }

        private static func options(_ change: (inout ImportOptions) -> Void) -> ImportOptions {
            var options = ImportOptions()
            options.layout = .plain
            change(&options)
            return options
        }

        /// Imports documents one after the other by rows and by objects, and compares the results.
        ///
        /// - Parameter countsLinks: False for documents that list a relationship at both ends: which end sets it, and is counted,
        ///   depends on the order in which the records' objects are found.
        private func requireSame(_ documents: String..., countsLinks: Bool = true) throws {
            let (rows, objects) = (try Library(), try Library())
            for (number, document) in documents.enumerated() {
                let result = try #require(try rows.takeRows(document), "Document \(number) is not for rows.")
                let plan = try objects.takeObjects(document)
                #expect(result.insertCount == plan.inserts.count, "Document \(number)")
                #expect(result.updateCount == plan.updates.count, "Document \(number)")
                if countsLinks { #expect(result.linkCount == plan.links.count, "Document \(number)") }
                let (one, other) = (try rows.rows(), try objects.rows())
                for name in other.keys.sorted() { #expect(one[name] == other[name], "Document \(number), \(name)") }
                // A second import changes nothing.
                let again = try #require(try rows.takeRows(document))
                #expect(again.insertCount == 0 && again.updateCount == 0 && again.linkCount == 0)
                #expect(try rows.rows() == one)
            }
        }

        // MARK: - The same store

        @Test func `every type of value, absent, null and converted`() throws {
            try requireSame(
                """
                {"Book": [{"code": "b1", "name": "A \\"book\\" é \\u00e9\\ud83d\\ude00", "pages": 300}],
                 "Chapter": [
                  {"book": "b1", "position": 1, "title": "One", "weight": 0.1, "ratio": 0.3, "isDone": true,
                   "id": "d31042f4-ab4f-46a5-a657-a2da914fece1", "picture": "AAECAw==", "link": "http://a.b/c?d",
                   "price": "12.340", "printed": "2024-02-29T12:30:00.123Z", "words": 9007199254740993},
                  {"book": "b1", "position": 2, "title": null, "weight": null, "words": null, "unknown": [1, {"a": 2}]},
                  {"book": "b1", "position": "3", "title": 12, "weight": "1.5", "ratio": 2, "isDone": "yes",
                   "price": 3, "printed": 1700000000, "words": "44", "picture": "", "id": null},
                  {"book": "b1", "position": 4}]}
                """,
                """
                {"Chapter": [
                  {"book": "b1", "position": 4, "title": "now", "price": "0.1", "words": 8},
                  {"book": "b1", "position": 1, "title": null, "ratio": 0.3, "printed": "2024-02-29T12:30:00.1231Z",
                   "price": 12.34, "weight": 0.2},
                  {"book": "b1", "position": 5}]}
                """)
        }

        @Test func `records are imported through objects if primary keys exceed 48 bits`() throws {
            let library = try Library()
            _ = try #require(try library.takeRows(#"{"Person": [{"name": "Ann"}]}"#))
            let key = 1 << 50 + 1
            try DatabaseQueue(path: library.url.path).write { database in
                try database.execute(sql: "UPDATE ZPERSON SET Z_PK = ?", arguments: [key])
                try database.execute(
                    sql: "UPDATE Z_PRIMARYKEY SET Z_MAX = ? WHERE Z_NAME = 'Person'", arguments: [key])
            }
            let document = #"{"Person": [{"name": "Bob", "friend": "Ann"}]}"#
            #expect(try library.takeRows(document) == nil)
            try library.takeObjects(document)
            let friends = try DatabaseQueue(path: library.url.path).read { database in
                try Row.fetchAll(database, sql: "SELECT Z_PK, ZFRIEND FROM ZPERSON ORDER BY Z_PK").map(\.description)
            }
            #expect(friends == ["[Z_PK:\(key) ZFRIEND:NULL]", "[Z_PK:\(key + 1) ZFRIEND:\(key)]"])
        }

        @Test func `more members than are written together, listed at both ends, added and removed`() throws {
            let (tags, chapters) = (30, 90)
            // Each of the records at one end lists those at the other end for which the condition holds.
            func document(isMember: (Int, Int) -> Bool, tagsFirst: Bool) -> String {
                let book = #""Book": [{"code": "b"}]"#
                let tagRecords = (0..<tags).map { tag in
                    let members = (0..<chapters).filter { isMember(tag, $0) }.map { #"["b", \#($0)]"# }
                    return #"{"word": "t\#(tag)", "chapters": [\#(members.joined(separator: ", "))]}"#
                }
                let chapterRecords = (0..<chapters).map { chapter in
                    let members = (0..<tags).filter { isMember($0, chapter) }.map { #""t\#($0)""# }
                    return #"{"book": "b", "position": \#(chapter), "tags": [\#(members.joined(separator: ", "))]}"#
                }
                let lists = [
                    #""Tag": [\#(tagRecords.joined(separator: ", "))]"#,
                    #""Chapter": [\#(chapterRecords.joined(separator: ", "))]"#,
                ]
                return "{" + ([book] + (tagsFirst ? lists : lists.reversed())).joined(separator: ", ") + "}"
            }
            try requireSame(
                document(isMember: { ($0 + $1) % 2 == 0 }, tagsFirst: true),
                document(isMember: { ($0 + $1) % 3 == 0 }, tagsFirst: false),
                document(isMember: { _, _ in true }, tagsFirst: true),
                document(isMember: { tag, _ in tag == 1 }, tagsFirst: false), countsLinks: false)
        }

        @Test func `to-one relationships, forward and backward, to subentities`() throws {
            try requireSame(
                """
                {"Remark": [{"text": "early", "about": "d1"}, {"text": "none", "about": null}],
                 "Person": [{"name": "Ann", "friend": "Bob"}, {"name": "Bob", "friend": "Ann"}, {"name": "Cy"}],
                 "Book": [{"code": "b1", "owner": "Ann"}, {"code": "b2", "owner": "Bob"}],
                 "Disc": [{"code": "d1", "owner": "Ann", "length": 1}]}
                """,
                """
                {"Person": [{"name": "Cy", "friend": "Ann"}, {"name": "Ann", "friend": null}],
                 "Book": [{"code": "b2", "owner": "Cy"}, {"code": "b1", "owner": null}, {"code": "b3", "owner": "Bob"}]}
                """)
        }

        @Test func `one-to-one relationships, also replaced`() throws {
            try requireSame(
                #"{"Person": [{"name": "Ann"}, {"name": "Bob"}], "Card": [{"number": 1, "person": "Ann"}, {"number": 2}]}"#,
                #"{"Card": [{"number": 2, "person": "Ann"}]}"#,
                #"{"Card": [{"number": 3, "person": "Bob"}, {"number": 2, "person": null}]}"#,
                #"{"Person": [{"name": "Ann", "card": [3]}]}"#)
        }

        @Test func `objects exchange their destinations in a one-to-one relationship`() throws {
            try requireSame(
                #"{"Person": [{"name": "Ann"}, {"name": "Bob"}], "Card": [{"number": 1, "person": "Ann"}, {"number": 2, "person": "Bob"}]}"#,
                #"{"Card": [{"number": 1, "person": "Bob"}, {"number": 2, "person": "Ann"}]}"#)
        }

        @Test func `many-to-many relationships, replaced, from either side and forward`() throws {
            try requireSame(
                """
                {"Tag": [{"word": "x"}, {"word": "y"}], "Book": [{"code": "b"}],
                 "Chapter": [{"book": "b", "position": 1, "tags": ["x", "y", "x"]}, {"book": "b", "position": 2, "tags": []},
                  {"book": "b", "position": 3, "tags": ["y"]}]}
                """,
                #"{"Chapter": [{"book": "b", "position": 1, "tags": ["y"]}, {"book": "b", "position": 2, "tags": ["x"]}]}"#,
                #"{"Tag": [{"word": "x", "chapters": [["b", 1], ["b", 3]]}, {"word": "y", "chapters": null}]}"#,
                """
                {"Chapter": [{"book": "b", "position": 4, "tags": ["late", "x"]}, {"book": "b", "position": 1, "tags": []}],
                 "Tag": [{"word": "late", "colour": "red"}]}
                """)
        }

        @Test func `ordered members get positions, also with new owners`() throws {
            try requireSame(
                """
                {"Book": [{"code": "a"}, {"code": "b"}],
                 "Chapter": [{"book": "a", "position": 2}, {"book": "b", "position": 1}, {"book": "a", "position": 1},
                  {"book": "b", "position": 2}]}
                """,
                #"{"Chapter": [{"book": "a", "position": 3, "title": "last"}, {"book": "b", "position": 3}]}"#)
        }

        @Test func `objects without a key are always new`() throws {
            let (rows, objects) = (try Library(), try Library())
            for library in [rows, objects] { try library.takeObjects(#"{"Person": [{"name": "Ann"}]}"#) }
            for _ in 0..<2 {
                let document = #"{"Visit": [{"day": "2024-01-01", "visitor": "Ann"}, {"day": "2024-01-01"}]}"#
                #expect(try rows.takeRows(document)?.insertCount == 2)
                try objects.takeObjects(document)
            }
            #expect(try rows.rows() == objects.rows())
        }

        @Test(arguments: 1...20) func `random graphs`(seed: UInt64) throws {
            let documents = try [seed, seed + 1000].map { seed in
                let library = try Library()
                return try library.context.performAndWait {
                    var generator = GraphGenerator(seed: seed)
                    generator.values = [
                        "Book.code": { "b\($0)" }, "Disc.code": { "d\($0)" },
                        "Person.name": { "p\($0)" }, "Card.number": { $0 },
                        "Chapter.position": { $0 }, "Tag.word": { "t\($0), \\" }, "Remark.text": { "r\($0)" },
                        "Chapter.link": { URL(string: "http://a.b/\($0)") },
                    ]
                    let objects = try generator.objects(60, in: library.context)
                    for object in objects where object.entity.name == "Chapter" && object.value(forKey: "book") == nil {
                        library.context.delete(object)
                    }
                    try library.context.save()
                    let sink = MemorySink()
                    let shape = GraphShape.everything.excluding("Book.chapters", "Visit")
                    try GraphExporter(format: .json, layout: .plain, shape: shape)
                        .exportStore(of: library.coordinator(), to: sink)
                    return String(decoding: sink.data, as: UTF8.self)
                }
            }
            try requireSame(documents[0], documents[1])
        }

        @Test func `more records than one batch`() throws {
            func document(_ change: Int) -> String {
                let tags = (0..<700).map { #"{"word": "t\#($0)"}"# }
                let books = (0..<60).map { #"{"code": "b\#($0)", "pages": \#($0 * change)}"# }
                let chapters = (0..<1800).map { number in
                    #"{"book": "b\#(number / 30)", "position": \#(number % 30), "title": "\#(number * change)", "#
                        + #""tags": ["t\#(number % 700)", "t\#(number * 7 % 700)"]}"#
                }
                return #"{"Tag": [\#(tags.joined(separator: ","))], "Book": [\#(books.joined(separator: ","))], "#
                    + #""Chapter": [\#(chapters.joined(separator: ","))]}"#
            }
            try requireSame(document(1), document(3))
        }

        // MARK: - Errors

        private func requireSameError(_ document: String, _ change: (inout ImportOptions) -> Void = { _ in }) throws {
            let base =
                #"{"Book": [{"code": "b"}], "Tag": [{"word": "x"}], "Person": [{"name": "Ann"}], "Chapter": [{"book": "b", "position": 1, "tags": ["x"]}]}"#
            let (rows, objects) = (try Library(Self.makeStrictModel()), try Library(Self.makeStrictModel()))
            for library in [rows, objects] { try library.takeObjects(base) }
            let before = try rows.rows()
            let importer = GraphImporter(into: objects.context, options: Self.options(change))
            let expected: any Error
            do {
                let plan: ImportPlan<NSManagedObject> = try objects.context.performAndWait {
                    try importer.plan(.data(Data(document.utf8)), entity: nil)
                }
                expected = try #require(plan.errors.kept.first)
            } catch { expected = error }
            do {
                let result = try rows.takeRows(document, change)
                Issue.record("No error, but \(String(describing: result))")
            } catch let error as ImportError {
                let other = try #require(expected as? ImportError)
                // The stores differ, but the objects do not.
                func name(_ uri: String?) -> [Substring]? { uri?.split(separator: "/").suffix(2) }
                var (place, otherPlace) = (error.place, other.place)
                #expect(name(place?.object) == name(otherPlace?.object))
                place?.object = nil
                otherPlace?.object = nil
                #expect(error.code == other.code && place == otherPlace)
                if error.code != .invalidObject { #expect(error.message == other.message) }
            } catch let error as DocumentError {
                #expect(error == expected as? DocumentError)
            }
            #expect(try rows.rows() == before)
        }

        private static func makeStrictModel() -> NSManagedObjectModel {
            let model = makeModel()
            for chapter in model.entities where chapter.name == "Chapter" {
                let title = chapter.attributesByName["title"]
                title?.setValidationPredicates(
                    [NSPredicate(format: "length <= 5"), NSPredicate(format: "SELF MATCHES '[a-z]*'")],
                    withValidationWarnings: [])
                let words = chapter.attributesByName["words"]
                words?.setValidationPredicates(
                    [NSPredicate(format: "SELF >= 1"), NSPredicate(format: "SELF <= 100")], withValidationWarnings: [])
                words?.isOptional = false
            }
            for card in model.entities where card.name == "Card" {
                card.relationshipsByName["person"]?.isOptional = false
            }
            return model
        }

        @Test(
            arguments: [
                // Values of a wrong type, also after a valid batch.
                #"{"Book": [{"code": "c", "pages": 40000}]}"#,
                #"{"Book": [{"code": "c"}], "Chapter": [{"book": "c", "position": 1}, {"book": "b", "position": 1, "id": "no"}]}"#,
                #"{"Person": [{"name": "Ann", "born": "yesterday"}]}"#,
                #"{"Chapter": [{"book": "b", "position": 1, "link": ""}]}"#,
                // Dangling references.
                #"{"Chapter": [{"book": "b", "position": 2, "tags": ["x", "nobody"]}]}"#,
                #"{"Remark": [{"text": "a", "about": "nobody"}]}"#,
                #"{"Person": [{"name": "Bob", "friend": "nobody"}, {"name": "Cy"}]}"#,
                // Values that are invalid by the model.
                #"{"Chapter": [{"book": "b", "position": 2, "title": "too long"}]}"#,
                #"{"Chapter": [{"book": "b", "position": 1, "title": "UPPER", "words": 7}]}"#,
                #"{"Chapter": [{"book": "b", "position": 3, "words": 101}]}"#,
                #"{"Chapter": [{"book": "b", "position": 3, "words": null}]}"#,
                #"{"Card": [{"number": 1}]}"#,
                #"{"Card": [{"number": 1, "person": null}]}"#,
                // Invalid documents.
                #"{"Book": [{"code": "c"}], "Tag": [{"word": "y"}"#,
                #"{"Book": [{"code": "c"}], "Tag": [{"word": "y"}]} more"#,
                #"{"Book": [{"code": "c"}], "Tag": {"word": "y"}}"#,
                #"{"Book": [{"code": "c"}], "Nobody": []}"#,
                #"{"Book": [{"code": "c"}], "Person": [{"name": "Ann", "name": "Bob"}]}"#,
                #"{"Book": [{"code": "c"}], "Chapter": [{"book": "b", "position": 1, "tags": "x"}]}"#,
                #"{"Book": [{"code": "c"}], "Chapter": [{"book": "b", "position": 1, "tags": [["x", "y"]]}]}"#,
                #"{"Book": [{"code": "c", "name": "\ud800"}]}"#, "[", "", "{\"Book\": [{\"code\": \"a\u{1}b\"}]}",
            ] as [String])
        func `errors equal those of the object importer, and nothing is written`(_ document: String) throws {
            try requireSameError(document)
        }

        @Test func `strict values are checked as by the object importer`() throws {
            try requireSameError(#"{"Book": [{"code": "c", "pages": "12"}]}"#) { $0.mismatchedValues = .fail }
            try requireSameError(#"{"Book": [{"code": "c", "misspelt": 12}, 1]}"#) { $0.unknownKeys = .fail }
        }

        @Test func `a violated uniqueness constraint is an error, and nothing is written`() throws {
            let model = Self.makeModel()
            for tag in model.entities where tag.name == "Tag" { tag.uniquenessConstraints = [["word"], ["colour"]] }
            let library = try Library(model)
            let keys: (inout ImportOptions) -> Void = { $0.identity.keys["Tag"] = ["word"] }
            let before = try library.rows()
            #expect(throws: CocoaError.self) {
                try library.takeRows(
                    #"{"Tag": [{"word": "x", "colour": "red"}, {"word": "y"}, {"word": "z", "colour": "red"}]}"#, keys)
            }
            #expect(try library.rows() == before)
            // A value that moves to another object is valid at the end.
            #expect(try library.takeRows(#"{"Tag": [{"word": "x", "colour": "red"}]}"#, keys)?.insertCount == 1)
            var importer = BatchImporter(into: try library.coordinator(), options: Self.options(keys))
            importer.rowImporting = .automatic
            let result = try importer.importDocument(
                .data(Data(#"{"Tag": [{"word": "y", "colour": "red"}, {"word": "x", "colour": "blue"}]}"#.utf8)))
            #expect(result.insertCount == 1 && result.updateCount == 1)
        }

        @Test(arguments: 1...40) func `truncated documents change nothing`(_ part: Int) throws {
            let document =
                #"{"Tag": [{"word": "t"}], "Book": [{"code": "c\u00e9", "pages": -1.0e1}], "Chapter": [{"book": "b", "position": 9, "tags": ["x", "t"], "isDone": true}]}"#
            let bytes = Array(document.utf8)
            let end = bytes.count * part / 41
            try requireSameError(String(decoding: bytes[..<end], as: UTF8.self))
        }

        @Test func `documents that rows do not support fall back to objects`() throws {
            let library = try Library()
            for document in [
                // Two records of one object, a nested object, a header.
                #"{"Tag": [{"word": "x"}, {"word": "x", "colour": "red"}]}"#,
                #"{"Book": [{"code": "b", "owner": {"name": "Ann"}}]}"#,
                #"{"Tag": [{"$id": "1", "word": "x"}]}"#,
                // A key with a forward reference.
                #"{"Chapter": [{"book": "later", "position": 1}], "Book": [{"code": "later"}]}"#,
            ] {
                let before = try library.rows()
                #expect(try library.takeRows(document) == nil, "\(document)")
                #expect(try library.rows() == before)
                let importer = BatchImporter(into: try library.coordinator(), options: Self.options { _ in })
                try importer.importDocument(.data(Data(document.utf8)))
            }
            #expect(try library.rows()["ZTAG"]?.count == 1)
            #expect(try library.rows()["ZCHAPTER"]?.count == 1)
        }

        @Test func `a cancelled import changes nothing`() throws {
            let library = try Library()
            let progress = Progress(totalUnitCount: 0)
            progress.cancel()
            #expect(throws: CocoaError(.userCancelled)) {
                try library.takeRows(#"{"Tag": [{"word": "x"}]}"#, progress: progress)
            }
            #expect(try library.rows()["ZTAG"]?.isEmpty == true)
        }

        // MARK: - Contexts and history

        @Test func `an open context merges the result`() throws {
            let library = try Library()
            try library.takeObjects(#"{"Tag": [{"word": "x", "colour": "red"}]}"#)
            let context = library.context
            context.automaticallyMergesChangesFromParent = true
            let tag = try context.performAndWait {
                let tag = try #require(try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Tag")).first)
                #expect(tag.value(forKey: "colour") as? String == "red")
                return tag.objectID
            }
            let reported = Mutex<[String: Int]>([:])
            let observer = NotificationCenter.default.addObserver(
                forName: .NSManagedObjectContextDidSaveObjectIDs, object: nil, queue: nil
            ) { notification in
                let source = notification.object as? NSManagedObjectContext
                guard source?.persistentStoreCoordinator === context.persistentStoreCoordinator else { return }
                for (key, value) in notification.userInfo ?? [:] {
                    guard let key = key as? String, let ids = value as? Set<NSManagedObjectID> else { continue }
                    reported.withLock { $0[key, default: 0] += ids.count }
                }
            }
            defer { NotificationCenter.default.removeObserver(observer) }
            #expect(try library.takeRows(#"{"Tag": [{"word": "x", "colour": "blue"}, {"word": "y"}]}"#) != nil)
            #expect(reported.withLock { $0 } == [NSInsertedObjectIDsKey: 1, NSUpdatedObjectIDsKey: 1])
            context.performAndWait {
                #expect(context.object(with: tag).value(forKey: "colour") as? String == "blue")
            }
        }

        @Test func `the history contains the changes`() throws {
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            var changes: [[String]] = []
            for isByRows in [true, false] {
                let url = folder.appendingPathComponent("\(isByRows).sqlite")
                let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.makeModel())
                try coordinator.addPersistentStore(
                    ofType: NSSQLiteStoreType, configurationName: nil, at: url,
                    options: [NSPersistentHistoryTrackingKey: true as NSNumber])
                for document in [
                    #"{"Tag": [{"word": "x"}], "Book": [{"code": "b"}], "Chapter": [{"book": "b", "position": 1, "tags": ["x"]}]}"#,
                    #"{"Book": [{"code": "b", "name": "B"}], "Tag": [{"word": "y"}], "Chapter": [{"book": "b", "position": 1, "title": "t", "tags": ["y"]}]}"#,
                ] {
                    if isByRows {
                        let importer = BatchImporter(into: coordinator, options: Self.options { _ in })
                        #expect(try importer.importDocument(.data(Data(document.utf8))).savedBatchCount == 1)
                    } else {
                        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
                        context.persistentStoreCoordinator = coordinator
                        try context.performAndWait {
                            var importer = GraphImporter(into: context, options: Self.options { _ in })
                            importer.worksInPlace = true
                            try importer.plan(.data(Data(document.utf8)), entity: nil).apply()
                            try context.save()
                        }
                    }
                }
                let queue = try DatabaseQueue(path: url.path)
                changes.append(
                    try queue.read { database in
                        try Row.fetchAll(
                            database,
                            sql: "SELECT DISTINCT ZTRANSACTIONID, ZENTITY, ZENTITYPK, ZCHANGETYPE FROM ACHANGE"
                        )
                        .map(\.description).sorted()
                    })
            }
            #expect(changes[0] == changes[1])
            #expect(changes[0].count == 7)
        }

        @Test func `an import by rows keeps the old values that one by objects keeps`() throws {
            var changes: [[String]] = []
            for isByRows in [true, false] {
                let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.makeModel())
                try coordinator.addPersistentStore(
                    ofType: NSSQLiteStoreType, configurationName: nil, at: URL(fileURLWithPath: "/dev/null"),
                    options: [NSPersistentHistoryTrackingKey: true, HistoryOldValuesOption: true])
                let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
                context.persistentStoreCoordinator = coordinator
                for document in [
                    #"{"Tag": [{"word": "x"}], "Book": [{"code": "b"}], "Chapter": [{"book": "b", "position": 1, "tags": ["x"]}]}"#,
                    #"{"Book": [{"code": "b", "name": "B"}], "Tag": [{"word": "y"}], "Chapter": [{"book": "b", "position": 1, "title": "t", "tags": ["y"]}]}"#,
                ] {
                    if isByRows {
                        let importer = BatchImporter(into: coordinator, options: Self.options { _ in })
                        try importer.importDocument(.data(Data(document.utf8)))
                    } else {
                        try context.performAndWait {
                            var importer = GraphImporter(into: context, options: Self.options { _ in })
                            importer.worksInPlace = true
                            try importer.plan(.data(Data(document.utf8)), entity: nil).apply()
                            try context.save()
                        }
                    }
                }
                var texts: [String] = []
                try HistoryPages(coordinator).forEach { transaction in
                    for change in transaction.changes ?? [] {
                        guard let properties = try change.propertyChanges() else { continue }
                        texts += properties.map { name, property in
                            let id = change.changedObjectID.uriRepresentation().path
                            switch property {
                            case .value(let old, let new):
                                return "\(id) \(name): \(String(describing: old)) -> \(String(describing: new))"
                            case .members(let removed, let added):
                                let uris = [removed, added].map { $0.map { $0.uriRepresentation().path } }
                                return "\(id) \(name): \(uris)"
                            }
                        }
                    }
                }
                changes.append(texts.sorted())
            }
            #expect(changes[0] == changes[1])
            #expect(changes[0].contains { $0.contains(#"name: nil -> Optional("B")"#) }, "\(changes[0])")
        }
    }
#endif
