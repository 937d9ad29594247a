import CoreData
import ManagedObjects

/// What the records of one ``ModelContext`` share, and read at each access.
///
/// A record refers to it and not to the context, which the program may release before its models. A weak reference in each record
/// would cost as much as a read at each write.
final class RecordContext {
    let managed: NSManagedObjectContext
    weak var model: ModelContext?
    /// Whether anybody wants to know of changes, which otherwise are not described.
    @exclusivity(unchecked) var isObserved = false
    /// Whether the context saves by itself after changes.
    @exclusivity(unchecked) var savesByItself = false

    init(_ managed: NSManagedObjectContext) { self.managed = managed }

    /// Whether the context does anything before a change of an object.
    func mustKnow(of object: ModelObject) -> Bool { savesByItself || !object.hasChanges }
}
