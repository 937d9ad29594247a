import CoreDataErrors
import Foundation
import Synchronization
import Testing

@testable import EngineTesting

@testable import ContextPools
@testable import ManagedObjects

/// Requests for the stores of many tenants, in files.
@Suite struct TenantPoolTests {
    private let folder: URL
    /// The names with which descriptions were asked for.
    private let asked = Asked()

    private final class Asked: Sendable {
        private let names = Mutex<[String]>([])

        func add(_ name: String) { names.withLock { $0.append(name) } }
        var all: [String] { names.withLock { $0 } }
    }

    init() throws {
        folder = URL(fileURLWithPath: NSTemporaryDirectory() + "tenants-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    private func pool(limit: Int = 4, openLimit: Int) -> TenantPool {
        TenantPool(managedObjectModel: NotesModel.make(), limit: limit, openLimit: openLimit) { [folder, asked] name in
            asked.add(name)
            guard name != "nobody" else { throw CocoaError(.fileNoSuchFile) }
            return NSPersistentStoreDescription(url: folder.appendingPathComponent("\(name).sqlite"))
        }
    }

    /// The titles of a tenant's notes.
    private static func titles(_ context: NSManagedObjectContext) throws -> Set<String> {
        Set(try context.all("Note").compactMap { $0.value(forKey: "title") as? String })
    }

    @Test func `many tenants at once see their own objects, and at most some stores stay open`() async throws {
        let pool = pool(openLimit: 5)
        try await withThrowingTaskGroup { group in
            for number in 0..<200 {
                group.addTask {
                    try await pool.withContext(for: "t\(number % 20)") { context in
                        _ = context.insert("Note", ["title": "\(number)"])
                        try context.save()
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(pool.openCount <= 5)
        for tenant in 0..<20 {
            let found = try await pool.withContext(for: "t\(tenant)", Self.titles)
            #expect(found == Set((0..<10).map { "\(tenant + 20 * $0)" }))
        }
        #expect(pool.openCount == 5)
    }

    @Test func `the store that was not used for the longest time is closed, and opened again when it is needed`()
        async throws
    {
        let pool = pool(openLimit: 2)
        for name in ["a", "b", "a", "c"] { try await pool.withContext(for: name) { _ in } }
        #expect(pool.openCount == 2)
        #expect(asked.all == ["a", "b", "c"])
        try await pool.withContext(for: "a") { _ in }
        #expect(asked.all == ["a", "b", "c"])
        try await pool.withContext(for: "b") { _ in }
        #expect(asked.all == ["a", "b", "c", "b"])
    }

    @Test func `a store that a request uses stays open beyond the limit`() async throws {
        let pool = pool(openLimit: 1)
        try await pool.withContext(for: "a") { context in
            _ = context.insert("Note", ["title": "kept"])
            let other = DispatchSemaphore(value: 0)
            Task {
                try await pool.withContext(for: "b") { _ in }
                other.signal()
            }
            other.wait()
            try context.save()
        }
        #expect(try await pool.withContext(for: "a", Self.titles) == ["kept"])
        #expect(pool.openCount == 1)
    }

    @Test func `an unknown tenant is an error of its request, and is asked for again`() async throws {
        let pool = pool(openLimit: 2)
        for _ in 0..<2 {
            await #expect(throws: CocoaError(.fileNoSuchFile)) { try await pool.withContext(for: "nobody") { _ in } }
        }
        #expect(asked.all == ["nobody", "nobody"])
        #expect(pool.openCount == 0)
    }

    @Test
    func `after a store was closed, the next request asks for its description again, even if the store was in use`()
        async throws
    {
        let pool = pool(openLimit: 2)
        try await pool.withContext(for: "a") { context in
            pool.close("a")
            _ = context.insert("Note", ["title": "saved while closing"])
            try context.save()
        }
        #expect(pool.openCount == 0)
        #expect(try await pool.withContext(for: "a", Self.titles) == ["saved while closing"])
        pool.close("a")
        pool.close("unknown")
        #expect(pool.openCount == 0)
        #expect(asked.all == ["a", "a"])
    }

    @Test func `a store that was migrated by another process is opened anew by the next request`() async throws {
        let pool = pool(openLimit: 2)
        let migrated = CocoaError(.persistentStoreIncompatibleVersionHash)
        await #expect(throws: migrated) { try await pool.withContext(for: "a") { _ in throw migrated } }
        #expect(pool.openCount == 0)
    }

    @Test func `the pool remembers no more visits than it has stores`() async throws {
        let pool = pool(openLimit: 3)
        for number in 0..<2000 { try await pool.withContext(for: "t\(number % 2)") { _ in } }
        #expect(pool.openCount == 2)
        #expect(pool.rememberedVisitCount <= 104)
    }

    @Test func `at the end the stores are closed, and later requests fail`() async throws {
        let pool = pool(openLimit: 2)
        try await pool.withContext(for: "a") { _ in }
        await pool.shutDown()
        #expect(pool.openCount == 0)
        await #expect(throws: CocoaError.self) { try await pool.withContext(for: "a") { _ in } }
    }
}
