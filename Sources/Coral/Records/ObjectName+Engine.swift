// The parts of an ID without the URI that Core Data's public API makes of them: most of what naming costs.

#if !canImport(Darwin) && !CORAL_PUBLIC_API

    import ManagedObjects

    extension ObjectName {
        /// Takes the parts from the engine; false where only the URI tells.
        mutating func readParts(of id: NSManagedObjectID) -> Bool {
            guard let key = id.primaryKey else { return false }
            primaryKey = key
            store = id.storeUUID
            return true
        }
    }

#else

    import CoreData

    extension ObjectName {
        /// Nothing but the URI tells.
        mutating func readParts(of id: NSManagedObjectID) -> Bool { false }
    }

#endif
