#if !canImport(Darwin)

    import Coral
    import GRDB
    import Testing

    /// Reports about values that a command cannot preserve.
    @Suite final class LossCommandTests {
        private let folder: URL
        private var store: String { file("Films.sqlite") }

        init() throws {
            folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            let film = NSEntityDescription()
            film.name = "Film"
            let (title, picture) = (NSAttributeDescription(), NSAttributeDescription())
            (title.name, title.attributeType) = ("title", .stringAttributeType)
            (picture.name, picture.attributeType) = ("picture", .binaryDataAttributeType)
            picture.allowsExternalBinaryDataStorage = true
            picture.isOptional = true
            title.setValidationPredicates(
                [NSPredicate(format: "SELF CONTAINS 'film'")], withValidationWarnings: ["No film."])
            film.properties = [title, picture]
            film.uniquenessConstraints = [["title"]]
            let model = NSManagedObjectModel()
            model.entities = [film]
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            let store = try coordinator.addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: nil, at: URL(fileURLWithPath: file("Films.sqlite")),
                options: nil)
            let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            context.persistentStoreCoordinator = coordinator
            try context.performAndWait {
                for number in 1...2 {
                    let film = NSEntityDescription.insertNewObject(forEntityName: "Film", into: context)
                    film.setValue("film \(number)", forKey: "title")
                    film.setValue(Data(repeating: 1, count: 200_000), forKey: "picture")
                    try context.save()
                }
            }
            try coordinator.remove(store)
        }

        deinit { try? FileManager.default.removeItem(at: folder) }

        private func file(_ name: String) -> String { folder.appendingPathComponent(name).path }

        @Test func `missing files are reported, and determine the exit code`() throws {
            #expect(try CommandRun("export", store).status == 0)
            #expect(try CommandRun("verify", store).status == 0)
            // As after copying the store without its hidden folder of files.
            try FileManager.default.removeItem(atPath: file(".Films_SUPPORT"))
            let kept = try CommandRun("export", store, "-o", file("films.json"))
            #expect(kept.status == 2)
            #expect(kept.errors.contains("The file of Film/p1.picture does not exist"))
            let skipped = try CommandRun("export", store, "--missing-files", "skip")
            #expect(skipped.status == 0 && skipped.output.contains("\"picture\":null"))
            #expect(skipped.errors.contains("Film/p2.picture"))
            let refused = try CommandRun("export", store, "--missing-files", "fail", "-o", file("no.json"))
            #expect(refused.status == 1 && !FileManager.default.fileExists(atPath: file("no.json")))
            let restored = try CommandRun(
                "import", file("films.json"), "--restore", "--into", file("R.sqlite"), "--model", store)
            #expect(restored.status == 2)
            #expect(restored.output == "2 inserts, 0 updates, 0 links, 2 missing files, 0 errors\n")
            #expect(try CommandRun("diff", store, file("R.sqlite")).status == 0)
            let plan = try CommandRun("import", file("films.json"), "--into", file("R.sqlite"), "--dry-run")
            #expect(plan.status == 2 && plan.output.contains("2 missing files"), "\(plan.output)")
            let skipping = [
                "import", file("films.json"), "--into", file("R.sqlite"), "--dry-run", "--missing-files", "skip",
            ]
            #expect(try CommandRun(skipping).status == 0)
            let verified = try CommandRun("verify", store)
            #expect(verified.status == 2)
            #expect(verified.output.contains("but for 2 values whose files do not exist"))
        }

        @Test func `a conversion lists the properties that a source cannot represent`() throws {
            let run = try CommandRun("model", "convert", store, "-o", file("Films.xcdatamodel"))
            #expect(run.status == 2)
            #expect(run.errors.contains("Omitted: Film.title: validations"))
            #expect(try CommandRun("model", "convert", store, "-o", file("Films.mom")).status == 0)
        }

        @Test func `an edited key is an update where ids take precedence`() throws {
            #expect(try CommandRun("export", store, "-o", file("films.json")).status == 0)
            let text = try String(contentsOfFile: file("films.json"), encoding: .utf8)
            try Data(text.replacingOccurrences(of: "film 2", with: "film 3").utf8)
                .write(to: URL(fileURLWithPath: file("edited.json")))
            let byKey = try CommandRun("import", file("edited.json"), "--into", store, "--dry-run")
            #expect(byKey.output.contains("? The record has the id of Film/p2 and another key."))
            #expect(byKey.output.hasSuffix("1 insert, 0 updates, 0 links, 1 conflict, 0 errors\n"))
            let byID = try CommandRun(
                "import", file("edited.json"), "--into", store, "--dry-run", "--identity", "stored-id")
            #expect(byID.output.hasSuffix("0 inserts, 1 update, 0 links, 0 errors\n"))
        }
    }

#endif
