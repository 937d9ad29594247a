// Reads the parts of an ID without creating its URI, which is the greatest part of the cost of naming.

#if !canImport(Darwin) && !CORAL_PUBLIC_API

    import ManagedObjects

    extension ObjectName {
        /// Reads the parts from the engine's ID; false if only the URI has them.
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
        /// With Core Data's public API only the URI has the parts.
        mutating func readParts(of id: NSManagedObjectID) -> Bool { false }
    }

#endif
