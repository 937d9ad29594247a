import CoreDataErrors
import Foundation
import ManagedObjects
import SQLStatements
import SQLStores
import SQLiteConnections

/// A problem with rows of a store, for all rows that have it.
package struct RowProblem: Sendable {
    /// The kinds of problems.
    package enum Kind: String, Sendable {
        case damagedFile, missingTable, wrongEntity, keyBeyondMaximum, danglingReference, disagreeingInverse, wrongType
        case missingFile, unusedFile, notUnique, ambiguousPosition, missingIndex
    }

    package var kind: Kind
    /// The entity, or the table if no entity is known.
    package var entity: String
    package var property: String?
    /// The number of rows, pairs, groups of rows or files.
    package var count: Int
    /// The first of them: the entity's name with primary keys, or the names of files.
    package var examples: [String]
    /// The problem, as a sentence.
    package var message: String
    /// The statements that repair the problem; empty if it cannot be repaired.
    var repairs: [SQLQuery] = []
    /// Files that are unreferenced after the repair.
    var unusedFiles: [UUID] = []

    package var isRepairable: Bool { !repairs.isEmpty || !unusedFiles.isEmpty }
}

extension RowProblem {
    /// A damage of the file that SQLite reports.
    init(damage message: String, count: Int) {
        self.init(
            kind: .damagedFile, entity: "", count: count, examples: [],
            message: "SQLite reports damage of the file: \(message).")
    }

    /// The damage of the file or the metadata that a store's error reports. Nil for any other error, such as a lock of
    /// another process.
    package init?(damage error: any Error) {
        guard let error = error as? CocoaError, error.code == .fileReadCorruptFile else { return nil }
        let reason = error.userInfo[NSLocalizedFailureReasonErrorKey] as? String
        if error.userInfo[NSSQLiteErrorDomain] != nil {
            self.init(damage: reason ?? error.localizedDescription, count: 1)
        } else {
            self.init(
                kind: .damagedFile, entity: "", count: 1, examples: [], message: reason ?? error.localizedDescription)
        }
    }
}
