// What the numbering of the history costs the writers of one store on a server: saves a second, with and without a history.
//
//     Scripts/test-postgresql --server-for Benchmarks/.build/release/server-writers [--numbering] [SECONDS] [WRITERS…]
//
// Each writer has a context and a connection of its own, and saves one new object at a time. With a history, transactions are
// numbered in the order of their commits: from the number to the commit, which waits for the disk, each holds a lock that the others
// wait for. Without a history nothing is waited for, and the server writes several commits to the disk together; so it does with
// `ConcurrentHistoryOption`.
//
// `--numbering` separates the lock from the rows of the history. The table of the numbers is replaced by a view, whose trigger gives
// the store's own statements their numbers: from the locked row as before, or from a sequence without a lock. So both write the same
// rows by the same statements, and the second is what a numbering without a lock would be at its best. Its history is incomplete for
// readers. Needs psql. The URL of the server is in the environment variable CORAL_POSTGRESQL.

#if PostgreSQL
    import CoralPostgreSQL
    import CoreData
    import Synchronization

    private let separatesNumbering = CommandLine.arguments.contains("--numbering")
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

    /// How the transactions of a store are numbered.
    private enum Numbering: String {
        case none = "without a history"
        case store = "with a history"
        case concurrent = "with a history, concurrently"
        case locked = "with a history, numbered by a trigger from the locked row"
        case lockFree = "with a history, numbered by a trigger without a lock"
    }

    private let schemaSuffix = String(UInt32.random(in: 0...UInt32.max), radix: 16)

    /// Replaces the table of the numbers by a view with a trigger.
    private func replaceNumbers(in schema: String, by numbering: Numbering) throws {
        let sql = """
            SET search_path TO "\(schema)";
            ALTER TABLE Z_PRIMARYKEY RENAME TO Z_NUMBERS;
            CREATE SEQUENCE TRANSACTION_NUMBERS; CREATE SEQUENCE CHANGE_NUMBERS;
            CREATE VIEW Z_PRIMARYKEY AS SELECT * FROM Z_NUMBERS;
            CREATE FUNCTION GIVE_NUMBER() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                IF \(numbering == .lockFree) AND NEW.Z_ENT = 16002 THEN
                    NEW.Z_MAX := nextval('"\(schema)".TRANSACTION_NUMBERS');
                ELSIF \(numbering == .lockFree) AND NEW.Z_ENT = 16001 THEN
                    NEW.Z_MAX := nextval('"\(schema)".CHANGE_NUMBERS');
                ELSE
                    UPDATE "\(schema)".Z_NUMBERS SET Z_MAX = Z_MAX + NEW.Z_MAX - OLD.Z_MAX WHERE Z_ENT = NEW.Z_ENT
                    RETURNING Z_MAX INTO NEW.Z_MAX;
                END IF;
                RETURN NEW;
            END $$;
            CREATE TRIGGER GIVE_NUMBER INSTEAD OF UPDATE ON Z_PRIMARYKEY FOR EACH ROW EXECUTE FUNCTION GIVE_NUMBER();
            """
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["psql", "-Xq", "-v", "ON_ERROR_STOP=1", "-c", sql, server]
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { fatalError("psql has failed.") }
    }

    /// The saves that a number of writers complete in the given time, and their durations.
    private func run(writers: Int, _ numbering: Numbering) throws -> [Duration] {
        let schema = "writers_\(writers)_\(numbering)_\(schemaSuffix)".lowercased()
        let description = NSPersistentStoreDescription.postgreSQL(url: server, schema: schema)
        description.setOption(NSNumber(value: numbering != .none), forKey: NSPersistentHistoryTrackingKey)
        description.setOption(NSNumber(value: numbering == .concurrent), forKey: ConcurrentHistoryOption)
        description.setOption(NSNumber(value: writers), forKey: NSPersistentStoreConnectionPoolMaxSizeKey)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model())
        nonisolated(unsafe) var failure: (any Error)?
        coordinator.addPersistentStore(with: description) { failure = $1 }
        if let failure { throw failure }
        if [.locked, .lockFree].contains(numbering) { try replaceNumbers(in: schema, by: numbering) }
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
                    // A save that ends later is not one of this time.
                    guard ContinuousClock.now <= end else { return }
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
        for numbering in [Numbering.none, .store, .concurrent] + (separatesNumbering ? [.locked, .lockFree] : []) {
            let durations = try run(writers: writers, numbering)
            func milliseconds(_ part: Double) -> Double {
                durations[min(durations.count - 1, Int(Double(durations.count) * part))] / .milliseconds(1)
            }
            print(
                String(
                    format: "%d writers, %@: %d saves a second, median %.1f ms, 99th percentile %.1f ms", writers,
                    numbering.rawValue, durations.count / seconds,
                    milliseconds(0.5), milliseconds(0.99)))
        }
    }
#else
    import Foundation

    FileHandle.standardError.write(Data("Build with --traits PostgreSQL.\n".utf8))
    exit(2)
#endif
