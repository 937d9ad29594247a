import GRDB
import SQLStores
import SQLiteConnections

/// A statement that is executed for many rows. It is prepared when it is first used: to write its text, by which the connection
/// finds a prepared statement, costs as much as to execute it for one row.
final class RepeatedStatement {
    private let command: any SQLCommand
    private var statement: SQLStatement?

    init(_ command: any SQLCommand) { self.command = command }

    func prepared(in database: Database) throws -> SQLStatement {
        if let statement { return statement }
        let prepared = try SQLStatement(command, in: database)
        statement = prepared
        return prepared
    }
}
