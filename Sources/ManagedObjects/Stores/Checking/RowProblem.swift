import Foundation

/// Something that is wrong with the rows of a store, for all rows that it is wrong with.
package struct RowProblem: Sendable {
    /// What can be wrong with rows.
    package enum Kind: String, Sendable {
        case damagedFile, missingTable, wrongEntity, keyBeyondMaximum, danglingReference, disagreeingInverse, wrongType
        case missingFile, unusedFile, notUnique
    }

    package var kind: Kind
    /// The entity, or the table where no entity is known.
    package var entity: String
    package var property: String?
    /// How many rows, pairs, groups of rows or files.
    package var count: Int
    /// The first of them: primary keys with the entity's name, or the names of files.
    package var examples: [String]
    /// What is wrong, as a sentence.
    package var message: String
    /// What would put it right; empty where nobody can know.
    var repairs: [SQLQuery] = []
    /// Files that nothing refers to any more once it is put right.
    var unusedFiles: [String] = []

    package var isRepairable: Bool { !repairs.isEmpty || !unusedFiles.isEmpty }
}

extension RowProblem {
    /// What SQLite says about a damaged file.
    init(damage message: String, count: Int) {
        self.init(
            kind: .damagedFile, entity: "", count: count, examples: [],
            message: "SQLite finds the file damaged: \(message).")
    }

    /// The damage that an error of a store reports: of the file, or of what the store says of itself. Nil where the error is
    /// about something else, such as another process that is writing.
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
