// Reads the parts of an ID without creating its URI, which is the greatest part of the cost of naming.

#if !canImport(Darwin) && !CORAL_PUBLIC_API

    import ManagedObjects

    extension ObjectName {
        /// Reads the parts from the engine's ID; nil if only the URI contains them.
        init?(partsOf id: NSManagedObjectID) {
            guard let key = id.primaryKey else { return nil }
            self.init(store: id.storeUUID, entity: id.entity.name ?? "", primaryKey: key)
        }
    }

#else

    import CoreData

    extension ObjectName {
        /// With Core Data's public API only the URI contains the parts.
        init?(partsOf id: NSManagedObjectID) { nil }
    }

#endif
