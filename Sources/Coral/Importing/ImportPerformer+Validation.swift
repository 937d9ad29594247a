import CoreData

// Validation against the model.

extension ImportPerformer {
    /// Validates every object that a save would write.
    func validateChanges() {
        guard options.validates else { return }
        var failures: [(object: NSManagedObject, error: any Error)] = []
        func check(_ object: NSManagedObject, _ validate: () throws -> Void) {
            do { try validate() } catch { failures.append((object, error)) }
        }
        func isExempt(_ object: NSManagedObject) -> Bool {
            guard hasExemptions || !refused.isEmpty, let node = node(of: object) else { return false }
            // A refused record sets only some of its values, so that its object lacks the others.
            return node.isStub && object.isInserted || deferred.contains(node.number) || refused.contains(node.number)
        }
        for object in context.insertedObjects where !isExempt(object) {
            check(object) { try object.validateForInsert() }
        }
        for object in context.updatedObjects where !object.isDeleted && !isExempt(object) {
            check(object) { try object.validateForUpdate() }
        }
        if session.part == .deferredLinks {
            // An object whose deferred references are all dangling is unchanged in this pass, but was not validated in its batch.
            for node in objectNodes {
                guard let object = node.object, !object.hasChanges, !object.isDeleted else { continue }
                check(object) { try object.validateForUpdate() }
            }
        }
        for object in context.deletedObjects { check(object) { try object.validateForDelete() } }
        // The changed objects come from sets, which have no stable order. Sorting the failures alone is sufficient.
        let numbered = failures.map {
            (node(of: $0.object)?.number ?? .max, ObjectName($0.object.objectID), $0)
        }
        for (_, _, failure) in numbered.sorted(by: { ($0.0, $0.1) < ($1.0, $1.1) }) {
            let error = failure.error as NSError
            for detail in error.userInfo[NSDetailedErrorsKey] as? [NSError] ?? [error] {
                note(detail, of: failure.object)
            }
        }
    }

    private func note(_ error: NSError, of object: NSManagedObject) {
        let property = error.userInfo[NSValidationKeyErrorKey] as? String
        let entity = object.entity.name ?? ""
        if session.defersRequirements, let property,
            let requirement = ImportRequirement(error, of: object.entity, property)
        {
            requirements.append((requirement, object, node(of: object)?.id))
            return
        }
        let message =
            error.code == NSValidationMissingMandatoryPropertyError && property != nil
            ? ImportRequirement.message(entity, property ?? "") : error.localizedDescription
        let node = node(of: object)
        if let node {
            let place = property.flatMap { property in node.records.last?.place(of: property) }
            refuse(node, .invalidObject, message, at: place, property: property, rule: error.code)
        } else {
            changes.errors.add(
                ImportError(
                    .invalidObject, message, entity: entity, property: property,
                    object: object.objectID.uriRepresentation().absoluteString, ruleCode: error.code))
        }
    }
}
