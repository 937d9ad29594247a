// The time of the same work with a store in a file and with one on a server.
//
//     Scripts/test-postgresql --server-for Benchmarks/.build/release/server-store [ROUNDS]
//
// The two stores take turns. Prints the medians of the rounds (5 by default), and their ratios. The URL of the server is in
// the environment variable CORAL_POSTGRESQL.

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

    private func seconds(_ body: () throws -> Void) rethrows -> Double {
        let start = DispatchTime.now().uptimeNanoseconds
        try body()
        return Double(DispatchTime.now().uptimeNanoseconds - start) / 1e9
    }

    /// The time to fetch all notes with their values.
    private func fetch(_ coordinator: NSPersistentStoreCoordinator) throws -> Double {
        let context = context(coordinator)
        return try context.performAndWait {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
            request.returnsObjectsAsFaults = false
            return try seconds { guard try context.fetch(request).count == noteCount else { throw Failure.count } }
        }
    }

    /// The time to save a thousand changed notes.
    private func save(_ coordinator: NSPersistentStoreCoordinator, round: Int) throws -> Double {
        let context = context(coordinator)
        return try context.performAndWait {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
            request.predicate = NSPredicate(format: "count < 1000")
            let notes = try context.fetch(request)
            guard notes.count == 1000 else { throw Failure.count }
            for note in notes { note.setValue("Changed \(round)", forKey: "title") }
            return try seconds { try context.save() }
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
    private let stores = [
        try coordinator(NSPersistentStoreDescription(url: folder.appendingPathComponent("Notes.sqlite"))),
        try coordinator(.postgreSQL(url: server, schema: "benchmark")),
    ]
    private var fetches: [[Double]] = [[], []]
    private var saves: [[Double]] = [[], []]
    for round in 0..<rounds {
        for (index, store) in stores.enumerated() {
            fetches[index].append(try fetch(store))
            saves[index].append(try save(store, round: round))
        }
    }
    for (name, times) in [("fetch of 100,000 notes", fetches), ("save of 1,000 changed notes", saves)] {
        let (file, server) = (median(times[0]), median(times[1]))
        print(String(format: "%@: file %.3f s, server %.3f s, ratio %.2f", name, file, server, server / file))
    }
#else
    import Foundation

    FileHandle.standardError.write(Data("Build with --traits PostgreSQL.\n".utf8))
    exit(2)
#endif
