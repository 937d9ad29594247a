import Coral
import CoreData
import GraphDocuments

/// The duplicates among stored objects, and the objects to keep. Belongs to the queue of its context.
public final class DeduplicationPlan {
    /// Objects with the same key.
    public struct Group {
        /// The entity among whose objects the key should be unique.
        public let entity: String
        /// The key, for display.
        public let key: String
        /// The object that is kept.
        public let survivor: NSManagedObject
        /// The objects that are deleted, by primary key.
        public let duplicates: [NSManagedObject]
        /// What the plan has read of the objects' keys, of the survivor first.
        let read: [[String: Any?]]
    }

    /// The keys that several objects have, by entity and in the order of the survivors' keys.
    public let groups: [Group]
    private let context: NSManagedObjectContext
    private let fillsValues: Bool
    private var isApplied = false

    init(context: NSManagedObjectContext, groups: [Group], fillsValues: Bool) {
        self.context = context
        self.groups = groups
        self.fillsValues = fillsValues
    }

    /// The number of objects that are deleted.
    package var duplicateCount: Int { groups.reduce(0) { $0 + $1.duplicates.count } }

    /// One line: `3 keys, 5 duplicates`.
    public var summary: String {
        return "\(counted(groups.count, "key")), \(counted(duplicateCount, "duplicate"))"
    }

    /// Merges the objects of each group into the survivor, in the context, unsaved. A plan can be applied once.
    ///
    /// Throws `ImportError` if it was already applied, or with the code `outdatedPlan` if an object was deleted in the context, or has
    /// another key there, since the plan was made; and the errors of fetching. Then nothing has changed. Cost: the relationships of
    /// the duplicates are loaded.
    public func apply() throws {
        guard !isApplied else { throw ImportError(.misuse, "The plan has already been applied.") }
        try requireUnchanged()
        let references = try referencesWithoutInverse()
        isApplied = true
        for group in groups {
            for duplicate in group.duplicates {
                if fillsValues { fill(group.survivor, from: duplicate) }
                moveRelationships(of: duplicate, to: group.survivor)
            }
        }
        replace(references)
        // Duplicates are deleted after all references are replaced, so that delete rules have no effect.
        context.processPendingChanges()
        for group in groups {
            for duplicate in group.duplicates { context.delete(duplicate) }
        }
    }

    private func requireUnchanged() throws {
        for group in groups {
            for (object, read) in zip([group.survivor] + group.duplicates, group.read) {
                let isDeleted = object.isDeleted || object.managedObjectContext !== context
                guard isDeleted || !PlannedState.has(object, read) else { continue }
                let uri = object.objectID.uriRepresentation().absoluteString
                throw ImportError(
                    .outdatedPlan,
                    "\(ImportSubject.shortName(uri)) was \(isDeleted ? "deleted" : "changed") after the plan was made. "
                        + "Make another plan.", entity: group.entity, object: uri)
            }
        }
    }

    private func fill(_ survivor: NSManagedObject, from duplicate: NSManagedObject) {
        for (name, attribute) in survivor.entity.attributesByName {
            guard !(attribute is NSDerivedAttributeDescription), survivor.value(forKey: name) == nil,
                duplicate.entity.attributesByName[name] != nil, let value = duplicate.value(forKey: name)
            else { continue }
            survivor.setValue(value, forKey: name)
        }
    }

    /// Moves the links of a duplicate. A link between both of them, or of the duplicate with itself, ends with it.
    private func moveRelationships(of duplicate: NSManagedObject, to survivor: NSManagedObject) {
        func isMoved(_ object: Any) -> Bool {
            let object = object as AnyObject
            return object !== duplicate && object !== survivor
        }
        // To-one relationships come last: a list of the duplicate may contain the survivor, which then lacks its parent.
        let relationships = duplicate.entity.relationshipsByName.sorted { one, other in
            (one.value.isToMany ? 0 : 1, one.key) < (other.value.isToMany ? 0 : 1, other.key)
        }
        for (name, relationship) in relationships {
            guard survivor.entity.relationshipsByName[name] != nil else { continue }
            if !relationship.isToMany {
                guard let target = duplicate.value(forKey: name) as? NSManagedObject else { continue }
                let own = survivor.value(forKey: name) as? NSManagedObject
                if own === duplicate { survivor.setValue(nil, forKey: name) }
                if isMoved(target), own == nil || own === duplicate { survivor.setValue(target, forKey: name) }
                duplicate.setValue(nil, forKey: name)
            } else if relationship.isOrdered {
                let members = duplicate.value(forKey: name) as? NSOrderedSet ?? NSOrderedSet()
                guard members.count > 0 else { continue }
                // The members are removed from the duplicate and appended to those of the survivor, whose order is kept.
                duplicate.setValue(NSOrderedSet(), forKey: name)
                let own = survivor.mutableOrderedSetValue(forKey: name)
                for member in members.array where isMoved(member) && !own.contains(member) { own.add(member) }
            } else {
                let members = duplicate.value(forKey: name) as? NSSet ?? NSSet()
                guard members.count > 0 else { continue }
                duplicate.setValue(NSSet(), forKey: name)
                // Added one by one: a new set would cost a step for each member that the survivor has already.
                let own = survivor.mutableSetValue(forKey: name)
                for member in members.allObjects where isMoved(member) { own.add(member) }
            }
        }
    }

    /// A relationship without an inverse, and the objects that refer to duplicates by it.
    private typealias Reference = (relationship: NSRelationshipDescription, owners: [NSManagedObject])

    /// The references to duplicates in relationships without an inverse. Cost: one fetch for each such relationship and ten thousand
    /// duplicates.
    private func referencesWithoutInverse() throws -> [Reference] {
        guard let model = ImportSession.coordinator(of: context)?.managedObjectModel else { return [] }
        let duplicates = groups.flatMap(\.duplicates)
        var references: [Reference] = []
        for entity in model.sortedEntities {
            for property in entity.ownProperties {
                guard let relationship = property as? NSRelationshipDescription,
                    relationship.inverseRelationship == nil, let destination = relationship.destinationEntity
                else { continue }
                let destinations = duplicates.filter { $0.entity.isKindOf(entity: destination) }
                // The survivors are among the owners, because they get the references of their duplicates.
                var owners = Set(groups.map(\.survivor).filter { $0.entity.isKindOf(entity: entity) })
                for start in stride(from: 0, to: destinations.count, by: Self.fetchSize) {
                    let batch = Array(destinations[start..<min(start + Self.fetchSize, destinations.count)])
                    let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
                    let format = relationship.isToMany ? "ANY %K IN %@" : "%K IN %@"
                    request.predicate = NSPredicate(format: format, argumentArray: [relationship.name, batch])
                    owners.formUnion(try context.fetch(request))
                }
                if !destinations.isEmpty { references.append((relationship, owners.sortedByName(of: \.objectID))) }
            }
        }
        return references
    }

    private func replace(_ references: [Reference]) {
        var survivors: [ObjectIdentifier: NSManagedObject] = [:]
        for group in groups {
            for duplicate in group.duplicates { survivors[ObjectIdentifier(duplicate)] = group.survivor }
        }
        // The survivor of one key may be a duplicate by another one.
        func survivor(of object: NSManagedObject) -> NSManagedObject {
            var object = object
            while let survivor = survivors[ObjectIdentifier(object)] { object = survivor }
            return object
        }
        for (relationship, owners) in references {
            for owner in owners { Self.replaceMembers(of: owner, relationship, by: survivor) }
        }
    }

    /// SQLite's default limit is 32,766 values in a statement.
    private static let fetchSize = 10_000

    /// Replaces members by their survivors. A reference between objects that become one ends.
    private static func replaceMembers(
        of owner: NSManagedObject, _ relationship: NSRelationshipDescription,
        by survivor: (NSManagedObject) -> NSManagedObject
    ) {
        let name = relationship.name
        let owned = survivor(owner)
        func replacement(_ member: NSManagedObject) -> NSManagedObject? {
            let survivor = survivor(member)
            return survivor !== member && survivor === owned ? nil : survivor
        }
        if !relationship.isToMany {
            guard let member = owner.value(forKey: name) as? NSManagedObject else { return }
            let replaced = replacement(member)
            if replaced !== member { owner.setValue(replaced, forKey: name) }
        } else if relationship.isOrdered, let members = owner.value(forKey: name) as? NSOrderedSet {
            let replaced = NSMutableOrderedSet()
            for case let member as NSManagedObject in members {
                if let member = replacement(member) { replaced.add(member) }
            }
            if !replaced.isEqual(to: members) { owner.setValue(replaced, forKey: name) }
        } else if let members = owner.value(forKey: name) as? NSSet {
            let replaced = NSSet(array: members.allObjects.compactMap { ($0 as? NSManagedObject).flatMap(replacement) })
            if !replaced.isEqual(members) { owner.setValue(replaced, forKey: name) }
        }
    }
}
