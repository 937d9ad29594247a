import Foundation
import Synchronization
@testable import SQLiteConnections

@testable import ManagedObjects

/// The statements that a store has executed.
final class StatementLog: Sendable {
    private let statements = Mutex<[String]>([])

    /// Opens a stack whose statements are logged.
    func stack(
        model: NSManagedObjectModel = NotesModel.make(), url: URL = URL(fileURLWithPath: "/dev/null"),
        options: [AnyHashable: Any]? = nil
    ) throws -> TestStack {
        try StoreConnection.$statementObserver.withValue({ [self] statement in
            statements.withLock { $0.append(statement) }
        }) {
            try TestStack(model: model, url: url, options: options)
        }
    }

    /// The statements that read or write rows, without those that begin and end transactions.
    func counting(_ work: () throws -> Void) rethrows -> [String] {
        statements.withLock { $0 = [] }
        try work()
        return statements.withLock { all in
            all.filter { statement in
                !["BEGIN", "COMMIT", "ROLLBACK", "PRAGMA", "SAVEPOINT", "RELEASE"].contains { statement.hasPrefix($0) }
            }
        }
    }
}
