import ChildProcesses
import Coral
import NotesModel
import Testing

/// A process that is killed during a save leaves the store in the state before or after that save.
@Suite struct KilledSaveTests {
    /// The objects that each save of `MakeExampleStore` adds: people, notes and items. The four tags are unique.
    private static let objectsInASave = 3 + 40 + (1...40).reduce(0) { $0 + $1 % 4 }

    @Test func `a hundred kills never leave a partial save`() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let url = folder.appendingPathComponent("Notes.sqlite")
        var random = KillTimes(state: 7)
        var previous = 0
        for kill in 1...100 {
            try run(until: random.next(), on: url)
            let count = try countObjects(of: url)
            #expect(count == 0 || (count - 4) % Self.objectsInASave == 0, "after kill \(kill): \(count) objects")
            #expect(count >= previous, "after kill \(kill): saved objects are missing")
            previous = count
        }
        #expect(previous > 0)
        let report = try CommandRun("export", url.path, "-o", folder.appendingPathComponent("all.json").path)
        #expect(report.status == 0)
        #expect(!report.errors.contains("warning"), "a relationship is dangling")
    }

    /// Runs a process that saves repeatedly, and kills it.
    private func run(until milliseconds: UInt64, on url: URL) throws {
        let tests = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath()
        let program = tests.deletingLastPathComponent().appendingPathComponent("MakeExampleStore")
        let process = try ChildProcess(program, [url.path, "40", "1000000"])
        Thread.sleep(forTimeInterval: Double(milliseconds) / 1000)
        process.kill()
        process.wait()
    }

    private func countObjects(of url: URL) throws -> Int {
        guard FileManager.default.fileExists(atPath: url.path) else { return 0 }
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: .notes())
        let store = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: nil)
        defer { try? coordinator.remove(store) }
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return try context.performAndWait {
            try ["Person", "Tag", "Note", "Item"].reduce(0) { sum, name in
                try sum + context.count(for: NSFetchRequest<NSManagedObject>(entityName: name))
            }
        }
    }
}

/// Times between starting and killing, the same in every run.
private struct KillTimes {
    var state: UInt64

    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return 60 + (state >> 33) % 120
    }
}
