/// The store that an object was assigned to. A separate object, because a weak reference in each managed object would
/// slow down all of them.
final class StoreAssignment {
    weak var store: NSPersistentStore?

    init(_ store: NSPersistentStore) { self.store = store }
}
