import SQLStores
import StoreRescue

extension RowSalvage {
    /// A deleted row, with the names that the model has for it.
    package struct DeletedObject {
        package let entity: String
        /// The names of the columns of its values.
        package let columns: [String]
        package let row: DeletedRow
    }

    /// The objects that were deleted, as far as their rows are still in the files, by table and key.
    ///
    /// - Parameter willRead: Called with the number of pages read and their total; throws to cancel.
    package func deletedObjects(willRead: (Int, Int) throws -> Void) rethrows -> [DeletedObject] {
        let names = Dictionary(
            schema.schema.entities.map { ($0.number, $0.entity.name ?? "") }, uniquingKeysWith: { first, _ in first })
        return try rescue.deletedRows(of: schema.tables, willRead: willRead).map { row in
            DeletedObject(
                entity: row.entityNumber.flatMap { names[$0] } ?? "", columns: schema.columns[row.table] ?? [], row: row
            )
        }
    }
}
