import CoreData

/// Whether copies inside one SQLite store may be made by the store itself, without creating objects: many times faster,
/// with the same result.
///
/// This is possible if the store is this package's own, the copies are in the store of the originals, and the rules
/// need no objects: no closures, conditions or hooks, no values from ancestors other than the owner, no values that
/// must be made unique. Otherwise, and with Apple's Core Data, copying uses objects regardless of this setting.
package enum RowCopying: String, Sendable, Hashable, CaseIterable {
    /// Copying uses objects.
    case never
    /// The store makes the copies if no entity has a class of its own, because such a class may override methods that are
    /// called when its objects are inserted or saved.
    case automatic
    /// The store makes the copies; methods such as `awakeFromInsert` and `willSave` are not called.
    case always
}
