import AtomicFiles
import CoreDataErrors
import Foundation
import GRDB
import ManagedObjects
import SQLStatements
import SQLStores
import SQLiteConnections

/// Checks the rows of a store in SQLite or PostgreSQL for states that no context would have saved.
///
/// Reading changes no file. Cost: one or two statements for each stored property, each over all rows of its table. Memory does not
/// depend on the number of rows. The names of files of large values are held as numbers: about 32 bytes for each file that a row refers
/// to, and 16 for each other one. Half a million unused files are found with 10 MB.
package struct RowCheck {
    private let url: URL
    private let model: NSManagedObjectModel

    /// A check of a store against the model with which it was created.
    package init(url: URL, model: NSManagedObjectModel) {
        self.url = url
        self.model = model
    }

    /// All problems, first those of the file, then table by table.
    ///
    /// - Parameter context: A context of a coordinator that has the store. The state that the context reads is checked.
    /// - Parameter willCheck: Called before each entity with the number of checked entities and their total; throws to
    ///   cancel.
    /// - Throws: Errors of Core Data's if the store cannot be read at all.
    package func problems(
        in context: NSManagedObjectContext, willCheck: (Int, Int) throws -> Void
    ) throws -> [RowProblem] {
        do {
            return try rowProblems(in: context, willCheck: willCheck)
        } catch {
            // The file is so damaged that the check itself fails.
            guard let problem = RowProblem(damage: error) else { throw error }
            return [problem]
        }
    }

    private func rowProblems(
        in context: NSManagedObjectContext, willCheck: (Int, Int) throws -> Void
    ) throws -> [RowProblem] {
        let store = context.coordinator?.persistentStore(for: url)
        #if PostgreSQL
            if let store = store as? PostgreSQLStore {
                let generation = context.pinnedGenerations?.generation(of: store)
                return try store.rowProblems(of: model, generation, willCheck: willCheck)
            }
        #endif
        guard let store = store as? SQLiteStore else {
            throw CocoaError(
                .persistentStoreOperation, "The context does not have the store.", url: url.withoutPassword)
        }
        return try store.reading(context.pinnedGenerations?.generation(of: store), .lastingState) { database in
            let reader = StoreReader(database, limit: .scan(byteCount: try StoreReader(database).byteCount()))
            let damages = try Self.damages(reader)
            // Further statements would only report the same damage as an error.
            guard damages.isEmpty else { return damages }
            let catalog = try SQLCatalog(in: database)
            let schema = SQLSchemaBuilder.schema(of: model, configuration: nil, catalog: catalog)
            try schema.requireUsableNames()
            try catalog.requireTables(of: schema, url: url)
            let directory = SQLiteFile(url).externalDataDirectory
            let (problems, referenced) = try SchemaCheck(
                schema: schema, catalog: catalog, naming: .sqlite, files: ExternalData(directory: directory),
                reader: reader
            ).problems(willCheck: willCheck)
            // Files may belong to another store that has the same folder.
            if StoreFiles(url: url).sharesSupportDirectory { return problems }
            return try problems + Self.unusedFiles(in: directory, referenced)
        }
    }

    /// Repairs problems in one transaction: adds missing tables and columns, clears dangling references, sets inverses,
    /// raises key counters, and removes unreferenced files. The store's history does not record the repair. Work on a copy.
    ///
    /// - Throws: Errors of Core Data's; then nothing has changed.
    package func repair(_ problems: [RowProblem]) throws {
        #if PostgreSQL
            guard url.isFileURL else { return try PostgreSQLStore.repair(problems, at: url) }
        #endif
        do {
            let connection = try StoreConnection(url: url, options: .keepingJournalMode)
            try connection.write { database in
                let limit = StepLimit.scan(byteCount: try StoreReader(database).byteCount())
                for query in problems.flatMap(\.repairs) {
                    // The repair runs the store's triggers, which may never terminate.
                    try limit.run(on: database) {
                        try database.execute(query)
                    }
                }
            }
            // An earlier commit may be the one after which no row refers to these files.
            let unused = problems.flatMap(\.unusedFiles)
            if !unused.isEmpty {
                try connection.synchronize()
                ExternalData(directory: SQLiteFile(url).externalDataDirectory).remove(unused.lazy.map(\.uuidString))
            }
            try connection.close()
        } catch {
            throw SQLiteError.translated(error, .saving, url: url)
        }
    }

    private static func damages(_ reader: StoreReader) throws -> [RowProblem] {
        let messages = try reader.damages()
        return messages.first.map { [RowProblem(damage: $0, count: messages.count)] } ?? []
    }

    /// - Throws: The error of a folder that exists and cannot be read.
    private static func unusedFiles(in directory: URL, _ referenced: Set<UUID>) throws -> [RowProblem] {
        var unused: [UUID] = []
        try ExternalData(directory: directory).forEachFile { if !referenced.contains($0) { unused.append($0) } }
        guard !unused.isEmpty else { return [] }
        unused.sort()
        return [
            RowProblem(
                kind: .unusedFile, entity: "", count: unused.count, examples: unused.prefix(5).map(\.uuidString),
                message: "Files beside the store do not belong to any object.", unusedFiles: unused)
        ]
    }
}
