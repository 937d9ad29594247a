#if !canImport(Darwin)
    import Coral
    import Synchronization
    import Testing
    @testable import ManagedObjects
    @testable import SQLiteConnections

    /// The number of statements of each of an application's jobs, at two sizes. Where a number does not depend on the size,
    /// this must not change.
    ///
    /// The jobs are those of `Benchmarks/`, which measures their time.
    @Suite(.enabled(if: Engine.hasRows)) struct JobStatementTests {
        private final class Log: Sendable {
            private let statements = Mutex<[String]>([])

            func add(_ statement: String) { statements.withLock { $0.append(statement) } }

            /// The number of statements since the last call that have read or written rows.
            func take() -> Int {
                statements.withLock { all in
                    defer { all = [] }
                    return all.count { statement in
                        !["BEGIN", "COMMIT", "ROLLBACK", "PRAGMA", "SAVEPOINT", "RELEASE"]
                            .contains { statement.hasPrefix($0) }
                    }
                }
            }
        }

        private let log = Log()

        private static func makeModel() -> NSManagedObjectModel {
            let note = WebModel.entity(
                "Note", [("title", .stringAttributeType), ("createdAt", .dateAttributeType)])
            note.properties.append(WebModel.attribute("id", .UUIDAttributeType, userInfo: ["rebuild": "uuid"]))
            let item = WebModel.entity(
                "Item", [("index", .integer32AttributeType), ("quantity", .integer64AttributeType)])
            let tag = WebModel.entity("Tag", [("name", .stringAttributeType)])
            WebModel.relate(
                note, "items", .toMany(ordered: true), item, "note", .toOne, rule: .cascadeDeleteRule)
            WebModel.relate(item, "tags", .toMany(ordered: false), tag, "items", .toMany(ordered: false))
            note.uniquenessConstraints = [["id"]]
            tag.uniquenessConstraints = [["name"]]
            item.userInfo = ["coral.identity": "note, index"]
            let model = NSManagedObjectModel()
            model.entities = [note, item, tag]
            return model
        }

        private func makeContext(at url: URL) throws -> NSManagedObjectContext {
            try StoreConnection.$statementObserver.withValue({ [log] in log.add($0) }) {
                try CoralTests.makeContext(Self.makeModel(), at: url)
            }
        }

        private func insert(_ notes: Int, into context: NSManagedObjectContext) throws {
            let tags = (0..<5).map { context.insert("Tag", ["name": "tag-\($0)"]) }
            for number in 0..<notes {
                let note = context.insert(
                    "Note",
                    [
                        "id": UUID(uuidString: "00000000-0000-0000-0000-\(100_000_000_000 + number)") ?? UUID(),
                        "title": "Note \(number)",
                        "createdAt": Date(timeIntervalSinceReferenceDate: Double(number)),
                    ])
                for index in 0..<4 {
                    context.insert(
                        "Item",
                        ["index": index, "quantity": 1, "note": note, "tags": NSSet(array: [tags[index], tags[4]])])
                }
            }
            try context.save()
        }

        /// The statements of each job on a store of some notes.
        private func counts(_ notes: Int) throws -> [String: Int] {
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            let context = try makeContext(at: folder.appendingPathComponent("Notes.sqlite"))
            let other = try makeContext(at: folder.appendingPathComponent("Other.sqlite"))
            let third = try makeContext(at: folder.appendingPathComponent("Third.sqlite"))
            var counts: [String: Int] = [:]
            func job(_ name: String, _ context: NSManagedObjectContext, _ body: () throws -> Void) throws {
                _ = log.take()
                try context.performAndWait(body)
                counts[name] = log.take()
                context.performAndWait { context.reset() }
            }
            func all(_ entity: String) throws -> [NSManagedObject] {
                try context.fetch(NSFetchRequest<NSManagedObject>(entityName: entity))
            }
            try job("insert and save", context) { try insert(notes, into: context) }
            try job("fetch and read", context) {
                for item in try all("Item") { #expect(item.value(forKey: "quantity") as? Int == 1) }
            }
            try job("ten fetches", context) {
                for number in 0..<10 {
                    let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
                    request.predicate = NSPredicate(
                        format: "createdAt >= %@", Date(timeIntervalSinceReferenceDate: Double(number)) as CVarArg)
                    request.sortDescriptors = [NSSortDescriptor(key: "createdAt", ascending: true)]
                    request.fetchLimit = 5
                    let first = try context.fetch(request).first
                    #expect(first?.value(forKey: "title") != nil)
                }
            }
            try job("traverse", context) {
                for note in try all("Note") {
                    let items = note.value(forKey: "items") as? NSOrderedSet
                    for case let item as NSManagedObject in items?.array ?? [] {
                        let tags = item.value(forKey: "tags") as? NSSet
                        for case let tag as NSManagedObject in tags?.allObjects ?? [] {
                            #expect(tag.value(forKey: "name") != nil)
                        }
                    }
                }
            }
            let sink = MemorySink()
            let coordinator = try #require(context.persistentStoreCoordinator)
            try job("export", context) {
                try GraphExporter(format: .json, layout: .plain).exportStore(of: coordinator, to: sink)
            }
            // Items refer to their notes, but notes do not refer to their items.
            let rows = MemorySink()
            try GraphExporter(format: .json, layout: .plain, shape: .everything.excluding("Note.items"))
                .exportStore(of: coordinator, to: rows)
            var importer = GraphImporter(into: other)
            importer.worksInPlace = true
            importer.options.layout = .plain
            for name in ["import", "import again"] {
                try job(name, other) {
                    let plan = try importer.plan(sink.data)
                    #expect(plan.isEmpty == (name == "import again"))
                    try plan.apply()
                    if other.hasChanges { try other.save() }
                }
            }
            for name in ["import by rows", "import again by rows"] {
                try job(name, third) {
                    var importer = BatchImporter(into: try #require(third.persistentStoreCoordinator))
                    importer.options.layout = .plain
                    let result = try importer.importDocument(.data(rows.data))
                    #expect(result.savedBatchCount == 1)
                    #expect(
                        (result.insertCount + result.updateCount + result.linkCount == 0) == (name != "import by rows"))
                }
            }
            try job("copy", context) { try GraphCopier(saves: true).copy(try all("Note")) }
            try job("update", context) {
                let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
                request.predicate = NSPredicate(format: "index == 3")
                for item in try context.fetch(request) { item.setValue(2, forKey: "quantity") }
                try context.save()
            }
            return counts
        }

        @Test func `statements of each job`() throws {
            let (few, many) = (try counts(10), try counts(100))
            // An export, an import by objects and a copy each open a connection for a snapshot, which takes one statement. A plan
            // that is applied searches for the keys of its new objects again.
            #expect(
                few == [
                    "insert and save": 39, "fetch and read": 1, "ten fetches": 10, "traverse": 9, "export": 10,
                    "import": 44, "import again": 8, "import by rows": 46,
                    "import again by rows": 7, "copy": 48, "update": 21,
                ])
            // A statement inserts sixteen rows or pairs, except the remaining ones, and updates one; the number of
            // reads grows only because batches of faults double.
            #expect(
                many == [
                    "insert and save": 99, "fetch and read": 1, "ten fetches": 10, "traverse": 12, "export": 10,
                    "import": 104, "import again": 10, "import by rows": 196,
                    "import again by rows": 7, "copy": 111, "update": 201,
                ])
        }
    }
#endif
