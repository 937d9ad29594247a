/// The form of the results of a fetch.
public struct NSFetchRequestResultType: OptionSet, Sendable {
    public let rawValue: UInt

    public init(rawValue: UInt) {
        self.rawValue = rawValue
    }

    /// Managed objects.
    public static var managedObjectResultType: NSFetchRequestResultType { [] }
    /// The objects' IDs.
    public static var managedObjectIDResultType: NSFetchRequestResultType { NSFetchRequestResultType(rawValue: 1) }
    /// Dictionaries of properties and expressions, directly from the store, without unsaved changes.
    public static var dictionaryResultType: NSFetchRequestResultType { NSFetchRequestResultType(rawValue: 2) }
    /// The number of objects.
    public static var countResultType: NSFetchRequestResultType { NSFetchRequestResultType(rawValue: 4) }
}
