import Foundation

@testable import ManagedObjects

/// The types of stores with which tests run. A server of PostgreSQL is named by an environment variable, which
/// `Scripts/test-postgresql` sets.
enum TestStores {
    /// The URL of the server's database; nil if there is none, or the trait is not enabled.
    static let server: String? = {
        #if PostgreSQL
            ProcessInfo.processInfo.environment["CORAL_POSTGRESQL"]
        #else
            nil
        #endif
    }()

    static let postgreSQL = "PostgreSQL"

    /// The types of stores with rows.
    static let rowTypes = [NSInMemoryStoreType] + sqlTypes
    /// The types of stores that execute SQL.
    static let sqlTypes = [NSSQLiteStoreType] + (server == nil ? [] : [postgreSQL])

    /// Whether tests that name no type use stores in PostgreSQL in place of SQLite's.
    static let replacesSQLite = server != nil && ProcessInfo.processInfo.environment["CORAL_PARITY_STORE"] != nil

    /// Whether the histories of all stores in PostgreSQL are numbered concurrently.
    static let numbersConcurrently = ProcessInfo.processInfo.environment["CORAL_CONCURRENT_HISTORY"] != nil

    static func options(_ options: [AnyHashable: Any]?, of type: String) -> [AnyHashable: Any]? {
        guard type == postgreSQL, numbersConcurrently else { return options }
        return (options ?? [:]).merging([ConcurrentHistoryOption: true]) { own, _ in own }
    }

    /// The location of a new store: in a schema of its own of the server's database, or in memory.
    static func url(_ type: String) -> URL? {
        switch type {
        case postgreSQL: schemaURL("test_" + UUID().uuidString.prefix(13).lowercased())
        case NSInMemoryStoreType: nil
        default: URL(fileURLWithPath: "/dev/null")
        }
    }

    /// Runs work with the location of a file for an SQLite store, in a folder of its own that is removed afterwards.
    static func withFile<Value>(_ body: (URL) throws -> Value) throws -> Value {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        return try body(folder.appendingPathComponent("Notes.sqlite"))
    }

    /// The location of a store in a schema of the server's database.
    static func schemaURL(_ schema: String) -> URL? {
        server.flatMap { URL(string: $0 + ($0.contains("?") ? "&" : "?") + "schema=" + schema) }
    }
}
