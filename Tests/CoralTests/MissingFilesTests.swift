// Core Data does not report missing files; this package's engine does.
#if !canImport(Darwin)

    import Coral
    import CoralTools
    import GRDB
    import Testing

    /// Values whose external files do not exist: they are reported, and the references are kept or removed according to
    /// the policy.
    @Suite(.enabled(if: Engine.hasRows)) final class MissingFilesTests {
        private let folder: URL
        private let url: URL
        private let model: NSManagedObjectModel

        init() throws {
            folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            url = folder.appendingPathComponent("Films.sqlite")
            let film = WebModel.entity(
                "Film",
                [
                    ("title", .stringAttributeType), ("picture", .binaryDataAttributeType),
                    ("cast", .transformableAttributeType),
                ])
            film.attributesByName["picture"]?.allowsExternalBinaryDataStorage = true
            film.attributesByName["cast"]?.allowsExternalBinaryDataStorage = true
            model = NSManagedObjectModel()
            model.entities = [film]
            let context = try makeContext(model, at: url)
            try context.performAndWait {
                for number in 1...3 {
                    let picture = Data(repeating: UInt8(number), count: 200_000)
                    let cast = NSArray(array: [String(repeating: "name", count: 50_000)])
                    _ = context.insert("Film", ["title": "film \(number)", "picture": picture, "cast": cast])
                    try context.save()
                }
                for store in context.persistentStoreCoordinator?.persistentStores ?? [] {
                    try context.persistentStoreCoordinator?.remove(store)
                }
            }
        }

        deinit { try? FileManager.default.removeItem(at: folder) }

        private var files: URL { folder.appendingPathComponent(".Films_SUPPORT/_EXTERNAL_DATA") }

        /// The file that a column of a row refers to.
        private func file(_ column: String, of key: Int, in url: URL? = nil) throws -> String {
            let data = try DatabaseQueue(path: (url ?? self.url).path).read {
                try Data.fetchOne($0, sql: "SELECT \(column) FROM ZFILM WHERE Z_PK = ?", arguments: [key])
            }
            return String(decoding: try #require(data).dropFirst().prefix(36), as: UTF8.self)
        }

        private func removeFile(_ column: String, of key: Int) throws {
            try FileManager.default.removeItem(at: files.appendingPathComponent(file(column, of: key)))
        }

        private func coordinator(_ url: URL) throws -> NSPersistentStoreCoordinator {
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model.keepingStoredArchives())
            try coordinator.addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: nil, at: url,
                options: [NSReadOnlyPersistentStoreOption: true])
            return coordinator
        }

        private func export(
            _ url: URL, _ format: GraphFormat = .json, _ policy: MissingFilePolicy = .keep
        ) throws -> (Data, ExportResult) {
            var exporter = GraphExporter(format: format)
            exporter.missingFiles = policy
            let sink = MemorySink()
            let result = try exporter.exportStore(of: coordinator(url), to: sink)
            return (sink.data, result)
        }

        private func values(_ data: Data, _ attribute: String) throws -> [GraphValue?] {
            try records(in: data, model: model).map { $0.value(of: attribute) }
        }

        @Test func `existing files are exported, and nothing is reported`() throws {
            let (_, result) = try export(url)
            #expect(result.missingFiles.count == 0 && result.recordCount == 3)
        }

        @Test(arguments: GraphFormat.allCases)
        func `a reference is kept in the document and in the restored store`(format: GraphFormat) throws {
            try removeFile("ZPICTURE", of: 2)
            try removeFile("ZCAST", of: 3)
            let (document, result) = try export(url, format)
            #expect(result.missingFiles.count == 2)
            #expect(result.missingFiles.map { "\($0.record).\($0.property)" } == ["Film/p2.picture", "Film/p3.cast"])
            let name = try file("ZPICTURE", of: 2)
            #expect(result.missingFiles.kept.first?.target == name)
            if format == .json {
                #expect(try values(document, "picture")[1] == .file(ExternalFile(missing: name)))
                #expect(document.text.contains(#""picture":{"$missing":"\#(name)"}"#))
            }
            let restored = folder.appendingPathComponent("Restored.sqlite")
            let plan = try StoreRestorer(model: model).restore(.data(document), to: restored)
            #expect(plan.missingFiles.count == 2)
            #expect(plan.errors.isEmpty)
            #expect(try file("ZPICTURE", of: 2, in: restored) == name)
            #expect(try file("ZCAST", of: 3, in: restored) == file("ZCAST", of: 3))
            let (again, second) = try export(restored, format)
            #expect(again == document)
            #expect(second.missingFiles.count == 2)
            // A second restore into the same store changes nothing.
            let repeated = try StoreRestorer(model: model).restore(.data(document), to: restored)
            #expect(repeated.isEmpty)
            #expect(try file("ZPICTURE", of: 2, in: restored) == name)
        }

        @Test func `missing files become null, or are an error`() throws {
            try removeFile("ZPICTURE", of: 2)
            let (document, result) = try export(url, .json, .skip)
            #expect(result.missingFiles.count == 1)
            #expect(try values(document, "picture")[1] == .null)
            let error = #expect(throws: ExportError.self) { try export(url, .json, .fail) }
            #expect(error?.code == .missingFile)
            #expect(error?.message.contains("Film/p2.picture") == true)
        }

        @Test func `a restore omits references, or refuses them`() throws {
            try removeFile("ZPICTURE", of: 2)
            let (document, _) = try export(url)
            let restored = folder.appendingPathComponent("Restored.sqlite")
            var restorer = StoreRestorer(model: model)
            restorer.missingFiles = .fail
            let error = #expect(throws: ImportError.self) { try restorer.restore(.data(document), to: restored) }
            #expect(error?.code == .missingFile)
            #expect(!FileManager.default.fileExists(atPath: restored.path))
            restorer.missingFiles = .skip
            #expect(try restorer.restore(.data(document), to: restored).missingFiles.count == 1)
            let (again, result) = try export(restored)
            #expect(result.missingFiles.count == 0)
            #expect(try values(again, "picture")[1] == .null)
        }

        @Test func `an import keeps an object's value`() throws {
            let (whole, _) = try export(url)
            try removeFile("ZPICTURE", of: 2)
            let (document, _) = try export(url)
            let restored = folder.appendingPathComponent("Restored.sqlite")
            _ = try StoreRestorer(model: model).restore(.data(whole), to: restored)
            let context = try makeContext(model.keepingStoredArchives(), at: restored)
            try context.performAndWait {
                let plan = try GraphImporter(into: context).plan(document)
                #expect(plan.summary == "0 inserts, 0 updates, 0 links, 1 missing file, 0 errors")
                try plan.apply()
                try context.save()
            }
            #expect(try export(restored).0 == whole)
        }

        @Test func `links and pipes are not files, and are not opened`() throws {
            let secret = folder.appendingPathComponent("secret")
            try Data(repeating: 7, count: 300_000).write(to: secret)
            let (link, pipe) = (try file("ZPICTURE", of: 1), try file("ZPICTURE", of: 2))
            for name in [link, pipe] { try FileManager.default.removeItem(at: files.appendingPathComponent(name)) }
            try FileManager.default.createSymbolicLink(
                at: files.appendingPathComponent(link), withDestinationURL: secret)
            #expect(mkfifo(files.appendingPathComponent(pipe).path, 0o600) == 0)
            let (document, result) = try export(url)
            #expect(result.missingFiles.map(\.target) == [link, pipe])
            #expect(
                try values(document, "picture").prefix(2) == [
                    .file(ExternalFile(missing: link)), .file(ExternalFile(missing: pipe)),
                ])
            let problem = try #require(try StoreCheck(url: url, model: model).problems().first)
            #expect(problem.code == .missingFile)
            #expect(problem.examples == ["Film/p1", "Film/p2"])
            let copy = folder.appendingPathComponent("Copy.sqlite")
            try NSPersistentStoreCoordinator(managedObjectModel: model).replacePersistentStore(
                at: copy, destinationOptions: nil, withPersistentStoreFrom: url, sourceOptions: nil,
                ofType: NSSQLiteStoreType)
            let copied = folder.appendingPathComponent(".Copy_SUPPORT/_EXTERNAL_DATA").path
            #expect(
                !(try FileManager.default.contentsOfDirectory(atPath: copied)).contains(where: [link, pipe].contains))
        }

        @Test func `a migrated store keeps its references`() throws {
            try removeFile("ZPICTURE", of: 2)
            let name = try file("ZPICTURE", of: 2)
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            let store = try coordinator.addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: nil)
            let target = folder.appendingPathComponent("Target.sqlite")
            let moved = try coordinator.migratePersistentStore(
                store, to: target, options: nil, withType: NSSQLiteStoreType)
            try coordinator.remove(moved)
            #expect(try file("ZPICTURE", of: 2, in: target) == name)
        }

        @Test func `a subset reports its missing values`() throws {
            try removeFile("ZPICTURE", of: 2)
            let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            context.persistentStoreCoordinator = try coordinator(url)
            try context.performAndWait {
                let films = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Film"))
                let plan = try GraphSubset().export(films, to: folder.appendingPathComponent("Subset.sqlite"))
                #expect(plan.omissions.map(\.reason) == [.missingFile])
                #expect(plan.omissions.map(\.relationship) == ["Film.picture"])
            }
        }

        @Test func `a changed object still refers to its missing file`() throws {
            try removeFile("ZPICTURE", of: 2)
            let name = try file("ZPICTURE", of: 2)
            let context = try makeContext(model, at: url)
            try context.performAndWait {
                let request = NSFetchRequest<NSManagedObject>(entityName: "Film")
                request.predicate = NSPredicate(format: "title == 'film 2'")
                let film = try #require(try context.fetch(request).first)
                film.setValue("another", forKey: "title")
                try context.save()
            }
            #expect(try file("ZPICTURE", of: 2) == name)
        }
    }

#endif
