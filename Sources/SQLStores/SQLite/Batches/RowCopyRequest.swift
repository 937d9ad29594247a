import Foundation
import ManagedObjects
import SQLiteConnections

// Copying rows within one store, without objects. Not part of Core Data's API.

/// A request to copy rows within a store together with related rows, with resolved rules for each entity.
package struct RowCopyRequest {
    /// The source of an attribute's value in the copies.
    package enum Source: Sendable {
        /// From the original's row.
        case original
        /// The value of a new object.
        case initial
        case newUUID
        case date(Date)
        /// An attribute of the copy to which a to-one relationship of this copy refers. That attribute must not have an
        /// owner source itself.
        case owner(relationship: String, attribute: String)
    }

    /// The rule for a relationship. A relationship without a rule is not set from this side. References are set to
    /// copies where these exist.
    package struct Link: Sendable {
        /// Whether the related rows are copied too.
        package var follows: Bool
        /// Whether copies may refer to rows that are not copied.
        package var reachesOthers: Bool

        package init(follows: Bool, reachesOthers: Bool) {
            self.follows = follows
            self.reachesOthers = reachesOthers
        }
    }

    /// The rules for one entity's rows, without those of its subentities.
    package struct Rules {
        package var entity: NSEntityDescription
        /// By attribute. An attribute without an entry gets the value of a new object.
        package var sources: [String: Source]
        /// By relationship.
        package var links: [String: Link]

        package init(entity: NSEntityDescription, sources: [String: Source], links: [String: Link]) {
            self.entity = entity
            self.sources = sources
            self.links = links
        }
    }

    package var rules: [Rules]
    /// Called between statements; throws to cancel.
    package var willContinue: () throws -> Void

    /// Whether the copy is rolled back; its result is then empty.
    package var isDryRun = false

    package init(rules: [Rules], willContinue: @escaping () throws -> Void) {
        self.rules = rules
        self.willContinue = willContinue
    }
}

/// Whether rows were copied.
package enum RowCopyOutcome {
    case copied(RowCopyResult)
    /// Nothing was changed: the copy must be made with objects.
    case needsObjects(because: RowCopyObstacle)
}

/// The result of copying rows.
package struct RowCopyResult {
    /// The IDs of the originals and, at the same indexes, those of the copies.
    package let originals: [NSManagedObjectID]
    package let copies: [NSManagedObjectID]
    /// The objects to which copies refer and whose versions were therefore incremented.
    package let changed: [NSManagedObjectID]

    /// The IDs of the copies, by those of their originals.
    package var objectIDs: [NSManagedObjectID: NSManagedObjectID] {
        var ids: [NSManagedObjectID: NSManagedObjectID] = [:]
        ids.reserveCapacity(originals.count)
        for (original, copy) in zip(originals, copies) { ids[original] = copy }
        return ids
    }
}

extension NSManagedObjectContext {
    /// Copies rows of one SQLite store in one transaction. Keys, versions, history, positions, derived attributes and
    /// external data are as after a save. No methods of objects are called, and existing objects in contexts are not
    /// updated.
    ///
    /// Cost: a few statements for each entity and relationship, regardless of the number of rows.
    ///
    /// The copy must be made with objects if the store is not an SQLite store, a root does not exist, a copy would lack
    /// a required object or violate a constraint, or a relationship is stored in a way that set operations cannot copy.
    ///
    /// - Throws: The error of `willContinue`, and errors of the store.
    package func copyRows(_ ids: [NSManagedObjectID], by request: RowCopyRequest) throws -> RowCopyOutcome {
        guard let coordinator, let store = ids.first?.persistentStore as? SQLiteStore, !store.isReadOnly,
            store.persistentStoreCoordinator === coordinator,
            ids.allSatisfy({ $0.persistentStore === store && !$0.isTemporaryID })
        else {
            return .needsObjects(
                because: RowCopyObstacle(
                    .store, "The objects are not all in one writable SQLite store of this package's engine."))
        }
        let outcome = try store.copyRows(ids.map(\.key), by: request, coordinator: coordinator, context: self)
        if case .copied(let result) = outcome, !request.isDryRun { notify(of: result) }
        return outcome
    }

    /// Notifies contexts that merge automatically, as after a save, but by IDs, because there are no objects.
    private func notify(of result: RowCopyResult) {
        var userInfo: [AnyHashable: Any] = [NSInsertedObjectIDsKey: Set(result.copies)]
        if !result.changed.isEmpty { userInfo[NSUpdatedObjectIDsKey] = Set(result.changed) }
        post(.NSManagedObjectContextDidSave, userInfo)
        post(.NSManagedObjectContextDidSaveObjectIDs, userInfo)
    }
}
