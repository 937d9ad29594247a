/// The form in which a fetch gives what it finds.
public struct NSFetchRequestResultType: OptionSet, Sendable {
    public let rawValue: UInt

    public init(rawValue: UInt) {
        self.rawValue = rawValue
    }

    /// Managed objects.
    public static var managedObjectResultType: NSFetchRequestResultType { [] }
    /// The objects' IDs.
    public static var managedObjectIDResultType: NSFetchRequestResultType { NSFetchRequestResultType(rawValue: 1) }
    /// Dictionaries of properties and expressions, straight from the store: changes not yet saved do not count.
    public static var dictionaryResultType: NSFetchRequestResultType { NSFetchRequestResultType(rawValue: 2) }
    /// One number: how many objects there are.
    public static var countResultType: NSFetchRequestResultType { NSFetchRequestResultType(rawValue: 4) }
}
