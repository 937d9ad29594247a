import Foundation

// Copies of rows inside one store, without objects. Not part of Core Data's API.

/// Which rows are copied inside a store, with what they lead to, and how: by entity, with every rule resolved.
@_spi(Stores)
public struct RowCopyRequest {
    /// Where an attribute of the copies gets its value from.
    public enum Source: Sendable {
        /// From the original's row.
        case original
        /// The value of a new object.
        case initial
        case newUUID
        case date(Date)
        /// From the copy that a to-one relationship of this copy leads to: the value of an attribute there, which no
        /// third object decides about.
        case owner(relationship: String, attribute: String)
    }

    /// What becomes of a relationship. One that is not named is not set from this side; whatever is set leads to copies
    /// where there are such.
    public struct Link: Sendable {
        /// Whether the related rows are copied too.
        public var follows: Bool
        /// Whether copies are related to rows that are not copied.
        public var reachesOthers: Bool

        public init(follows: Bool, reachesOthers: Bool) {
            self.follows = follows
            self.reachesOthers = reachesOthers
        }
    }

    /// The rules of one entity's rows, without those of entities that inherit from it.
    public struct Rules {
        public var entity: NSEntityDescription
        /// By attribute. One that is not named gets the value of a new object.
        public var sources: [String: Source]
        /// By relationship.
        public var links: [String: Link]

        public init(entity: NSEntityDescription, sources: [String: Source], links: [String: Link]) {
            self.entity = entity
            self.sources = sources
            self.links = links
        }
    }

    public var rules: [Rules]
    /// Called between statements; throws to stop.
    public var willContinue: () throws -> Void

    public init(rules: [Rules], willContinue: @escaping () throws -> Void) {
        self.rules = rules
        self.willContinue = willContinue
    }
}

/// What copying rows has made.
@_spi(Stores)
public struct RowCopyResult {
    /// The IDs of the originals and, at the same places, those of the copies.
    public let originals: [NSManagedObjectID]
    public let copies: [NSManagedObjectID]
    /// The objects that copies were related to, so that their versions have gone up.
    public let changed: [NSManagedObjectID]

    /// The IDs of the copies by those of their originals.
    public var objectIDs: [NSManagedObjectID: NSManagedObjectID] {
        var ids: [NSManagedObjectID: NSManagedObjectID] = [:]
        ids.reserveCapacity(originals.count)
        for (original, copy) in zip(originals, copies) { ids[original] = copy }
        return ids
    }
}

@_spi(Stores)
extension NSManagedObjectContext {
    /// Copies rows of one SQLite store, in one transaction: keys, versions, history, positions, derived attributes and
    /// external data as a save would have them. Objects that contexts have are not told, and no method of theirs is
    /// called.
    ///
    /// Cost: a few statements for each entity and relationship, whatever the number of rows.
    ///
    /// - Returns: Nil, with nothing changed, where only objects can do it: the store is no SQLite store, a root does not
    ///   exist, a copy would lack a mandatory object or break a constraint, or a relationship is kept in a way that sets
    ///   cannot carry over.
    /// - Throws: What `willContinue` throws, and errors of the store.
    public func copyRows(_ ids: [NSManagedObjectID], by request: RowCopyRequest) throws -> RowCopyResult? {
        guard let coordinator, let store = ids.first?.persistentStore as? SQLiteStore, !store.isReadOnly,
            store.persistentStoreCoordinator === coordinator,
            ids.allSatisfy({ $0.persistentStore === store && !$0.isTemporaryID })
        else { return nil }
        let result = try store.copyRows(ids.map(\.key), by: request, coordinator: coordinator, context: self)
        if let result { tell(result) }
        return result
    }

    /// Tells contexts that merge by themselves, as a save would: by IDs, since there are no objects.
    private func tell(_ result: RowCopyResult) {
        var userInfo: [AnyHashable: Any] = [NSInsertedObjectIDsKey: Set(result.copies)]
        if !result.changed.isEmpty { userInfo[NSUpdatedObjectIDsKey] = Set(result.changed) }
        post(.NSManagedObjectContextDidSave, userInfo)
        post(.NSManagedObjectContextDidSaveObjectIDs, userInfo)
    }
}
