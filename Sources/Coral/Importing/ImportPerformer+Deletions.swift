import CoreData
import GraphDocuments

// Deletions.

extension ImportPerformer {
    /// Deletes the objects of tombstones, orphans, and objects covered by deletion scopes. One fetch for each scope.
    func delete(_ nodes: [ImportNode]) throws {
        for node in nodes where node.isTombstone {
            if let object = node.object { delete(object, node.subject, .tombstone) }
        }
        let allowed = options.relationshipOperations ?? options.operations
        for (object, relationship) in orphans where !object.isDeleted {
            if allowed.contains(.delete), !hasOwner(object, relationship) {
                delete(object, subject(of: object), .orphan)
            } else {
                changes.unlinkedCount += 1
            }
        }
        guard !options.deletionScopes.isEmpty else { return }
        guard session.payload.recordCount > 0 || options.allowsEmptyDocument else {
            throw ImportError(
                .emptyDocument,
                "The document has no records, so that every object would be deleted. Set allowsEmptyDocument to permit that."
            )
        }
        noteUnknownEnd()
        var kept = Set(session.payload.nodes.compactMap { $0.resolved.object?.objectID })
        for node in session.payload.nodes { kept.formUnion(node.rivals) }
        for (entity, predicate) in options.deletionScopes.sorted(by: { $0.key < $1.key }) {
            let request = NSFetchRequest<NSManagedObject>(entityName: entity)
            request.predicate = predicate
            let found = try context.fetch(request).filter { !$0.isDeleted && !kept.contains($0.objectID) }
            for object in found.sortedByName(of: \.objectID) {
                delete(object, subject(of: object), .scope)
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
