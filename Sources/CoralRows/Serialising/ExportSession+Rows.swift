import Coral
import CoreData
import GraphDocuments
import ManagedObjects

// The parts of an export that read the store's rows and create no objects.

extension ExportSession {
    /// The store, if the export reads one store whose rows are available. Throws `ObjectsReason`.
    private func rowStore() throws -> NSPersistentStore {
        guard let store, let coordinator = context.persistentStoreCoordinator,
            coordinator.persistentStores.count == 1
        else { throw ObjectsReason(.store, "The coordinator does not have exactly one store.") }
        guard store.type == NSSQLiteStoreType else {
            throw ObjectsReason(.store, "The store is not an SQLite store.")
        }
        return store
    }

    private static let foreignStore = ObjectsReason(.store, "The store is not one of this package's engine.")

    // MARK: - Documents in the plain layout

    /// Reads the rows for a document in the plain layout: all of them, or none. Returns a reason, without calling
    /// the function, if objects are needed.
    private func withPlainRows<Result>(
        _ body: (inout RowExport, [RowExport.Table]) throws -> Result
    ) throws -> RowCapability<Result> {
        try RowCapability {
            guard let plainLayout, let keys = recorder.names.keys else {
                throw ObjectsReason(.options, "The document's layout is not plain.")
            }
            guard exporter.format == .json else { throw ObjectsReason(.options, "The document is not JSON.") }
            let result = try context.withRows(of: rowStore()) { rows in
                var export = RowExport(self, layout: plainLayout, keys: keys, rows: rows)
                return try body(&export, export.tables())
            }
            guard let result else { throw Self.foreignStore }
            return result
        }
    }

    /// Writes a document in the plain layout from the store's rows. Returns a reason, with nothing written, if
    /// objects are needed.
    func exportRows(to sink: any ByteSink) throws -> ExecutionPath {
        do {
            let export = try withPlainRows { export, tables in
                try export.write(tables, to: sink)
                return export
            }
            guard case .rows(let export) = export else { return export.path }
            for reference in export.dangling {
                result.danglingReferences.add(
                    UnresolvableReference(
                        .dangling, recorder.names.name(of: reference.owner), reference.relationship,
                        to: recorder.names.name(of: reference.target)))
            }
            result.danglingReferences.count(export.dangling.count - export.dangling.kept.count)
            return .rows
        } catch let error as RowExport.UnnamedTarget {
            throw DocumentError.unnamed(
                recorder.names.name(of: error.id).description, error.id.entity.name ?? "")
        }
    }

    func plainRowsPath() throws -> ExecutionPath { try withPlainRows { _, _ in }.path }

    // MARK: - Records of one entity

    /// Reads the rows of an entity for its records. Returns a reason, without calling the function, if objects are
    /// needed.
    private func withRecords<Result>(
        of entity: NSEntityDescription, _ body: (RowRecorder) throws -> Result
    ) throws -> RowCapability<Result> {
        try RowCapability {
            if layout == .nested { throw ObjectsReason(.options, "The document's layout is nested.") }
            if mapping != nil { throw ObjectsReason(.options, "The document has a mapping.") }
            if recorder.names.keys != nil {
                throw ObjectsReason(.options, "The document identifies objects by their natural keys.")
            }
            let result = try context.withRows(of: rowStore()) { rows in
                try body(RowRecorder(entity, session: self, rows: rows))
            }
            guard let result else { throw Self.foreignStore }
            return result
        }
    }

    /// Writes the records of an entity from the store's rows. Returns a reason, with nothing written, if objects
    /// are needed.
    func writeRows(of entity: NSEntityDescription, to writer: inout any GraphWriter) throws -> ExecutionPath {
        let described = plan.schema.entity(entity.name ?? "")
        return try withRecords(of: entity) { recorder in
            var written = 0
            try recorder.forEachRecord { record in
                try writer.write(record, of: described)
                written += 1
                // Progress is updated once for 256 rows: an update costs more than a row.
                if written % 256 == 0 { try didWrite(256, of: record.entity) }
            }
            try didWrite(written % 256, of: entity.name ?? "")
        }.path
    }

    func recordPath(of entity: NSEntityDescription) throws -> ExecutionPath {
        try withRecords(of: entity) { _ in }.path
    }
}
