import GRDB
import GRDBSQLite
import Synchronization

/// Finds out whether another process has migrated a store to another version of its model since it was opened. Its rows then
/// contain other numbers of entities.
///
/// A migration changes the version of SQLite's schema. So the metadata are read only if that version has changed, and it is
/// read only if a connection reads a commit that it has not read before. Cost of other reads: no statement.
package final class ModelVersionCheck: Sendable {
    private struct State {
        var check: (@Sendable (Database) throws -> Void)?
        /// The version of the schema that last passed the check.
        var schemaVersion: Int64?
        /// The versions of the database, by connection, that last passed.
        var dataVersions: [UInt: UInt32] = [:]
    }

    private let state = Mutex(State())

    /// Sets the check: it reads the metadata, and throws an error if they do not fit the model.
    ///
    /// - Parameter version: A version of the schema that passes.
    package func set(_ check: @escaping @Sendable (Database) throws -> Void, passed version: Int64) {
        state.withLock { $0 = State(check: check, schemaVersion: version) }
    }

    /// Removes a connection: another one may have had the same address.
    ///
    /// - Parameter isOtherFile: Whether the file may have been replaced.
    package func remove(_ database: Database, isOtherFile: Bool) {
        state.withLock { state in
            state.dataVersions[Self.key(of: database)] = nil
            if isOtherFile { state.schemaVersion = nil }
        }
    }

    /// Checks the state that a connection has read last, or that its transaction reads.
    ///
    /// - Throws: The error of the check.
    package func verify(_ database: Database) throws {
        let (isSet, passed) = state.withLock { ($0.check != nil, $0.dataVersions[Self.key(of: database)]) }
        guard isSet, passed == nil || passed != Self.dataVersion(of: database) else { return }
        try verifyState(of: database)
    }

    /// Reads the version of the schema, with which a read transaction begins, and checks the state of the transaction.
    ///
    /// - Throws: The error of the check.
    func verifyState(of database: Database) throws {
        let (check, passed) = state.withLock { ($0.check, $0.schemaVersion) }
        guard let check else { return }
        let version = try Self.schemaVersion(of: database)
        if version != passed {
            try check(database)
            state.withLock { $0.schemaVersion = version }
        }
        pass(database)
    }

    /// Records that the present state needs no check.
    package func pass(_ database: Database) {
        let version = Self.dataVersion(of: database)
        state.withLock { $0.dataVersions[Self.key(of: database)] = version }
    }

    private static func key(of database: Database) -> UInt { UInt(bitPattern: database.sqliteConnection) }

    /// A number that changes with every transaction of any connection that the connection has seen.
    private static func dataVersion(of database: Database) -> UInt32? {
        var version: UInt32 = 0
        let code = sqlite3_file_control(database.sqliteConnection, "main", SQLITE_FCNTL_DATA_VERSION, &version)
        return code == SQLITE_OK ? version : nil
    }

    private static func schemaVersion(of database: Database) throws -> Int64 {
        let statement = try SQLStatement("PRAGMA schema_version", in: database)
        defer { statement.finish() }
        return try statement.step() ? statement.integer(0) : 0
    }
}
