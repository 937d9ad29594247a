import Coral
import GRDB
import NotesModel
import Testing

@testable import CoralCommand

/// `coral history`, `coral history purge` and `coral diff --since`.
@Suite struct HistoryCommandTests {
    private let folder: URL
    private let url: URL
    private let uuid: String

    /// Three transactions: a note and a tag by Ada, an update by Bob, a deletion without author.
    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        url = folder.appendingPathComponent("Notes.sqlite")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: .notes())
        let store = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: [NSPersistentHistoryTrackingKey: true])
        uuid = store.identifier ?? ""
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            context.transactionAuthor = "Ada"
            let note = NSEntityDescription.insertNewObject(forEntityName: "Note", into: context)
            note.setValue("a <b>", forKey: "title")
            let tag = NSEntityDescription.insertNewObject(forEntityName: "Tag", into: context)
            tag.setValue("home", forKey: "name")
            try context.save()
            context.transactionAuthor = "Bob"
            note.setValue("c", forKey: "title")
            try context.save()
            context.transactionAuthor = nil
            context.delete(tag)
            try context.save()
        }
        try coordinator.remove(store)
    }

    private func lines(_ arguments: String...) throws -> [String] {
        let run = try CommandRun(arguments)
        #expect(run.status == 0, "\(run.errors)")
        return run.output.split(separator: "\n").map(String.init)
    }

    #if !canImport(Darwin)
        @Test(arguments: ["-1e300", "1e300", "-9223372036854775808"])
        func `the doctor examines a history of any times`(_ time: String) throws {
            defer { try? FileManager.default.removeItem(at: folder) }
            let queue = try DatabaseQueue(path: url.path)
            try queue.writeWithoutTransaction { try $0.execute(sql: "UPDATE ATRANSACTION SET ZTIMESTAMP = \(time)") }
            try queue.close()
            let run = try CommandRun("doctor", url.path)
            #expect(
                run.status == 0 && run.output.contains("The history has 4 changes in 3 transactions"), "\(run.errors)")
        }
    #endif

    @Test func `a history is printed as text`() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let lines = try lines("history", url.path)
        #expect(lines.filter { !$0.hasPrefix(" ") }.map { $0.prefix { $0 != " " } } == ["1", "2", "3"])
        #expect(
            lines.filter { $0.hasPrefix(" ") } == ["  + Note/p1", "  + Tag/p1", "  ~ Note/p1  title", "  - Tag/p1"])
        #expect(lines[0].contains("Ada, process"))
        let since = try self.lines("history", url.path, "--since", "1", "--author", "Bob")
        #expect(since.count == 2 && since[0].hasPrefix("2 "))
        #expect(
            try self.lines("history", url.path, "--entity", "Tag").filter { $0.hasPrefix(" ") } == [
                "  + Tag/p1", "  - Tag/p1",
            ])
        let object = "x-coredata://\(uuid)/Note/p1"
        #expect(try self.lines("history", url.path, "--object", object).count == 4)
        #expect(try self.lines("history", url.path, "--since", "2999-01-01") == ["There are no matching transactions."])
    }

    @Test func `a history has an end, and times in a zone`() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let numbers = { (arguments: [String]) in
            try CommandRun(["history", url.path, "--json"] + arguments).output.matches(of: /"transaction": ?(\d+)/)
                .map { String($0.1) }
        }
        #expect(try numbers(["--until", "2"]) == ["1", "2"])
        #expect(try numbers(["--since", "1", "--until", "2"]) == ["2"])
        #expect(try numbers(["--until", "2999-01-01"]) == ["1", "2", "3"])
        #expect(try numbers(["--until", "2001-01-01"]) == [])
        let wrong = try CommandRun("history", url.path, "--until", "soon")
        #expect(wrong.status == 1 && wrong.errors.contains("is not an end of a history"), "\(wrong.errors)")
        // The times in UTC and an hour and a half later are the same.
        let times = { (zone: String) in
            try CommandRun("history", url.path, "--time-zone", zone, "--json").output
                .matches(of: /"timestamp": ?"([^"]*)"/).map { String($0.1) }
        }
        let (utc, zoned) = (try times("UTC"), try times("+01:30"))
        #expect(utc.count == 3 && zoned.count == 3 && zoned.allSatisfy { $0.hasSuffix("+01:30") }, "\(zoned)")
        let formatter = ISO8601DateFormatter()
        formatter.formatOptions = [.withInternetDateTime, .withFractionalSeconds]
        #expect(utc.map(formatter.date(from:)) == zoned.map(formatter.date(from:)))
    }

    @Test func `a history is printed as JSON and as a page`() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let run = try CommandRun("history", url.path, "--json")
        let json = try #require(
            try JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [[String: Any]])
        #expect(json.compactMap { $0["transaction"] as? Int } == [1, 2, 3])
        #expect(json.map { $0["author"] as? String } == ["Ada", "Bob", nil])
        let change = try #require((json[1]["changes"] as? [[String: Any]])?.first)
        #expect(change["properties"] as? [String] == ["title"])
        #expect(change["uri"] as? String == "x-coredata://\(uuid)/Note/p1")
        let page = try CommandRun("history", url.path, "--html", "--since", "1")
        #expect(page.status == 0 && page.output.contains("<b>~ Note/p1</b>") && page.output.hasSuffix("</html>\n"))
        let empty = try CommandRun("history", url.path, "--json", "--since", "3")
        #expect(empty.output == "[]\n")
    }

    #if !canImport(Darwin)
        // Only stores of this package's engine keep old values.
        @Test func `old and new values are shown where the store keeps them`() throws {
            defer { try? FileManager.default.removeItem(at: folder) }
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: .notes())
            let store = try coordinator.addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: nil, at: url,
                options: [NSPersistentHistoryTrackingKey: true, HistoryOldValuesOption: true])
            let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            context.persistentStoreCoordinator = coordinator
            try context.performAndWait {
                let note = try #require(try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Note")).first)
                note.setValue("d", forKey: "title")
                try context.save()
                context.delete(note)
                try context.save()
            }
            try coordinator.remove(store)
            let lines = try lines("history", url.path, "--since", "3")
            #expect(lines[1] == "  ~ Note/p1  title: \"c\" -> \"d\"")
            #expect(lines[3].hasPrefix("  - Note/p1  ") && lines[3].contains("title = \"d\""), "\(lines[3])")
            let json = try CommandRun("history", url.path, "--json", "--since", "3").output
            #expect(json.contains(#""values":{"title":{"new":"\"d\"","old":"\"c\""}}"#), "\(json)")
            let page = try CommandRun("history", url.path, "--html", "--since", "3").output
            #expect(page.contains("title: &quot;c&quot; -&gt; &quot;d&quot;"), "\(page)")
            // Without old values in the earlier transactions, a delta contains new values only.
            #expect(try CommandRun("diff", url.path, "--since", "1").output.contains("- Note/p1"))
        }
    #endif

    @Test func `a history is purged, and deleted points are then refused`() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        #expect(try CommandRun("history", "purge", url.path).status == 64)
        #expect(try CommandRun("history", "purge", url.path, "--before", "3").status == 1)
        let mistaken = try CommandRun("history", "purge", url.path, "--before", "yesterday")
        #expect(mistaken.errors.contains("is not a point in"))
        let purge = try CommandRun("history", "purge", url.path, "--before", "3", "--yes", "--vacuum")
        #expect(purge.output == "3 changes deleted from the history.\n", "\(purge.errors)")
        #expect(try lines("history", url.path).count == 2)
        let expired = try CommandRun("history", url.path, "--since", "1")
        #expect(expired.status == 1 && expired.errors.contains("is not complete"))
        #expect(try CommandRun("history", url.path, "--since", "99").status == 1)
        #expect(try CommandRun("history", url.path, "--since", "yesterday").errors.contains("is not a point in"))
        #if !canImport(Darwin)
            #expect(
                try CommandRun("history", "purge", url.path, "--keep", "0", "--yes").output
                    == "1 change deleted from the history.\n")
            #expect(try lines("history", url.path) == ["There are no matching transactions."])
        #endif
    }

    @Test(arguments: [
        "2999-01-31garbage", "2999-02-31", "2999-04-31", "2999-13-01", "2999-01-31T24:00", "2999-01-31T23:59x",
        "2999-1-31", "2999-01-31T12", "2999-01",
    ])
    func `a mistyped date is not a point`(_ text: String) throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let before = try Data(contentsOf: url)
        for arguments in [
            ["history", "purge", url.path, "--before", text, "--yes", "--no-backup"],
            ["diff", url.path, "--since", text],
            ["history", url.path, "--since", text],
        ] {
            let run = try CommandRun(arguments)
            #expect(
                run.status == 1 && run.errors.contains("is not a point in a history"), "\(arguments): \(run.errors)")
        }
        let end = try CommandRun("history", url.path, "--until", text)
        #expect(end.status == 1 && end.errors.contains("is not an end of a history"), "\(end.errors)")
        #expect(try Data(contentsOf: url) == before)
    }

    @Test func `a date without a zone is one in UTC, to the minute`() {
        defer { try? FileManager.default.removeItem(at: folder) }
        let minute = HistoryPoint(argument: "2025-03-30T23:59")?.date()
        #expect(minute == HistoryPoint(argument: "2025-03-30T23:59:00Z")?.date() && minute != nil)
        #expect(HistoryPoint(argument: "2025-03-30")?.date() == minute.map { $0 - 86_340 })
        let berlin = HistoryPoint(argument: "2025-03-30T23:59")?.date(in: TimeZone(secondsFromGMT: 7200))
        #expect(berlin == minute.map { $0 - 7200 })
        for number in ["1042", "2026", "20260131"] { #expect(HistoryPoint(argument: number)?.date() == nil) }
    }

    #if !canImport(Darwin)
        // Core Data's own requests count no changes before they delete them.
        @Test func `a purge is planned, confirmed and backed up, like every change of a store`() throws {
            defer { try? FileManager.default.removeItem(at: folder) }
            let before = try Data(contentsOf: url)
            let options = [
                ["--before", "3"], ["--before", "2999-01-01"], ["--keep", "1"], ["--keep-bytes", "0"], ["--keep", "9"],
            ]
            let counts = try options.map { option in
                let plan = try CommandRun(["history", "purge", url.path, "--dry-run"] + option)
                #expect(plan.status == 0, "\(plan.errors)")
                return plan.output
            }
            #expect(counts == [3, 4, 3, 4, 0].map { "Would delete \($0) changes from the history.\n" })
            let json = try CommandRun("history", "purge", url.path, "--keep", "1", "--dry-run", "--json").output
            #expect(json.contains(#""deletedChanges" : 3"#) && json.contains(#""isSaved" : false"#), "\(json)")
            let asked = try CommandRun("history", "purge", url.path, "--keep", "1")
            #expect(
                asked.errors
                    == "coral: Nothing was changed. Use --yes to delete 3 changes from the history, or --dry-run to see the changes.\n"
            )
            #expect(try CommandRun("history", "purge", url.path, "--keep", "9").output == "Nothing to delete.\n")
            let forced = try CommandRun("history", "purge", url.path, "--keep", "1", "--force")
            #expect(forced.errors.contains("A change is confirmed with --yes."), "\(forced.errors)")
            #expect(try Data(contentsOf: url) == before)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["Notes.sqlite"])

            let purge = try CommandRun("history", "purge", url.path, "--keep", "1", "--yes")
            let backup = try #require(purge.errors.split(separator: "\n").first)
            #expect(backup.hasPrefix("Backup of the store: "), "\(purge.errors)")
            #expect(try lines("history", String(backup.dropFirst("Backup of the store: ".count))).count == 7)
            #expect(try lines("history", url.path).count == 2)
            let last = try CommandRun("history", "purge", url.path, "--keep", "0", "--yes", "--no-backup")
            #expect(last.errors.isEmpty && last.status == 0, "\(last.errors)")
        }
    #endif

    #if !canImport(Darwin)
        // Core Data's own requests delete a history by date and token only.
        @Test func `a purge whose report cannot be written is made once, or not at all`() throws {
            defer { try? FileManager.default.removeItem(at: folder) }
            let purge = "coral history purge '\(url.path)' --yes --no-backup"
            let before = try Data(contentsOf: url)
            for closed in [">&-", "| :"] {
                // The reader of the pipe has ended before the command begins.
                let line = closed == "| :" ? "(sleep 1; \(purge) --keep 1) | :" : "\(purge) --keep 1 \(closed)"
                #expect(try CommandRun(shell: line).errors.contains("Nothing was changed."), "\(line)")
                #expect(try Data(contentsOf: url) == before, "\(line)")
            }
            #expect(try lines("history", url.path).count == 7)
            for json in ["", " --json"] {
                let run = try CommandRun(shell: "\(purge) --keep 1\(json) >/dev/full")
                // The second time nothing is left to delete.
                #expect(run.status == (json.isEmpty ? 3 : 1), "\(run.errors)")
                #expect(try lines("history", url.path).count == 2)
            }
        }
    #endif

    @Test func `a store without a history is an error, and no history is started`() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = try NotesStore()
        for arguments in [["history", store.path], ["history", "purge", store.path, "--keep", "0", "--yes"]] {
            let run = try CommandRun(arguments)
            #expect(run.status == 1 && run.errors.contains("keeps no history"))
        }
        #expect(try StoreInspection(url: store.url).hasHistory == false)
    }

    @Test func `differences since a point are computed from the history`() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let run = try CommandRun("diff", url.path, "--since", "1")
        #expect(run.status == 2)
        #expect(run.output.contains("~ Note/p1.title: absent -> \"c\""), "\(run.output)")
        #expect(run.output.contains("- Tag/p1"))
        #expect(run.output.hasSuffix("0 inserted, 1 updated, 1 deleted\n"))
        #expect(try CommandRun("diff", url.path, "--since", "3").status == 0)
        #expect(try CommandRun("diff", url.path).status == 64)
    }
}
