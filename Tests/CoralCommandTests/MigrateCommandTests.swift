import Coral
import CoralMigration
import GRDB
import Testing

@testable import ModelFiles

/// `coral migrate` and `coral model migrations`.
@Suite struct MigrateCommandTests {
    private let notes: NotesStore

    init() throws { notes = try NotesStore() }

    private func bundle(_ changes: [(name: String, change: (String) -> String)]) throws -> String {
        try notes.bundle(changes)
    }

    private func renamingTitle(_ text: String) -> String { NotesStore.renamingTitle(text) }

    /// Without the price of items.
    private func removingPrice(_ text: String) -> String {
        text.components(separatedBy: "\n").filter { !$0.contains(#"<attribute name="price""#) }.joined(separator: "\n")
    }

    private func requiringSite(_ text: String) -> String {
        text.replacingOccurrences(
            of: #"<attribute name="name" optional="YES""#, with: #"<attribute name="name""#)
    }

    @Test func `a dry run lists the changes, and changes nothing`() throws {
        let model = try bundle([("Notes 2", renamingTitle), ("Notes 3", removingPrice)])
        let before = try notes.contents()
        let run = try CommandRun("migrate", notes.path, "--to", model, "--dry-run")
        #expect(run.status == 0, "\(run.output)\(run.errors)")
        #expect(run.output.hasPrefix("Notes -> Notes 3: inferred\n"))
        #expect(run.output.contains("The migration loses nothing"))
        #expect(try notes.contents() == before)
    }

    @Test func `inferred steps are one line, with the reason why they are not one step`() throws {
        func renamingAgain(_ text: String) -> String {
            text.replacingOccurrences(
                of: #"name="heading" elementID="title""#, with: #"name="subject" elementID="heading""#)
        }
        let model = try bundle([
            ("Notes 2", renamingTitle), ("Notes 3", removingPrice), ("Notes 4", renamingAgain),
        ])
        let run = try CommandRun("migrate", notes.path, "--to", model, "--dry-run")
        #expect(run.status == 0, "\(run.output)\(run.errors)")
        let lines = run.output.components(separatedBy: "\n")
        #expect(lines[0] == "Notes -> Notes 4: 2 inferred steps")
        let reason = "One step would give other objects. Note.subject: Its values do not have the same source."
        #expect(lines[1] == reason)
        #expect(lines[2].hasPrefix("The migration loses nothing"))
        let json = try CommandRun("migrate", notes.path, "--to", model, "--dry-run", "--json")
        #expect(json.output.contains(#""detour" : "\#(reason)""#), "\(json.output)")
        let impossible = try bundle([("Notes 2", renamingTitle), ("Notes 3", requiringSite), ("Notes 4", { $0 + " " })])
        let failed = try CommandRun("migrate", notes.path, "--to", impossible, "--dry-run")
        #expect(failed.status == 1)
        #expect(
            failed.output.contains("\nOne step is not possible. Item.name: It becomes required"), "\(failed.output)")
    }

    @Test func `a store is migrated, with a backup`() throws {
        let model = try bundle([("Notes 2", renamingTitle)])
        let run = try CommandRun("migrate", notes.path, "--to", model)
        #expect(run.status == 0, "\(run.output)\(run.errors)")
        #expect(run.output.hasSuffix("Migrated 6 objects to \"Notes 2\" in 1 step.\n"))
        #expect(run.errors.contains("Backup of the store: "))
        let query = try CommandRun("query", notes.path, "--entity", "Note", "--columns", "heading", "--json")
        #expect(query.output.contains("Groceries"))
        let again = try CommandRun("migrate", notes.path, "--to", model)
        #expect(again.output == "\(notes.path) has the version \"Notes 2\" already.\n")
    }

    @Test func `removed values are a finding, and a failed migration changes nothing`() throws {
        let model = try bundle([
            ("Notes 2", { $0.replacingOccurrences(of: #"<attribute name="rank""#, with: #"<attribute name="order""#) }),
            ("Notes 3", requiringSite),
        ])
        let removing = try CommandRun(
            "migrate", notes.path, "--to", "\(model)/Notes 2.xcdatamodel", "--dry-run", "--json")
        #expect(removing.status == 2)
        #expect(removing.output.contains(#""code" : "removedValue""#))
        #expect(removing.output.contains(#""isBreaking" : false"#))
        let before = try notes.contents()
        let failing = try CommandRun("migrate", notes.path, "--to", model)
        #expect(failing.status == 1)
        #expect(failing.output.contains("missingValue") || failing.output.contains("becomes required"))
        #expect(failing.errors.contains("cannot be inferred"))
        #expect(try notes.contents() == before)
        let output = notes.file("New.sqlite")
        let repaired = try CommandRun(
            "migrate", notes.path, "--to", model, "--fill", "Item.name=-", "--fill", "Tag.name=-", "--fill",
            "Person.name=-", "--output", output)
        #expect(repaired.status == 0, "\(repaired.output)\(repaired.errors)")
        #expect(try CommandRun("check", output).status == 0)
        #expect(try notes.contents()["Notes.sqlite"] == before["Notes.sqlite"])
    }

    @Test func `other commands name the command that migrates`() throws {
        let model = try bundle([("Notes 2", renamingTitle)])
        let document = notes.file("empty.json")
        try Data("{}".utf8).write(to: URL(fileURLWithPath: document))
        for arguments in [
            ["copy", notes.path, "--entity", "Note"], ["import", document, "--into", notes.path], ["info", notes.path],
        ] {
            let run = try CommandRun(arguments + ["--model", model])
            #expect(run.status == 1)
            #expect(
                run.errors.contains("Migrate it first: coral migrate \(notes.path) --to \(model)\n"), "\(run.errors)")
        }
    }

    #if !canImport(Darwin)
        /// The statements of two steps that cannot be combined, executed by SQLite alone, give the same store as the migration.
        @Test func `the statements of a migration are printed, and nothing is changed`() throws {
            let model = try bundle([
                ("Notes 2", renamingTitle),
                (
                    "Notes 3",
                    {
                        $0.replacingOccurrences(
                            of: #"name="heading" elementID="title""#, with: #"name="head" elementID="heading""#)
                    }
                ),
            ])
            let before = try notes.contents()
            let run = try CommandRun("migrate", notes.path, "--to", model, "--sql")
            #expect(run.status == 0, "\(run.errors)")
            #expect(try notes.contents() == before)
            #expect(run.output.hasPrefix("BEGIN IMMEDIATE;\n") && run.output.hasSuffix(";\nCOMMIT;\n"))
            let copy = URL(fileURLWithPath: notes.file("Copy.sqlite"))
            try FileManager.default.copyItem(at: notes.url, to: copy)
            try DatabaseQueue(path: copy.path).writeWithoutTransaction { try $0.execute(sql: run.output) }
            #expect(try CommandRun("migrate", notes.path, "--to", model, "--no-backup").status == 0)
            let (byHand, migrated) = (try CommandRun("export", copy.path), try CommandRun("export", notes.path))
            #expect(byHand.status == 0 && byHand.output.contains("\"head\""), "\(byHand.errors)")
            #expect(byHand.output == migrated.output)
            #expect(try CommandRun("check", copy.path).status == 0)
            let again = try CommandRun("migrate", notes.path, "--to", model, "--sql")
            #expect(again.output == "-- \(notes.path) has the version \"Notes 3\" already.\n")
            let wrong = try CommandRun("migrate", notes.path, "--to", model, "--sql", "--json")
            #expect(wrong.status == 64 && wrong.errors.contains("cannot be combined with --json"))
        }
    #endif

    /// A process has the store open with the old model while the command migrates it.
    @Test func `a program that has the store open reads nothing of the new version`() throws {
        let model = try bundle([
            (
                "Notes 2",
                { text in
                    text.replacingOccurrences(
                        of: "</model>",
                        with: #"<entity name="Aaa" representedClassName="NSManagedObject" syncable="YES"/></model>"#)
                }
            )
        ])
        let old = try #require(try StoreInspection(url: URL(fileURLWithPath: notes.path)).cachedModel)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: old.keepingStoredArchives())
        try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: URL(fileURLWithPath: notes.path), options: nil)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
        let count = try context.performAndWait { try context.fetch(request).count }
        #expect(count > 0)
        let run = try CommandRun("migrate", notes.path, "--to", model, "--no-backup")
        #expect(run.status == 0, "\(run.errors)")
        context.performAndWait {
            for _ in 1...2 {
                let error = #expect(throws: CocoaError.self) { try context.fetch(request) }
                #expect(error?.errorCode == 134100)
                let counting = #expect(throws: CocoaError.self) { try context.count(for: request) }
                #expect(counting?.errorCode == 134100)
            }
        }
    }

    @Test func `mapping models are found in folders`() throws {
        let model = try bundle([("Notes 2", renamingTitle)])
        let folder = URL(fileURLWithPath: notes.file("Notes.app/Contents/Resources"))
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let empty = try CommandRun("migrate", notes.path, "--to", model, "--mapping", notes.file("Notes.app"))
        #expect(empty.status == 1)
        #expect(empty.errors.contains("There is no mapping model in the folder \(notes.file("Notes.app"))"))
        let versions = try ModelVersion.versions(at: URL(fileURLWithPath: model))
        let mapping = MappingArchive.Entity(
            name: "NoteToNote", type: NSEntityMappingType.transformEntityMappingType.rawValue, sourceName: "Note",
            sourceHash: versions[0].model.entityVersionHashesByName["Note"], destinationName: "Note",
            destinationHash: versions[1].model.entityVersionHashesByName["Note"], attributes: [], relationships: [],
            userInfo: [:])
        try MappingArchive.data(of: [mapping]).write(to: folder.appendingPathComponent("Notes1to2.cdm"))
        let run = try CommandRun(
            "migrate", notes.path, "--to", model, "--mapping", notes.file("Notes.app"), "--dry-run")
        #expect(
            run.output.hasPrefix("Notes -> Notes 2: by the mapping model Notes1to2\n"), "\(run.output)\(run.errors)")
        // Mapping models beside the model are used, as by `coral model migrations`.
        let dryRun = ["migrate", notes.path, "--to", model, "--dry-run"]
        #expect(try CommandRun(dryRun).output.hasPrefix("Notes -> Notes 2: inferred\n"))
        try MappingArchive.data(of: [mapping]).write(to: URL(fileURLWithPath: notes.file("Beside.cdm")))
        #expect(try CommandRun(dryRun).output.hasPrefix("Notes -> Notes 2: by the mapping model Beside\n"))
        #expect(try CommandRun(dryRun + ["--inferred"]).output.hasPrefix("Notes -> Notes 2: inferred\n"))
    }

    @Test func `invalid arguments are errors that name the mistake`() throws {
        let model = try bundle([("Notes 2", requiringSite)])
        func failure(_ arguments: String...) throws -> String {
            let run = try CommandRun(["migrate"] + arguments)
            #expect(run.status == 1)
            #expect(run.errors.hasPrefix("coral: "))
            return run.errors
        }
        #expect(try failure(notes.path, "--to", "None.momd") == "coral: There is no model or store at None.momd.\n")
        #expect(try failure("None.sqlite", "--to", model) == "coral: There is no store at None.sqlite.\n")
        let remote = try failure("postgresql://ada:secret@db/notes", "--to", model)
        #expect(!remote.contains("secret"))
        #if !PostgreSQL
            #expect(remote.contains("trait PostgreSQL"))
        #endif
        #expect(
            try failure(notes.path, "--to", model, "--mapping", "None.cdm")
                == "coral: There is no mapping model at None.cdm.\n")
        #expect(try failure(notes.path, "--to", model, "--fill", "Item.nmae=x").contains("Did you mean \"name\"?"))
        #expect(try failure(notes.path, "--to", model, "--fill", "Item").contains("is not of the form"))
        #expect(try failure(notes.path, "--to", model, "--convert", "Item.name=down").contains("is not of the form"))
        #expect(try failure(notes.path, "--to", model, "-o", notes.path).contains("would replace its input"))
    }

    // MARK: - Versions

    @Test func `the versions of a model are listed with their steps`() throws {
        let model = try bundle([("Notes 2", renamingTitle), ("Notes 10", removingPrice)])
        let run = try CommandRun("model", "migrations", model)
        #expect(run.status == 0, "\(run.errors)")
        let lines = run.output.components(separatedBy: "\n")
        #expect(lines[0].hasPrefix("Notes ") && lines[0].hasSuffix("first version"))
        #expect(lines[1].hasPrefix("Notes 2 ") && lines[1].hasSuffix("inferred"))
        #expect(lines[2].hasPrefix("Notes 10 ") && lines[2].hasSuffix("inferred  current"))
        #expect(lines[3] == "Stores of every version can be migrated to \"Notes 10\".")
        let order = try CommandRun("model", "migrations", model, "--order", "Notes 2,Notes,Notes 10", "--json")
        #expect(order.output.contains(#""current" : "Notes 10""#))
        let wrong = try CommandRun("model", "migrations", model, "--order", "Notes 2,Notse")
        #expect(wrong.status == 1 && wrong.errors.contains("Notse"))
        let file = notes.file("notes.txt")
        try Data("text".utf8).write(to: URL(fileURLWithPath: file))
        let mapping = try CommandRun("model", "migrations", model, "--mapping", file)
        #expect(mapping.status == 1 && mapping.errors.contains("neither a mapping model"), "\(mapping.errors)")
    }

    @Test func `versions that cannot be migrated are a finding`() throws {
        let model = try bundle([("Notes 2", renamingTitle), ("Notes 3", requiringSite)])
        let run = try CommandRun("model", "migrations", model)
        #expect(run.status == 2)
        #expect(run.output.contains("impossible"))
        #expect(run.output.contains("Item.name: It becomes required"))
        let end = try #require(run.output.range(of: "Stores of these"))
        let lines = run.output[end.lowerBound...].components(separatedBy: "\n")
        #expect(lines[0].hasSuffix("cannot be migrated to \"Notes 3\": \"Notes\", \"Notes 2\"."))
        #expect(lines[1] == "Directly from \"Notes 2\":")
        #expect(lines[2].hasPrefix("    Item.name: It becomes required"))
        let more = try bundle([("Notes 2", renamingTitle), ("Notes 3", removingPrice), ("Notes 4", requiringSite)])
        let collapsed = try CommandRun("model", "migrations", more).output
        #expect(collapsed.contains("to \"Notes 4\": \"Notes\" to \"Notes 3\".\n"), "\(collapsed)")
    }
}
