import class ManagedObjects.NSManagedObjectID

extension NSManagedObjectID {
    /// Whether two IDs identify the same object: as `isEqual(_:)`, without a cast from `Any`.
    ///
    /// In this module because the scoped re-export of a class leaves its member operators out.
    public static func == (left: NSManagedObjectID, right: NSManagedObjectID) -> Bool { left.isEqual(to: right) }
}
