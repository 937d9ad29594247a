// Writes between two statements can be controlled only with the package's own engine.
#if !canImport(Darwin)

    import CoralTools
    import GRDB
    import Synchronization
    import Testing
    @testable import Coral
    @testable import ManagedObjects
    @testable import SQLiteConnections

    /// Runs every job that reads a store while another connection commits before each of the job's statements: the
    /// result must be of one state.
    @Suite(.enabled(if: Engine.hasRows)) final class OneStateTests {
        private let folder: URL
        private let url: URL
        private let model = OneStateTests.makeModel()
        private static let noteCount = 7

        init() throws {
            folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            url = folder.appendingPathComponent("Notes.sqlite")
        }

        deinit { try? FileManager.default.removeItem(at: folder) }

        private static func makeModel() -> NSManagedObjectModel {
            let note = WebModel.entity("Note", [("key", .integer64AttributeType)])
            note.properties.append(WebModel.attribute("state", .stringAttributeType, optional: false))
            let item = WebModel.entity("Item", [("key", .integer64AttributeType), ("state", .stringAttributeType)])
            WebModel.relate(note, "items", .toMany(ordered: false), item, "note", .toOne, rule: .cascadeDeleteRule)
            note.uniquenessConstraints = [["key"]]
            item.uniquenessConstraints = [["key"]]
            note.userInfo = ["coral.identity": "key"]
            item.userInfo = ["coral.identity": "key"]
            let model = NSManagedObjectModel()
            model.entities = [note, item]
            return model
        }

        /// Another connection to the store, which changes the state of every object in one transaction.
        private final class Writer: Sendable {
            private let database: DatabaseQueue
            private let state = Mutex((number: 0, isWriting: false))
            let commits = Mutex(0)

            init(_ url: URL) throws {
                var configuration = Configuration()
                // The writer does not wait for a reader's lock: the reader is on the same thread.
                configuration.busyMode = .immediateError
                database = try DatabaseQueue(path: url.path, configuration: configuration)
            }

            func write() {
                let number = state.withLock { state -> Int? in
                    if state.isWriting { return nil }
                    state = (state.number + 1, true)
                    return state.number
                }
                guard let number else { return }
                defer { state.withLock { $0.isWriting = false } }
                do {
                    try database.write { database in
                        // Copies made by a job keep their state.
                        for table in ["ZNOTE", "ZITEM"] {
                            try database.execute(
                                sql: "UPDATE \(table) SET ZSTATE = ? WHERE ZKEY < 1000",
                                arguments: ["state-\(number)"])
                        }
                    }
                    commits.withLock { $0 += 1 }
                } catch {}
            }

            func close() throws { try database.close() }
        }

        /// The journal mode of the store, and how it is opened.
        struct Setting: Sendable, CustomTestStringConvertible {
            var journalMode: String
            var isReadOnly: Bool

            static let all = ["wal", "delete"].flatMap { mode in
                [true, false].map { Setting(journalMode: mode, isReadOnly: $0) }
            }
            var testDescription: String { "\(journalMode), \(isReadOnly ? "read only" : "writable")" }
            var options: [String: Any] {
                [NSReadOnlyPersistentStoreOption: isReadOnly, NSSQLitePragmasOption: ["journal_mode": journalMode]]
            }
        }

        /// Runs a job on a coordinator of the store while the writer commits.
        private func during<Result>(
            _ setting: Setting, _ job: (NSPersistentStoreCoordinator) throws -> Result
        ) throws -> Result {
            try makeStore(setting)
            let writer = try Writer(url)
            // Written before a reader exists, so that the write-ahead log is shared.
            writer.write()
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            // A connection that is closed after its file was removed removes the log of the next file of that name.
            defer {
                #expect(throws: Never.self) {
                    for store in coordinator.persistentStores { try coordinator.remove(store) }
                    try writer.close()
                }
            }
            return try StoreConnection.$statementObserver.withValue({ _ in writer.write() }) {
                try coordinator.addPersistentStore(
                    ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: setting.options)
                let before = writer.commits.withLock { $0 }
                let result = try job(coordinator)
                #expect(writer.commits.withLock { $0 } > before + 2, "the writer has not committed meanwhile")
                return result
            }
        }

        private func makeStore(_ setting: Setting) throws {
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            let store = try coordinator.addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: nil, at: url,
                options: [NSSQLitePragmasOption: ["journal_mode": setting.journalMode]])
            let context = context(coordinator)
            try context.performAndWait {
                for number in 0..<Self.noteCount {
                    let note = context.insert("Note", ["key": number, "state": "state-0"])
                    for place in 0..<3 {
                        context.insert("Item", ["key": number * 3 + place, "state": "state-0", "note": note])
                    }
                }
                try context.save()
            }
            try coordinator.remove(store)
        }

        private func context(_ coordinator: NSPersistentStoreCoordinator) -> NSManagedObjectContext {
            let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            context.persistentStoreCoordinator = coordinator
            return context
        }

        private func states(in text: String) -> Set<Substring> { Set(text.matches(of: /state-\d+/).map(\.output)) }

        private var notes: NSFetchRequest<NSManagedObject> { NSFetchRequest(entityName: "Note") }

        // MARK: - The jobs

        @Test(arguments: Setting.all, [DocumentLayout.flat, .nested, .plain])
        func `an export of a whole store`(_ setting: Setting, _ shape: DocumentLayout) throws {
            for idScheme in [IDScheme.stored, .key] {
                for isFromRows in [true, false] where shape != .plain || isFromRows {
                    let text = try during(setting) { coordinator in
                        let sink = MemorySink()
                        var exporter = GraphExporter(layout: shape, batchSize: 2)
                        exporter.idScheme = idScheme
                        try exporter.exportStore(of: StoreSnapshot(of: coordinator)) { session in
                            if isFromRows {
                                _ = try session.exportStore(to: sink, progress: nil)
                                return
                            }
                            var writer = try session.makeWriter(to: sink)
                            _ = try session.exportStore(to: &writer, progress: nil, fromRows: false)
                        }
                        return sink.data.text
                    }
                    #expect(states(in: text).count == 1, "\(idScheme), from rows: \(isFromRows)")
                    #expect(text.matches(of: /state-/).count == Self.noteCount * 4)
                    for suffix in ["", "-wal", "-shm"] {
                        try? FileManager.default.removeItem(atPath: url.path + suffix)
                    }
                }
            }
        }

        @Test(arguments: Setting.all) func `an export of objects, and of a request`(_ setting: Setting) throws {
            let (objects, found) = try during(setting) { coordinator in
                let context = context(coordinator)
                return try context.performAndWait {
                    let exporter = GraphExporter(batchSize: 2)
                    let sink = MemorySink()
                    let request = NSFetchRequest<NSManagedObjectID>(entityName: "Note")
                    try exporter.export(request, in: context, to: sink)
                    context.reset()
                    // The objects are faults: nothing was read before.
                    request.resultType = .managedObjectIDResultType
                    let objects = try context.fetch(request).map(context.object(with:))
                    return (try exporter.encoded(objects).text, sink.data.text)
                }
            }
            #expect(states(in: objects).count == 1)
            #expect(states(in: found).count == 1)
        }

        @Test(arguments: Setting.all, [false, true])
        func `a plan of an import`(_ setting: Setting, _ worksInPlace: Bool) throws {
            let notes = (0..<Self.noteCount).map { #"{"key": \#($0), "state": "new"}"# }
            let items = (0..<Self.noteCount * 3).map { #"{"key": \#($0), "state": "new"}"# }
            let document = #"{"Note": [\#(notes.joined(separator: ","))], "Item": [\#(items.joined(separator: ","))]}"#
            let old = try during(setting) { coordinator in
                let context = context(coordinator)
                return try context.performAndWait {
                    var importer = GraphImporter(into: context)
                    importer.worksInPlace = worksInPlace
                    let plan = try importer.plan(Data(document.utf8))
                    #expect(plan.updates.count == Self.noteCount * 4)
                    return plan.updates.flatMap { $0.attributes.map { "\($0.old ?? .null)" } }.joined()
                }
            }
            #expect(states(in: old).count == 1)
        }

        @Test(arguments: Setting.all) func `a page`(_ setting: Setting) throws {
            let text = try during(setting) { coordinator in
                let sink = MemorySink()
                try StorePage(shape: .everything).exportStore(of: coordinator, to: sink)
                return sink.data.text
            }
            #expect(states(in: text).count == 1)
        }

        @Test(arguments: Setting.all, [GraphComparison.Naming.ids, .keys])
        func `a comparison`(_ setting: Setting, _ naming: GraphComparison.Naming) throws {
            let delta = try during(setting) { coordinator in
                let older = MemorySink()
                try GraphExporter().exportStore(of: coordinator, to: older)
                var comparison = GraphComparison(model)
                comparison.naming = naming
                return try comparison.delta(from: .stores(coordinator), to: .document(.data(older.data)))
            }
            // Every object has the same difference.
            #expect(delta.summary.contains("\(Self.noteCount * 4) updated"))
            #expect(states(in: try delta.encoded(as: .json).text).count == 2)
        }

        @Test(arguments: Setting.all) func `a subset`(_ setting: Setting) throws {
            let target = folder.appendingPathComponent("Subset.sqlite")
            try during(setting) { coordinator in
                let context = context(coordinator)
                try context.performAndWait {
                    var subset = GraphSubset()
                    subset.batchSize = 2
                    let request = NSFetchRequest<NSManagedObjectID>(entityName: "Note")
                    request.resultType = .managedObjectIDResultType
                    try subset.export(try context.fetch(request).map(context.object(with:)), to: target)
                }
            }
            #expect(try states(of: target, "1").count == 1)
        }

        @Test(arguments: ["wal", "delete"], [true, false])
        func copies(_ mode: String, _ isInBatches: Bool) throws {
            let setting = Setting(journalMode: mode, isReadOnly: false)
            var rules = CopyRules()
            for key in ["Note.key", "Item.key"] { rules.setValue(key) { _, value in (value as? Int64 ?? 0) + 1000 } }
            try during(setting) { coordinator in
                let context = context(coordinator)
                try context.performAndWait {
                    let ids = try context.fetch(notes).map(\.objectID)
                    context.reset()
                    var copier = GraphCopier(rules: rules, batchSize: 2, saves: true)
                    copier.rowCopying = .never
                    if isInBatches {
                        _ = try copier.copyInBatches(ids, in: context, progress: Progress(totalUnitCount: 0))
                    } else {
                        try copier.copy(ids.map(context.object(with:)))
                    }
                }
            }
            #expect(try states(of: url, "ZKEY >= 1000").count == 1)
        }

        /// The states of the store's objects that match a condition.
        private func states(of url: URL, _ condition: String) throws -> Set<String> {
            // The connections of the job may still be closing.
            var configuration = Configuration()
            configuration.busyMode = .timeout(10)
            return try DatabaseQueue(path: url.path, configuration: configuration).read { database in
                Set(
                    try String.fetchAll(
                        database,
                        sql:
                            "SELECT ZSTATE FROM ZNOTE WHERE \(condition) UNION SELECT ZSTATE FROM ZITEM WHERE \(condition)"
                    ))
            }
        }

        @Test(arguments: Setting.all) func `a store that is migrated into memory`(_ setting: Setting) throws {
            let states = try during(setting) { coordinator in
                let store = try #require(coordinator.persistentStores.first)
                try coordinator.migratePersistentStore(
                    store, to: URL(fileURLWithPath: "/dev/null"), withType: NSInMemoryStoreType)
                let context = context(coordinator)
                return try context.performAndWait {
                    Set(
                        try ["Note", "Item"].flatMap { name in
                            try context.fetch(NSFetchRequest<NSManagedObject>(entityName: name))
                                .compactMap { $0.value(forKey: "state") as? String }
                        })
                }
            }
            #expect(states.count == 1)
        }

        /// Each state has exactly one problem, alternately in the rows and in the values.
        @Test(arguments: Setting.all.filter(\.isReadOnly)) func `a check`(_ setting: Setting) throws {
            try makeStore(setting)
            let spoiler = try Spoiler(url)
            spoiler.write()
            for _ in 0..<4 {
                let problems = try StoreConnection.$statementObserver.withValue({ _ in spoiler.write() }) {
                    try StoreCheck(url: url, model: model).problems()
                }
                let isDangling = problems.contains { $0.code == .danglingReference }
                let isMissing = problems.contains { $0.property == "state" }
                #expect(isDangling != isMissing, "\(problems)")
                #expect(!problems.contains { $0.code == .damagedFile })
            }
        }

        /// Another connection, which breaks a reference and repairs a value in one transaction, and the reverse in the
        /// next.
        private final class Spoiler: Sendable {
            private let database: DatabaseQueue
            private let state = Mutex((number: 0, isWriting: false))

            init(_ url: URL) throws {
                var configuration = Configuration()
                configuration.busyMode = .immediateError
                database = try DatabaseQueue(path: url.path, configuration: configuration)
            }

            func write() {
                let number = state.withLock { state -> Int? in
                    if state.isWriting { return nil }
                    state = (state.number + 1, true)
                    return state.number
                }
                guard let number else { return }
                defer { state.withLock { $0.isWriting = false } }
                try? database.write { database in
                    try database.execute(
                        sql: "UPDATE ZITEM SET ZNOTE = ? WHERE Z_PK = 1", arguments: [number % 2 == 0 ? 99 : 1])
                    try database.execute(
                        sql: "UPDATE ZNOTE SET ZSTATE = ? WHERE Z_PK = 2", arguments: [number % 2 == 0 ? "x" : nil])
                }
            }
        }
    }

#endif
