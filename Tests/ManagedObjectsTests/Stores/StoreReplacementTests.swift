import AtomicFiles
import Foundation
import GRDB
import Testing
@testable import EngineTesting
@testable import SQLiteConnections

@testable import ManagedObjects

/// A store is replaced completely or not at all, also if the process is killed after any step.
@Suite struct StoreReplacementTests {
    /// A folder with stores, and the contents of these.
    private struct Bench: Sendable {
        let folder: URL
        var place: URL { folder.appendingPathComponent("Notes.sqlite") }
        var source: URL { folder.appendingPathComponent("Source.sqlite") }

        static func model() -> NSManagedObjectModel {
            let model = NotesModel.make()
            model.entitiesByName["Note"]?.attributesByName["blob"]?.allowsExternalBinaryDataStorage = true
            return model
        }

        init(_ folder: URL) { self.folder = folder }

        init() throws {
            folder =
                FileManager.default.temporaryDirectory
                .appendingPathComponent("StoreReplacement-\(UUID().uuidString)").withoutLinks
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        }

        func remove() { try? FileManager.default.removeItem(at: folder) }

        func context(_ url: URL) throws -> NSManagedObjectContext {
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model())
            try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url)
            let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
            context.persistentStoreCoordinator = coordinator
            return context
        }

        /// Creates a store of some notes, each with a large value. The last note is in the log only, and no connection
        /// has the store open.
        func makeStore(_ url: URL, _ title: String, count: Int) throws {
            let draft = folder.appendingPathComponent("draft")
            try FileManager.default.createDirectory(at: draft, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: draft) }
            let file = draft.appendingPathComponent(url.lastPathComponent)
            let context = try context(file)
            for number in 0..<count {
                let note = NSEntityDescription.insertNewObject(forEntityName: "Note", into: context)
                note.setValue("\(title) \(number)", forKey: "title")
                note.setValue(Self.value(title, number), forKey: "blob")
                try context.save()
            }
            for suffix in ["", "-wal"] {
                try FileManager.default.copyItem(atPath: file.path + suffix, toPath: url.path + suffix)
            }
            let values = StoreFiles(url: url).supportDirectory
            try? FileManager.default.removeItem(at: values)
            try FileManager.default.copyItem(at: StoreFiles(url: file).supportDirectory, to: values)
        }

        static func value(_ title: String, _ number: Int) -> Data {
            Data(repeating: UInt8(truncatingIfNeeded: title.utf8.reduce(number) { $0 + Int($1) }), count: 200_000)
        }

        /// The titles of a store's notes, which must have their large values.
        func titles(_ url: URL) throws -> [String] {
            guard FileManager.default.fileExists(atPath: url.path) else { return [] }
            let context = try context(url)
            let notes = try context.all("Note", sortedBy: "title")
            for (number, note) in notes.enumerated() {
                let title = note.value(forKey: "title") as? String ?? ""
                let expected = Self.value(String(title.split(separator: " ")[0]), number)
                #expect(note.value(forKey: "blob") as? Data == expected, "\(title) lacks its large value")
            }
            return notes.compactMap { $0.value(forKey: "title") as? String }
        }

        func replace() throws { try StoreFiles(url: place).replace(with: StoreFiles(url: source)) }

        var partialFolders: [URL] { PartialFolder.folders(for: place) }
    }

    @Test func `a copy contains every external file of its rows while another connection replaces these files`() throws
    {
        let bench = try Bench()
        defer { bench.remove() }
        try bench.makeStore(bench.source, "0", count: 3)
        let end = DispatchSemaphore(value: 0)
        let ended = DispatchGroup()
        DispatchQueue.global().async(group: ended) {
            do {
                let context = try bench.context(bench.source)
                var number = 0
                while end.wait(timeout: .now()) == .timedOut {
                    number += 1
                    for (index, note) in try context.all("Note", sortedBy: "title").enumerated() {
                        note.setValue("\(number) \(index)", forKey: "title")
                        note.setValue(Bench.value("\(number)", index), forKey: "blob")
                        try context.save()
                    }
                }
            } catch {
                Issue.record(error)
            }
        }
        defer {
            end.signal()
            ended.wait()
        }
        for _ in 0..<20 {
            try bench.replace()
            let context = try bench.context(bench.place)
            let sizes = try context.all("Note").map { ($0.value(forKey: "blob") as? Data)?.count }
            #expect(sizes == [200_000, 200_000, 200_000])
        }
    }

    @Test(arguments: StoreReplacement.Step.allCases, [true, false])
    func `after a kill at any step there is one complete store, and the next replacement removes what is left of it`(
        step: StoreReplacement.Step, hasOld: Bool
    ) async throws {
        let bench = try Bench()
        defer { bench.remove() }
        try bench.makeStore(bench.source, "new", count: 3)
        if hasOld { try bench.makeStore(bench.place, "old", count: 2) }
        await #expect(processExitsWith: .signal(SIGKILL)) {
            [folder = bench.folder.path as String, number = step.rawValue as Int] in
            let bench = Bench(URL(fileURLWithPath: folder))
            try StoreReplacement.$didTakeStep.withValue({ if $0.rawValue == number { kill(getpid(), SIGKILL) } }) {
                try bench.replace()
            }
        }
        let (old, new) = (hasOld ? ["old 0", "old 1"] : [], ["new 0", "new 1", "new 2"])
        let expected = step.rawValue < StoreReplacement.Step.exchanged.rawValue ? old : new
        #expect(bench.partialFolders.count == 1)
        #expect(try bench.titles(bench.place) == expected)
        // The files of the killed process are removed by the next replacement, even one that is not committed.
        _ = try StoreReplacement(at: bench.place)
        #expect(bench.partialFolders.isEmpty)
        #expect(try bench.titles(bench.place) == expected)
        if expected == old {
            #expect(StoreFiles(url: bench.place).largeValues.count == old.count, "Values of the new store are left.")
        }
        try bench.replace()
        #expect(try bench.titles(bench.place) == new)
        #expect(StoreFiles(url: bench.place).largeValues.count == 3)
        #expect(bench.partialFolders.isEmpty)
    }

    /// A copy of the store has links to the files of its large values.
    @Test(arguments: StoreReplacement.Step.allCases)
    func `after a kill at any step of replacing a store by a changed copy it has all of its large values`(
        step: StoreReplacement.Step
    ) async throws {
        let bench = try Bench()
        defer { bench.remove() }
        try bench.makeStore(bench.place, "old", count: 3)
        await #expect(processExitsWith: .signal(SIGKILL)) {
            [folder = bench.folder.path as String, number = step.rawValue as Int] in
            let bench = Bench(URL(fileURLWithPath: folder))
            let replacement = try StoreReplacement(at: bench.place)
            try replacement.makeCopy()
            try StoreReplacement.$didTakeStep.withValue({ if $0.rawValue == number { kill(getpid(), SIGKILL) } }) {
                try replacement.commit(replacing: .store)
            }
        }
        #expect(bench.partialFolders.count == 1)
        _ = try StoreReplacement(at: bench.place)
        #expect(bench.partialFolders.isEmpty)
        #expect(try bench.titles(bench.place) == ["old 0", "old 1", "old 2"])
        #expect(StoreFiles(url: bench.place).largeValues.count == 3)
    }

    @Test func `a store that is in use is not replaced`() throws {
        let bench = try Bench()
        defer { bench.remove() }
        try bench.makeStore(bench.source, "new", count: 1)
        try bench.makeStore(bench.place, "old", count: 2)
        let context = try bench.context(bench.place)
        _ = try context.all("Note", sortedBy: "title")
        let error = #expect(throws: CocoaError.self) { try bench.replace() }
        #expect(error?.localizedDescription.contains("is in use") == true)
        #expect(bench.partialFolders.isEmpty)
        #expect(StoreFiles(url: bench.place).largeValues.count == 2)
        #expect(try context.all("Note", sortedBy: "title").count == 2)
    }

    @Test func `a connection to the old store gets an error, and no mixture of both stores`() throws {
        let bench = try Bench()
        defer { bench.remove() }
        try bench.makeStore(bench.source, "new", count: 1)
        try bench.makeStore(bench.place, "old", count: 1)
        try DatabaseQueue(path: bench.place.path).writeWithoutTransaction {
            _ = try Row.fetchOne($0, sql: "PRAGMA journal_mode = DELETE")
        }
        // Without a log an idle connection holds no lock.
        let idle = try DatabaseQueue(path: bench.place.path)
        #expect(try idle.read { try String.fetchOne($0, sql: "SELECT ZTITLE FROM ZNOTE") } == "old 0")
        try bench.replace()
        #expect(throws: DatabaseError.self) {
            try idle.read { try String.fetchOne($0, sql: "SELECT ZTITLE FROM ZNOTE") }
        }
        #expect(try bench.titles(bench.place) == ["new 0"])
    }

    @Test func `a hard link to the old store keeps its content`() throws {
        let bench = try Bench()
        defer { bench.remove() }
        try bench.makeStore(bench.source, "new", count: 1)
        try bench.makeStore(bench.place, "old", count: 1)
        let other = bench.folder.appendingPathComponent("Other.sqlite")
        try FileManager.default.linkItem(at: bench.place, to: other)
        try bench.replace()
        #expect(
            try DatabaseQueue(path: other.path).read { try Int.fetchOne($0, sql: "SELECT count(*) FROM ZNOTE") } == 1)
        #expect(try bench.titles(bench.place) == ["new 0"])
    }

    @Test func `a link and permissions are kept, and a leftover log is removed`() throws {
        let bench = try Bench()
        defer { bench.remove() }
        try bench.makeStore(bench.source, "new", count: 1)
        try bench.makeStore(bench.place, "old", count: 2)
        chmod(bench.place.path, 0o640)
        let link = bench.folder.appendingPathComponent("Link.sqlite")
        try FileManager.default.createSymbolicLink(atPath: link.path, withDestinationPath: "Notes.sqlite")
        try StoreFiles(url: link).replace(with: StoreFiles(url: bench.source))
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link.path) == "Notes.sqlite")
        #expect(try bench.titles(bench.place) == ["new 0"])
        let attributes = try FileManager.default.attributesOfItem(atPath: bench.place.path)
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o640)
        // A log without its store.
        try bench.makeStore(bench.folder.appendingPathComponent("Third.sqlite"), "third", count: 2)
        try FileManager.default.removeItem(at: bench.folder.appendingPathComponent("Third.sqlite"))
        let third = StoreFiles(url: bench.folder.appendingPathComponent("Third.sqlite"))
        try third.replace(with: StoreFiles(url: bench.source))
        #expect(try bench.titles(third.url) == ["new 0"])
    }

    @Test func `large values of a store with the same name and another extension are kept`() throws {
        let bench = try Bench()
        defer { bench.remove() }
        try bench.makeStore(bench.source, "new", count: 1)
        try bench.makeStore(bench.place, "old", count: 2)
        let sibling = bench.folder.appendingPathComponent("Notes.db")
        try StoreFiles(url: sibling).replace(with: StoreFiles(url: bench.source))
        #expect(try bench.titles(bench.place) == ["old 0", "old 1"])
        try StoreFiles(url: sibling).destroy(forced: false)
        #expect(try bench.titles(bench.place) == ["old 0", "old 1"])
    }

    @Test func `a file that is not a store is replaced only if any file may be`() throws {
        let bench = try Bench()
        defer { bench.remove() }
        try bench.makeStore(bench.source, "new", count: 1)
        try Data(repeating: 65, count: 5000).write(to: bench.place)
        #expect(throws: CocoaError.self) { try bench.replace() }
        #expect(try Data(contentsOf: bench.place).count == 5000)
        let replacement = try StoreReplacement(at: bench.place)
        try FileManager.default.copyItem(at: bench.source, to: replacement.url)
        let error = #expect(throws: CocoaError.self) { try replacement.commit(replacing: .nothing) }
        #expect(error?.code == .fileWriteFileExists)
        try replacement.commit(replacing: .file)
        #expect(try Data(contentsOf: bench.place).starts(with: Data("SQLite format 3".utf8)))
    }
}
