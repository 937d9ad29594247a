// SQLite files, without a class of Core Data. Reading begins here.
//
// - `Connections`: the writing connection of a store, those that read beside it, and read-only access to a file.
// - `Statements`: prepared statements, functions and errors of SQLite.
// - `Files`: a store's files, large values in files of their own, replacement.
// - `FileSystems`: SQLite's file systems for stores without shared memory, and for larger writes of the log.
//
// Where a rule is:
// - how a statement is written for SQLite: `Statements/SQLiteDialect.swift`
// - SQLite's pragmas, and queries of its own tables: `Statements/Database+Statements.swift`
// - how a file is opened for reading: `Connections/ReadOnlyDatabase.swift`
// - the number of steps that a statement on an untrusted file may take: `Statements/Interruption.swift`
// - which files SQLite may open: `Files/StoreFiles.swift`
// - the order of steps when a store is replaced: `Files/StoreReplacement.swift`
