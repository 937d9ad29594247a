import CoreData
import GraphDocuments

// Deletions, and validation against the model.

extension ImportPerformer {
    /// Deletes the objects of tombstones, orphans, and objects covered by deletion scopes. One fetch for each scope.
    mutating func delete(_ nodes: [ImportNode]) throws {
        for node in nodes where node.isTombstone {
            if let object = node.object { delete(object, node.subject, .tombstone) }
        }
        let allowed = options.relationshipOperations ?? options.operations
        for (object, relationship) in allowed.contains(.delete) ? orphans : []
        where !object.isDeleted && !hasOwner(object, relationship) {
            delete(object, subject(of: object), .orphan)
        }
        guard !options.deletionScopes.isEmpty else { return }
        let kept = Set(session.payload.nodes.compactMap { $0.resolved.object?.objectID })
        for scope in options.deletionScopes {
            let request = NSFetchRequest<NSManagedObject>(entityName: scope.entity)
            request.predicate = scope.predicate
            let found = try context.fetch(request).filter { !$0.isDeleted && !kept.contains($0.objectID) }
            for object in found.sorted(by: { ObjectName($0.objectID) < ObjectName($1.objectID) }) {
                delete(object, subject(of: object), .scope)
            }
        }
    }

    private mutating func delete(
        _ object: NSManagedObject, _ subject: ImportSubject, _ reason: ImportDeletion.Reason
    ) {
        guard !object.isDeleted, explicitDeletions.insert(object.objectID).inserted else { return }
        context.delete(object)
        changes.deletions.add(ImportDeletion(subject: subject, reason: reason))
    }

    /// Whether an object that was removed from one owner has another.
    private func hasOwner(_ object: NSManagedObject, _ relationship: RelationshipImport) -> Bool {
        guard let inverse = relationship.inverse else { return false }
        guard inverse.isToMany else { return object.value(forKey: inverse.name) != nil }
        return !object.objectIDs(forRelationshipNamed: inverse.name).isEmpty
    }

    /// Records the objects that were deleted by delete rules.
    mutating func noteDeletionsByRule() {
        let others = context.deletedObjects.filter { !explicitDeletions.contains($0.objectID) }
        for object in others.sorted(by: { ObjectName($0.objectID) < ObjectName($1.objectID) }) {
            let subject = subject(of: object)
            changes.deletions.add(ImportDeletion(subject: subject, reason: .rule))
        }
    }

    private func subject(of object: NSManagedObject) -> ImportSubject {
        nodesByObject[ObjectIdentifier(object)]?.subject
            ?? ImportSubject(
                entity: object.entity.name ?? "", record: nil,
                object: object.objectID.uriRepresentation().absoluteString, place: nil,
                label: "\(object.entity.name ?? "")/\(object.objectID.uriRepresentation().lastPathComponent)")
    }

    // MARK: - The model's rules

    /// Validates every object that a save would write.
    mutating func validate() {
        guard options.validates else { return }
        var failures: [(object: NSManagedObject, error: any Error)] = []
        func check(_ object: NSManagedObject, _ validate: () throws -> Void) {
            do { try validate() } catch { failures.append((object, error)) }
        }
        func isExempt(_ object: NSManagedObject) -> Bool {
            guard let node = nodesByObject[ObjectIdentifier(object)] else { return false }
            return node.isStub && object.isInserted || deferred.contains(node.number)
        }
        for object in context.insertedObjects where !isExempt(object) {
            check(object) { try object.validateForInsert() }
        }
        for object in context.updatedObjects where !object.isDeleted && !isExempt(object) {
            check(object) { try object.validateForUpdate() }
        }
        if session.part == .deferredLinks {
            // Objects whose relationships are all dangling are not changed, and were not validated in their batch.
            for node in nodesByObject.values {
                guard let object = node.object, !object.hasChanges, !object.isDeleted else { continue }
                check(object) { try object.validateForUpdate() }
            }
        }
        for object in context.deletedObjects { check(object) { try object.validateForDelete() } }
        // Sets have no stable order; only the failures are sorted.
        let numbered = failures.map {
            (nodesByObject[ObjectIdentifier($0.object)]?.number ?? .max, ObjectName($0.object.objectID), $0)
        }
        for (_, _, failure) in numbered.sorted(by: { ($0.0, $0.1) < ($1.0, $1.1) }) {
            let error = failure.error as NSError
            for detail in error.userInfo[NSDetailedErrorsKey] as? [NSError] ?? [error] {
                note(detail, of: failure.object)
            }
        }
    }

    private mutating func note(_ error: NSError, of object: NSManagedObject) {
        let property = error.userInfo[NSValidationKeyErrorKey] as? String
        let entity = object.entity.name ?? ""
        if session.part != .all, session.defersRequirements, let property,
            let requirement = ImportRequirement(error, of: object.entity, property)
        {
            requirements.append((requirement, object, nodesByObject[ObjectIdentifier(object)]?.id))
            return
        }
        let message =
            error.code == NSValidationMissingMandatoryPropertyError && property != nil
            ? ImportRequirement.message(entity, property ?? "") : error.localizedDescription
        let node = nodesByObject[ObjectIdentifier(object)]
        if let node {
            let place = property.flatMap { property in node.records.last?.place(of: property) }
            refuse(node, .invalidObject, message, at: place, property: property, rule: error.code)
        } else {
            var invalid = ImportError(
                .invalidObject, message, entity: entity, property: property,
                object: object.objectID.uriRepresentation().absoluteString)
            invalid.ruleCode = error.code
            changes.errors.add(invalid)
        }
    }
}
