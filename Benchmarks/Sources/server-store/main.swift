// The time of the same work with a store in a file and with one on a server.
//
//     Scripts/test-postgresql --server-for Benchmarks/.build/release/server-store [ROUNDS]
//
// The stores are measured alternately: one in a file, one in a file whose commits are written to disk like the server's, and
// one on the server. Prints the medians of the rounds (5 by default), their ratios, and the processor time of this process,
// without the server's. The URL of the server is in the environment variable CORAL_POSTGRESQL.

#if PostgreSQL
    import CoralPostgreSQL
    import CoreData
    import Dispatch

    private let rounds = CommandLine.arguments.dropFirst().first.flatMap(Int.init) ?? 5
    private let noteCount = 100_000

    private func model() -> NSManagedObjectModel {
        let note = NSEntityDescription()
        note.name = "Note"
        note.managedObjectClassName = "NSManagedObject"
        for (name, type) in [
            ("title", NSAttributeType.stringAttributeType), ("count", .integer64AttributeType),
            ("rank", .doubleAttributeType), ("identifier", .UUIDAttributeType), ("createdAt", .dateAttributeType),
        ] {
            let attribute = NSAttributeDescription()
            attribute.name = name
            attribute.attributeType = type
            attribute.isOptional = true
            note.properties.append(attribute)
        }
        let model = NSManagedObjectModel()
        model.entities = [note]
        return model
    }

    /// A coordinator with one store that contains all notes.
    private func coordinator(_ description: NSPersistentStoreDescription) throws -> NSPersistentStoreCoordinator {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model())
        description.setOption(NSNumber(value: true), forKey: NSPersistentHistoryTrackingKey)
        var failure: (any Error)?
        coordinator.addPersistentStore(with: description) { _, error in failure = error }
        if let failure { throw failure }
        for start in stride(from: 0, to: noteCount, by: 10_000) {
            let context = context(coordinator)
            try context.performAndWait {
                for number in start..<(start + 10_000) {
                    let note = NSEntityDescription.insertNewObject(forEntityName: "Note", into: context)
                    note.setValue("Title \(number)", forKey: "title")
                    note.setValue(number, forKey: "count")
                    note.setValue(Double(number) / 7, forKey: "rank")
                    note.setValue(UUID(), forKey: "identifier")
                    note.setValue(Date(timeIntervalSinceReferenceDate: Double(number)), forKey: "createdAt")
                }
                try context.save()
            }
        }
        return coordinator
    }

    private func context(_ coordinator: NSPersistentStoreCoordinator) -> NSManagedObjectContext {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    /// The time of some work, and the processor time of this process.
    private struct Cost {
        let elapsed: Double
        let processor: Double

        init(_ body: () throws -> Void) rethrows {
            func now(_ clock: clockid_t) -> Double {
                var time = timespec()
                clock_gettime(clock, &time)
                return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
            }
            let (start, startOfProcess) = (now(CLOCK_MONOTONIC), now(CLOCK_PROCESS_CPUTIME_ID))
            try body()
            (elapsed, processor) = (now(CLOCK_MONOTONIC) - start, now(CLOCK_PROCESS_CPUTIME_ID) - startOfProcess)
        }
    }

    /// The cost of fetching all notes with their values.
    private func fetch(_ coordinator: NSPersistentStoreCoordinator) throws -> Cost {
        let context = context(coordinator)
        return try context.performAndWait {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
            request.returnsObjectsAsFaults = false
            return try Cost { guard try context.fetch(request).count == noteCount else { throw Failure.count } }
        }
    }

    /// The cost of saving a thousand changed notes.
    private func save(_ coordinator: NSPersistentStoreCoordinator, round: Int) throws -> Cost {
        let context = context(coordinator)
        return try context.performAndWait {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
            request.predicate = NSPredicate(format: "count < 1000")
            let notes = try context.fetch(request)
            guard notes.count == 1000 else { throw Failure.count }
            for note in notes { note.setValue("Changed \(round)", forKey: "title") }
            return try Cost { try context.save() }
        }
    }

    private enum Failure: Error { case count }

    private func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }

    guard let server = ProcessInfo.processInfo.environment["CORAL_POSTGRESQL"] else {
        FileHandle.standardError.write(Data("CORAL_POSTGRESQL is not set.\n".utf8))
        exit(2)
    }
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("server-store-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    private let file = NSPersistentStoreDescription(url: folder.appendingPathComponent("Notes.sqlite"))
    private let synchronizedFile = NSPersistentStoreDescription(
        url: folder.appendingPathComponent("Synchronized.sqlite"))
    synchronizedFile.setValue("FULL" as NSString, forPragmaNamed: "synchronous")
    private let stores = [
        ("file", try coordinator(file)), ("file with synchronous commits", try coordinator(synchronizedFile)),
        ("server", try coordinator(.postgreSQL(url: server, schema: "benchmark"))),
    ]
    private var fetches: [[Cost]] = stores.map { _ in [] }
    private var saves: [[Cost]] = stores.map { _ in [] }
    for round in 0..<rounds {
        for (index, store) in stores.enumerated() {
            fetches[index].append(try fetch(store.1))
            saves[index].append(try save(store.1, round: round))
        }
    }
    for (name, costs) in [("fetch of 100,000 notes", fetches), ("save of 1,000 changed notes", saves)] {
        let server = median(costs[2].map(\.elapsed))
        for (store, costs) in zip(stores, costs) {
            let (elapsed, processor) = (median(costs.map(\.elapsed)), median(costs.map(\.processor)))
            print(
                "\(name), \(store.0): "
                    + String(
                        format: "%.1f ms, processor %.1f ms; the server takes %.2f times as long", elapsed * 1000,
                        processor * 1000, server / elapsed))
        }
    }
#else
    import Foundation

    FileHandle.standardError.write(Data("Build with --traits PostgreSQL.\n".utf8))
    exit(2)
#endif
