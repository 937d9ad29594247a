import CoreData
import GraphDocuments

// Deletions.

extension ImportPerformer {
    /// Deletes the objects of tombstones, orphans, and objects covered by deletion scopes. One fetch for each scope.
    func delete(_ nodes: [ImportNode]) throws {
        for node in nodes where node.isTombstone {
            if let object = node.object { delete(object, node.subject, .tombstone) }
        }
        deleteOrphans()
        guard !options.deletionScopes.isEmpty else { return }
        guard session.payload.recordCount > 0 || options.allowsEmptyDocument else {
            throw ImportError(
                .emptyDocument,
                "The document has no records, so that every object would be deleted. Set allowsEmptyDocument to permit that."
            )
        }
        noteUnknownEnd()
        let kept = session.payload.mentionedObjects
        for (entity, predicate) in options.deletionScopes.sorted(by: { $0.key < $1.key }) {
            let request = NSFetchRequest<NSManagedObject>(entityName: entity)
            request.predicate = predicate
            let found = try context.fetch(request).filter { !$0.isDeleted && !kept.contains($0.objectID) }
            for object in found.sortedByName(of: \.objectID) {
                delete(object, subject(of: object), .scope)
            }
        }
    }

    /// Deletes the objects that were removed from a relationship with the policy `replace`, if nothing owns them. A batch only
    /// notes them, because a later one may still list or state them.
    private func deleteOrphans() {
        guard !orphans.isEmpty else { return }
        let isAllowed = options.replacementsMayDelete
        guard session.part == .all || !isAllowed else { return }
        let mentioned = isAllowed ? session.payload.mentionedObjects : []
        for orphan in orphans where !orphan.object.isDeleted {
            let object = orphan.object
            if isAllowed, !mentioned.contains(object.objectID), !session.model.isOwned(object, orphan.relationship) {
                delete(object, subject(of: object), .orphan)
            } else {
                changes.unlinkedCount += 1
            }
        }
    }

    /// Records that a document in lines does not state its end, which documents of earlier versions and of other programs do not.
    private func noteUnknownEnd() {
        guard let header = session.payload.header, header.endIsUnknown else { return }
        let subject = ImportSubject(entity: "", record: nil, object: nil, place: nil, label: "")
        changes.conflicts.add(
            ImportConflict(
                subject: subject, property: nil,
                message: "The document does not state its last line: objects whose lines were cut off are deleted."))
    }

    private func delete(
        _ object: NSManagedObject, _ subject: ImportSubject, _ reason: ImportDeletion.Reason
    ) {
        guard !object.isDeleted, explicitDeletions.insert(object.objectID).inserted else { return }
        context.delete(object)
        changes.deletions.add(ImportDeletion(subject: subject, reason: reason))
    }

    /// Records the objects that were deleted by delete rules.
    func noteDeletionsByRule() {
        let others = context.deletedObjects.filter { !explicitDeletions.contains($0.objectID) }
        for object in others.sortedByName(of: \.objectID) {
            let subject = subject(of: object)
            changes.deletions.add(ImportDeletion(subject: subject, reason: .rule))
        }
    }
}

/// An object that a record has removed from a relationship.
package struct RemovedMember {
    package let object: NSManagedObject
    package let relationship: RelationshipImport
}

extension ImportPayload {
    /// The objects that records state, list or refer to, also the several ones that a key fits.
    var mentionedObjects: Set<NSManagedObjectID> {
        var mentioned: Set<NSManagedObjectID> = []
        for node in nodes {
            if let object = node.resolved.object { mentioned.insert(object.objectID) }
            mentioned.formUnion(node.rivals)
        }
        return mentioned
    }
}

extension ImportOptions {
    /// Whether the policy `replace` may delete the objects that it removes.
    var replacementsMayDelete: Bool { (relationshipOperations ?? operations).contains(.delete) }
}
