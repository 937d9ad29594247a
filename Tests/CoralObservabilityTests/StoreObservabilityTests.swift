#if Observability
    import CoreData
    import CoralObservability
    import Foundation
    import InMemoryLogging
    import InMemoryTracing
    import Logging
    import MetricsTestKit
    import ServiceContextModule
    import ServiceLifecycle
    import ServiceLifecycleTestKit
    import Testing

    /// One after the other, because a process has one observer.
    @Suite(.serialized) struct StoreObservabilityTests {
        private let container: NSPersistentContainer
        private let logs = InMemoryLogHandler()
        private let metrics = TestMetrics()
        private let tracer = InMemoryTracer()

        init() throws {
            let (title, note) = (NSAttributeDescription(), NSEntityDescription())
            (title.name, title.attributeType) = ("title", .stringAttributeType)
            (note.name, note.properties) = ("Note", [title])
            let model = NSManagedObjectModel()
            model.entities = [note]
            container = NSPersistentContainer(name: "Notes", managedObjectModel: model)
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            container.persistentStoreDescriptions = [
                NSPersistentStoreDescription(url: folder.appendingPathComponent("Notes.sqlite"))
            ]
        }

        private func observe(slowStatement: Duration = .seconds(3600)) throws {
            var logger = Logger(label: "stores") { [logs] _ in logs }
            logger.logLevel = .debug
            StoreObservability(logger: logger, slowStatement: slowStatement, metrics: metrics, tracer: tracer).start()
            try load()
        }

        private func load() throws {
            nonisolated(unsafe) var failure: (any Error)?
            container.loadPersistentStores { failure = $1 }
            if let failure { throw failure }
        }

        private static func insert(_ title: String, in context: NSManagedObjectContext) throws {
            NSEntityDescription.insertNewObject(forEntityName: "Note", into: context).setValue(title, forKey: "title")
            try context.save()
        }

        private static func titles(_ context: NSManagedObjectContext) throws -> [String] {
            try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Note"))
                .compactMap { $0.value(forKey: "title") as? String }
        }

        @Test func `saves, fetches, statements, rows and requests are counted, and are spans of the task`() async throws
        {
            try observe()
            defer { StoreObservability.stop() }
            let pool = ContextPool(container, limit: 1)
            try await tracer.withSpan("GET /notes") { _ in
                try await pool.withContext { context in
                    for number in 0..<3 { try Self.insert("n\(number)", in: context) }
                }
                #expect(try await pool.withContext { try Self.titles($0).count } == 3)
            }
            #expect(try metrics.expectTimer("coral.saves").values.count == 3)
            #expect(try metrics.expectTimer("coral.fetches").values.count == 1)
            #expect(try metrics.expectTimer("coral.requests").values.count == 2)
            #expect(try metrics.expectCounter("coral.rows").totalValue == 3)
            #expect(try metrics.expectMeter("coral.pool.running").lastValue == 0)
            let spans = tracer.finishedSpans
            let root = try #require(spans.first { $0.operationName == "GET /notes" })
            let saves = spans.filter { $0.operationName == "coral.save" }
            #expect(saves.count == 3 && saves.allSatisfy { $0.parentSpanID == root.spanID })
            let statements = spans.filter { $0.operationName == "coral.statement" && $0.traceID == root.traceID }
            let texts = statements.map { String(describing: $0.attributes["db.query.text"]) }
            #expect(texts.contains { $0.contains("INSERT INTO ZNOTE") })
            let timed = try metrics.expectTimer("coral.statements").values.count
            #expect(timed >= statements.count && statements.count >= 4)
        }

        @Test func `a slow statement is logged with its request, and without values`() async throws {
            try observe(slowStatement: .zero)
            defer { StoreObservability.stop() }
            var service = ServiceContext.topLevel
            service.storeRequest = "POST /notes"
            let pool = ContextPool(container)
            try await ServiceContext.withValue(service) {
                try await pool.withContext { try Self.insert("secret", in: $0) }
            }
            let slow = logs.entries.filter { $0.message == "A statement was slow." }
            let insertion = try #require(
                slow.first { $0.metadata["statement"]?.description.contains("INSERT INTO ZNOTE") == true })
            #expect(insertion.level == .warning && insertion.metadata["request"] == "POST /notes")
            #expect(!slow.contains { "\($0.metadata)".contains("secret") })
        }

        @Test func `conflicts and failed saves are counted and logged`() async throws {
            try observe()
            defer { StoreObservability.stop() }
            let (first, second) = (container.newBackgroundContext(), container.newBackgroundContext())
            try await first.perform { try Self.insert("one", in: first) }
            func change(_ context: NSManagedObjectContext) throws {
                let note = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Note"))[0]
                note.setValue("\(note.value(forKey: "title") ?? "")!", forKey: "title")
            }
            try await second.perform { try change(second) }
            try await first.perform {
                try change(first)
                try first.save()
            }
            await #expect(throws: CocoaError.self) { try await second.perform { try second.save() } }
            #expect(try metrics.expectCounter("coral.conflicts").totalValue == 1)
            #expect(try metrics.expectCounter("coral.errors").totalValue == 1)
            #expect(
                logs.entries.contains {
                    $0.message == "A save has failed." && $0.metadata["error"] == "NSCocoaErrorDomain 133020"
                })
        }

        @Test func `the time in the queue of a pool is recorded`() async throws {
            try observe()
            defer { StoreObservability.stop() }
            let pool = ContextPool(container, limit: 1)
            let mayEnd = DispatchSemaphore(value: 0)
            let running = Task { try await pool.withContext { _ in mayEnd.wait() } }
            while pool.runningCount == 0 { try await Task.sleep(for: .milliseconds(1)) }
            let waiting = Task { try await pool.withContext { try Self.titles($0) } }
            while pool.waitingCount == 0 { try await Task.sleep(for: .milliseconds(1)) }
            mayEnd.signal()
            try await running.value
            #expect(try await waiting.value == [])
            #expect(try metrics.expectTimer("coral.waits").values.count == 1)
            #expect(try metrics.expectMeter("coral.pool.waiting").values.contains(1))
        }

        @Test func `nothing is reported without an observer`() async throws {
            try observe()
            StoreObservability.stop()
            let context = container.newBackgroundContext()
            let statements = try metrics.expectTimer("coral.statements").values.count
            try await context.perform { try Self.insert("one", in: context) }
            #expect(try metrics.expectTimer("coral.saves").values.isEmpty)
            #expect(try metrics.expectTimer("coral.statements").values.count == statements)
        }

        @Test func `a shutdown lets accepted requests end, refuses others and closes the stores`() async throws {
            try load()
            let pool = ContextPool(container, limit: 1)
            let service = StoreService(container, pools: [pool])
            let mayEnd = DispatchSemaphore(value: 0)
            try await testGracefulShutdown { trigger in
                let end = Task { try await service.run() }
                let running = Task {
                    try await pool.withContext { context in
                        mayEnd.wait()
                        try Self.insert("last", in: context)
                    }
                }
                while pool.runningCount == 0 { try await Task.sleep(for: .milliseconds(1)) }
                let queued = Task { try await pool.withContext { try Self.titles($0) } }
                while pool.waitingCount == 0 { try await Task.sleep(for: .milliseconds(1)) }
                trigger.triggerGracefulShutdown()
                // A request is refused as soon as the pool has noticed the shutdown; until then it is cancelled in the queue.
                var code: CocoaError.Code?
                while code != .persistentStoreOperation {
                    do {
                        try await pool.withContext(timeout: .milliseconds(5)) { _ in }
                    } catch let error as CocoaError {
                        code = error.code
                    }
                }
                #expect(!container.persistentStoreCoordinator.persistentStores.isEmpty)
                mayEnd.signal()
                try await running.value
                #expect(try await queued.value == ["last"])
                try await end.value
            }
            #expect(container.persistentStoreCoordinator.persistentStores.isEmpty)
        }
    }
#endif
