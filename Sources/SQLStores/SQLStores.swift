import Foundation
import ManagedObjects

// The stores in databases. Reading begins here.
//
// `SQLite` and `PostgreSQL` contain the two stores; each begins in the file of its name. All else is independent of a database.
// Statements are values (`SQLInsert`, `SQLUpdate`, `SQLDelete`, `SQLSelect`, `SQLTableDefinition`, `SQLAlteration`, …, in the module
// `SQLStatements`), and an `SQLDialect` writes them as text: parameters, lists of values, names of types, operators for NULL, functions
// and limits.
//
// - `Schema`: the values of a model (`SchemaModel`), its tables, columns and numbers (`SQLSchema`), from which `SQLEntity`, `SQLPairs`
//   and `KeyCommands` build statements. No class of Core Data stands there, nor in the folders for queries, values of rows, history and
//   migration (`Scripts/check-modules`): `SchemaDescriptions.swift` computes the values from descriptions, and finds the tables of the
//   descriptions in a request.
// - `Queries`: predicates become an `SQLFragment`; `QueryDivision` determines which part of one cannot be translated.
// - `Reading`: `SQLRowStore` executes queries for each store whose connections are an `SQLDatabase`; `RowReader` fills pages from cursors.
// - `Writing`, `Batches`: values of rows, and batch requests (`SQLBatchStore`).
// - `History`: the changed rows of a transaction are collected in `HistoryRows`.
// - `Migration`: the statements of a migration in place (`InPlacePlan`).
//
// Where a rule is:
// - the names of tables, columns and join tables: `Schema/SQLSchemaBuilder.swift`
// - where the members of a relationship refer to their owner: `Schema/SQLSchema.swift`
// - which part of a predicate SQL evaluates: `Queries/QueryDivision.swift`
// - the primary keys of new rows of a file: `SQLite/Writing/PrimaryKeys.swift`
// - the statements that write the rows of an entity: `Schema/SQLEntity+Commands.swift`
// - which rows of a table are an entity's: `Schema/SQLEntity+Commands.swift`
// - the rows for which a predicate that the database cannot evaluate may be true:
//   `Queries/SQLWriter+Candidates.swift`
// - when files of large values are on disk and are removed: `SQLite/Writing/TransactionFiles.swift`
// - which properties a change of the history names: `History/ChangeBitmap.swift`
//
// No other module of the engine or the toolkit contains SQL, except for BEGIN and COMMIT in the list of a migration's statements
// (`LightweightMigration`). The command writes SQL of its own for scripts (`coral views`) and for databases that are no stores
// (`coral convert`, the index of a backup).

/// The stores of this module, which the engine finds by the name of this class.
package final class SQLStoreDirectory: StoreDirectory {
    package init() {}

    package var classes: [String: NSPersistentStore.Type] {
        var classes: [String: NSPersistentStore.Type] = [NSSQLiteStoreType: SQLiteStore.self]
        #if PostgreSQL
            classes[PostgreSQLStore.typeName] = PostgreSQLStore.self
        #endif
        return classes
    }
}
