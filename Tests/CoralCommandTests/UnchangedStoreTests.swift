import Coral
import Foundation
import GRDB
import NotesModel
import Testing

/// Commands that write and find nothing to change: the files of the store keep their bytes, and no others are left.
@Suite struct UnchangedStoreTests {
    private let store: NotesStore

    init() throws { store = try NotesStore() }

    @Test(arguments: ["wal", "delete"]) func `an import of equal objects changes no byte`(journalMode: String) throws {
        let queue = try DatabaseQueue(path: store.path)
        try queue.writeWithoutTransaction { database in
            _ = try String.fetchOne(database, sql: "PRAGMA journal_mode = \(journalMode)")
        }
        try queue.close()
        #expect(try CommandRun("export", store.path, "-o", store.file("notes.json")).status == 0)
        let before = try store.contents()
        for more in [[], ["--by-content"], ["--key", "Note=title"], ["--dry-run"]] {
            let run = try CommandRun(["import", store.file("notes.json"), "--into", store.path] + more)
            #expect(run.status == 0, "\(run.errors)")
            #expect(run.output.hasSuffix("0 inserts, 0 updates, 0 links, 0 errors\n"), "\(run.output)")
            let after = try store.contents()
            #expect(after.keys.sorted() == before.keys.sorted(), "\(more)")
            #expect(after == before, "\(more)")
        }
    }

    @Test func `a purge that deletes nothing changes no byte`() throws {
        let url = store.folder.appendingPathComponent("Tracked.sqlite")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: .notes())
        let tracked = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: [NSPersistentHistoryTrackingKey: true])
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            let tag = NSEntityDescription.insertNewObject(forEntityName: "Tag", into: context)
            tag.setValue("home", forKey: "name")
            try context.save()
        }
        try coordinator.remove(tracked)
        let before = try store.contents()
        var points = [["--before", "1"]]
        #if !canImport(Darwin)
            points.append(["--keep", "10"])
        #endif
        for point in points {
            let run = try CommandRun(["history", "purge", url.path, "--yes"] + point)
            #expect(run.output == "Nothing to delete.\n", "\(run.errors)")
            let after = try store.contents()
            #expect(after.keys.sorted() == before.keys.sorted() && after == before, "\(point)")
        }
    }
}
