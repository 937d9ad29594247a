// In this module because the scoped re-export of a class leaves its member operators out. Nothing is imported here: with an
// import, the re-export of the same class would not take effect.

extension NSManagedObjectID {
    /// Whether two IDs identify the same object: as `isEqual(_:)`, without a cast from `Any`.
    public static func == (left: NSManagedObjectID, right: NSManagedObjectID) -> Bool { left.isEqual(to: right) }
}
