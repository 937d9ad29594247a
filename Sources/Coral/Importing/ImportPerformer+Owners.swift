import CoreData
import GraphDocuments

// Objects of the store whose owner changes: the destinations of owned relationships (`RelationshipImport.isOwned`). Records
// without a key leave the children behind that they mean, and a key that is too short takes those of other owners.

extension ImportPerformer {
    /// Records that children were removed from their owner's relationship, and are not deleted for that.
    func noteRemoved(_ children: [NSManagedObject], _ relationship: RelationshipImport) {
        guard relationship.isOwned, relationship.inverse?.isToMany == false else { return }
        removedChildren += children.lazy.filter { !$0.isInserted }.map { ($0, relationship) }
    }

    /// Records that an owner's record lists a child that belongs to an object whose record does not list its own. Called before the
    /// relationship is set.
    func noteTaken(_ child: NSManagedObject, by owner: NSManagedObject, _ relationship: RelationshipImport) {
        guard relationship.isOwned, let inverse = relationship.inverse, !inverse.isToMany, !child.isInserted,
            let former = child.objectIDs(forRelationshipNamed: inverse.name).first, former != owner.objectID,
            node(of: context.object(with: former))?.link(of: relationship.name) == nil
        else { return }
        changes.conflicts.add(.taken(subject(of: child), from: former, inverse: inverse.name))
    }

    /// Records that a child's record states another owner, if that is a new object or lists its children.
    func noteTaken(_ child: NSManagedObject, byNodeOf owner: NSManagedObject, _ target: ImportNode, inverse: String) {
        guard let relationship = target.entity.relationships[inverse],
            owner.isInserted || target.link(of: inverse) != nil
        else { return }
        noteTaken(child, by: owner, relationship)
    }

    /// Records the members that a list contains more than once, because several of its records have the same key.
    func noteRepetitions(among targets: [ImportNode], of setting: LinkSetting) {
        func isMerged(_ node: ImportNode) -> Bool { node.records.count > 1 }
        guard targets.contains(where: { isMerged($0.resolved) }), !setting.isByKey else { return }
        var met: Set<Int> = []
        for target in targets.lazy.map(\.resolved) where isMerged(target) && !met.insert(target.number).inserted {
            changes.conflicts.add(
                ImportConflict(
                    subject: target.subject, property: nil,
                    message: "\(setting.name) contains several records of this object, which are imported as one."))
        }
    }

    /// Records the removed children that have no owner afterwards. A later batch may still state one.
    func noteOwnerless() {
        for (child, relationship) in removedChildren where !child.isDeleted {
            guard let inverse = relationship.inverse, !child.hasDestination(of: inverse) else { continue }
            if session.part == .all {
                changes.conflicts.add(.ownerless(subject(of: child), inverse: inverse.name))
            } else {
                ownerless.append((ImportRequirement(inverse, of: child.entity), child, nil))
            }
        }
    }

    func subject(of object: NSManagedObject) -> ImportSubject {
        node(of: object)?.subject ?? ImportSubject(object.objectID)
    }
}

extension ImportModel {
    /// Whether an object that was removed from a relationship has an owner: it is a destination of that relationship, or of another
    /// one that cascades or whose policy is `replace`.
    func isOwned(_ object: NSManagedObject, _ relationship: RelationshipImport) -> Bool {
        if let inverse = relationship.inverse, object.hasDestination(of: inverse) { return true }
        guard let plan = entity(object.entity) else { return false }
        return plan.relationships.values.contains { inverse in
            guard let owning = inverse.inverse, let described = owning.inverseRelationship else { return false }
            let policy = inverse.destinationPlan?.relationships[owning.name]?.policy
            return (owning.deleteRule == .cascadeDeleteRule || policy == .replace)
                && object.hasDestination(of: described)
        }
    }
}

extension NSManagedObject {
    fileprivate func hasDestination(of relationship: NSRelationshipDescription) -> Bool {
        guard relationship.isToMany else { return value(forKey: relationship.name) != nil }
        return !objectIDs(forRelationshipNamed: relationship.name).isEmpty
    }
}

extension ImportSubject {
    /// An object without a record.
    package init(_ id: NSManagedObjectID) {
        let entity = id.entity.name ?? ""
        let uri = id.uriRepresentation()
        self.init(
            entity: entity, record: nil, object: uri.absoluteString, place: nil,
            label: "\(entity)/\(uri.lastPathComponent)")
    }

    /// `Note/p12`.
    static func shortName(_ id: NSManagedObjectID) -> String { shortName(id.uriRepresentation().absoluteString) }
}

extension ImportConflict {
    /// A child that an owner's record does not list any more.
    package static func ownerless(_ child: ImportSubject, inverse: String) -> ImportConflict {
        ImportConflict(
            subject: child, property: inverse,
            message: "The object has lost its owner and stays in the store. The policy `replace` deletes such objects.")
    }

    /// A child that another owner gets.
    package static func taken(_ child: ImportSubject, from owner: NSManagedObjectID, inverse: String) -> ImportConflict
    {
        ImportConflict(
            subject: child, property: inverse,
            message: "The object is taken from its owner \(ImportSubject.shortName(owner)).")
    }
}
