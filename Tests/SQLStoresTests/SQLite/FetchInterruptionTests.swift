import Foundation
import GRDB
import Synchronization
import Testing
@testable import EngineTesting
@testable import SQLiteConnections

@testable import FoundationAdditions
@testable import ContextPools
@testable import ManagedObjects

/// Fetches that are cancelled while SQLite executes them.
@Suite struct FetchInterruptionTests {
    private let context: NSManagedObjectContext
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)

    /// A store with so many rows that a comparison of all pairs takes hours.
    init() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let url = folder.appendingPathComponent("Store.sqlite")
        let node = NSEntityDescription()
        node.name = "Node"
        let title = NSAttributeDescription()
        (title.name, title.attributeType) = ("title", .stringAttributeType)
        let (parent, children) = (NSRelationshipDescription(), NSRelationshipDescription())
        (parent.name, parent.destinationEntity, parent.maxCount) = ("parent", node, 1)
        (children.name, children.destinationEntity, children.maxCount) = ("children", node, 0)
        (parent.inverseRelationship, children.inverseRelationship) = (children, parent)
        for relationship in [parent, children] { relationship.isOptional = true }
        node.properties = [title, parent, children]
        let model = NSManagedObjectModel()
        model.entities = [node]
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: nil)
        let queue = try DatabaseQueue(path: url.path)
        try queue.write { database in
            try database.execute(
                sql: """
                    WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 100000)
                    INSERT INTO ZNODE (Z_PK, Z_ENT, Z_OPT, ZTITLE, ZPARENT) SELECT x, 1, 1, 'title', 1 FROM n
                    """)
        }
        try queue.close()
        context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
    }

    /// For each of the children of one parent, all of them.
    private let request: NSFetchRequest<NSManagedObject> = {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Node")
        request.predicate = NSPredicate(format: "SUBQUERY(parent.children, $n, $n.title CONTAINS 'x').@count > 5")
        return request
    }()

    @Test func `a statement ends when it is requested, and the next one runs`() throws {
        let start = Date()
        #expect(throws: CocoaError(.userCancelled)) {
            try FetchInterruption.interrupting(when: { Date().timeIntervalSince(start) > 0.2 }) {
                try context.performAndWait { _ = try context.fetch(request) }
            }
        }
        let all = NSFetchRequest<NSManagedObject>(entityName: "Node")
        #expect(try context.performAndWait { try context.count(for: all) } == 100_000)
    }

    @Test func `cancelling the progress of an asynchronous fetch ends its statement`() async throws {
        let progress = Progress(totalUnitCount: 1)
        let isComplete = try await withCheckedThrowingContinuation { continuation in
            let asynchronous = NSAsynchronousFetchRequest(fetchRequest: request) { result in
                continuation.resume(returning: result.finalResult != nil)
            }
            context.performAndWait {
                progress.becomeCurrent(withPendingUnitCount: 1)
                defer { progress.resignCurrent() }
                do {
                    _ = try context.execute(asynchronous)
                } catch {
                    continuation.resume(throwing: error)
                }
            }
            DispatchQueue.global().asyncAfter(deadline: .now() + 0.2) { progress.cancel() }
        }
        #expect(!isComplete)
    }

    // MARK: - Requests of a pool

    private func pool() -> ContextPool {
        let coordinator = context.persistentStoreCoordinator
        return ContextPool(limit: 1) {
            let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            context.persistentStoreCoordinator = coordinator
            return context
        }
    }

    private static func count(_ context: NSManagedObjectContext) throws -> Int {
        try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Node"))
    }

    @Test func `the time of a request and its cancellation end its statement`() async throws {
        let pool = pool()
        nonisolated(unsafe) let request = request
        let error = await #expect(throws: CocoaError.self) {
            try await pool.withContext(timeout: .milliseconds(200)) { try $0.fetch(request).count }
        }
        #expect(error?.code == .persistentStoreTimeout)
        let task = Task { try await pool.withContext { try $0.fetch(request).count } }
        while pool.runningCount == 0 { try await Task.sleep(for: .milliseconds(1)) }
        try await Task.sleep(for: .milliseconds(100))
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try await pool.withContext(timeout: .seconds(600)) { try Self.count($0) } == 100_000)
    }

    @Test func `a request that hides the end of its time returns and saves nothing`() async throws {
        let pool = pool()
        nonisolated(unsafe) let request = request
        let saved = Mutex(false)
        let error = await #expect(throws: CocoaError.self) {
            try await pool.withContext(timeout: .milliseconds(200)) { context in
                let found = (try? context.fetch(request)) ?? []
                _ = NSEntityDescription.insertNewObject(forEntityName: "Node", into: context)
                if (try? context.save()) != nil { saved.withLock { $0 = true } }
                return found.count
            }
        }
        #expect(error?.code == .persistentStoreTimeout)
        #expect(!saved.withLock { $0 })
        #expect(try await pool.withContext { try Self.count($0) } == 100_000)
    }
}
