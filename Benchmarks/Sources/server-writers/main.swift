// What the numbering of the history costs the writers of one store on a server: saves a second, with and without a history.
//
//     Scripts/test-postgresql --server-for Benchmarks/.build/release/server-writers [SECONDS] [WRITERS…]
//
// Each writer has a context and a connection of its own, and saves one new object at a time. With a history, transactions are
// numbered in the order of their commits: from the number to the commit, which waits for the disk, each holds a lock that the others
// wait for. Without a history nothing is waited for, and the server writes several commits to the disk together. The difference is
// what a numbering without a lock could gain at most. The URL of the server is in the environment variable CORAL_POSTGRESQL.

#if PostgreSQL
    import CoralPostgreSQL
    import CoreData
    import Synchronization

    private let arguments = CommandLine.arguments.dropFirst().compactMap(Int.init)
    private let seconds = arguments.first ?? 5
    private let writerCounts = arguments.count > 1 ? Array(arguments.dropFirst()) : [1, 8, 64]

    guard let server = ProcessInfo.processInfo.environment["CORAL_POSTGRESQL"] else {
        FileHandle.standardError.write(Data("CORAL_POSTGRESQL is not set.\n".utf8))
        exit(2)
    }

    private func model() -> NSManagedObjectModel {
        let entity = NSEntityDescription()
        entity.name = "Note"
        entity.properties = ["title", "text"].map { name in
            let attribute = NSAttributeDescription()
            attribute.name = name
            attribute.attributeType = .stringAttributeType
            return attribute
        }
        let model = NSManagedObjectModel()
        model.entities = [entity]
        return model
    }

    /// The saves that a number of writers complete in the given time, and their durations.
    private func run(writers: Int, keepsHistory: Bool) throws -> [Duration] {
        let description = NSPersistentStoreDescription.postgreSQL(
            url: server, schema: "writers_\(writers)_\(keepsHistory ? "history" : "plain")")
        description.setOption(NSNumber(value: keepsHistory), forKey: NSPersistentHistoryTrackingKey)
        description.setOption(NSNumber(value: writers), forKey: NSPersistentStoreConnectionPoolMaxSizeKey)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model())
        nonisolated(unsafe) var failure: (any Error)?
        coordinator.addPersistentStore(with: description) { failure = $1 }
        if let failure { throw failure }
        let durations = Mutex<[Duration]>([])
        let group = DispatchGroup()
        let end = ContinuousClock.now + .seconds(seconds)
        for writer in 0..<writers {
            group.enter()
            Thread.detachNewThread {
                defer { group.leave() }
                let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
                context.persistentStoreCoordinator = coordinator
                while ContinuousClock.now < end {
                    let start = ContinuousClock.now
                    let isSaved = context.performAndWait {
                        let note = NSEntityDescription.insertNewObject(forEntityName: "Note", into: context)
                        note.setValue("note of \(writer)", forKey: "title")
                        note.setValue(String(repeating: "text ", count: 40), forKey: "text")
                        defer { context.reset() }
                        return (try? context.save()) != nil
                    }
                    guard isSaved else { fatalError("A save has failed.") }
                    let duration = start.duration(to: .now)
                    durations.withLock { $0.append(duration) }
                }
            }
        }
        group.wait()
        for store in coordinator.persistentStores { try coordinator.remove(store) }
        return durations.withLock { $0.sorted() }
    }

    for writers in writerCounts {
        for keepsHistory in [false, true] {
            let durations = try run(writers: writers, keepsHistory: keepsHistory)
            func milliseconds(_ part: Double) -> Double {
                durations[min(durations.count - 1, Int(Double(durations.count) * part))] / .milliseconds(1)
            }
            print(
                String(
                    format: "%d writers, %@: %d saves a second, median %.1f ms, 99th percentile %.1f ms", writers,
                    keepsHistory ? "with a history" : "without a history", durations.count / seconds,
                    milliseconds(0.5), milliseconds(0.99)))
        }
    }
#else
    import Foundation

    FileHandle.standardError.write(Data("Build with --traits PostgreSQL.\n".utf8))
    exit(2)
#endif
