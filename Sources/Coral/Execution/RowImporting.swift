import CoreData

/// Whether documents in the plain layout may be imported by rows, without creating objects. This is several times faster
/// and has the same result. Only if a document states a link from both sides, and these differ, it may use the other side.
///
/// It requires a store of this package's engine, a JSON document, and options that need no objects: no hooks, no
/// mapping, and default policies. Otherwise, and with Apple's Core Data, objects are used regardless of this setting. Records
/// that rows cannot hold are imported through objects, in the same transaction, and the objects' methods are called.
package enum RowImporting: String, Sendable, Hashable, CaseIterable {
    /// Objects are always used.
    case never
    /// Rows are written if no entity has a class of its own: such a class may override methods that are called when
    /// objects are inserted, validated or saved.
    case automatic
    /// Rows are written, and methods such as `awakeFromInsert`, `validateForInsert` and `willSave` are not called.
    case always
}
