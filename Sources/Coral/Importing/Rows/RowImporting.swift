import CoreData

/// Whether documents in the plain shape may be imported by rows, without making objects: several times faster, and with the
/// same result.
///
/// That is possible where the store is this package's own, the document is JSON, and the options need no object: no hooks,
/// no mapping, no policies but the usual ones. Elsewhere, and on Apple's Core Data, objects are made whatever is said here.
public enum RowImporting: String, Sendable, Hashable, CaseIterable {
    /// Objects are made.
    case never
    /// Rows are written where no entity has a class of its own: such a class may do something when objects of it are
    /// inserted, checked or saved.
    case automatic
    /// Rows are written, and methods such as `awakeFromInsert`, `validateForInsert` and `willSave` are not called.
    case always
}
