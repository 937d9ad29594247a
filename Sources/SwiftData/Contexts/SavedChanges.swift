import CoreData
import Foundation
import ManagedObjects

/// The changes of one save: what notifications say about them, and what becomes of the models.
struct SavedChanges {
    private let context: ModelContext
    private let inserted: [ModelObject]
    private let updated: [ModelObject]
    private let deleted: [(record: ModelRecord, identifier: PersistentIdentifier)]
    private let deletedIdentifiers: [PersistentIdentifier]

    /// Saves the changes of a context, with those that observers of ``ModelContext/willSave`` make.
    static func save(_ context: ModelContext) throws {
        SavedChanges(of: context).postWillSave()
        try SavedChanges(of: context).save()
    }

    private init(of context: ModelContext) {
        self.context = context
        let managed = context.managedContext
        managed.processPendingChanges()
        inserted = managed.insertionsInOrder.compactMap { $0 as? ModelObject }
        updated = managed.updatedObjects.compactMap { $0 as? ModelObject }
        let objects = managed.deletedObjects.compactMap { $0 as? ModelObject }
        deletedIdentifiers = objects.map { PersistentIdentifier($0.objectID) }
        deleted = objects.compactMap { object in
            (object.model?._record).map { ($0, PersistentIdentifier(object.objectID)) }
        }
    }

    private func postWillSave() { post(ModelContext.willSave, inserted: inserted) }

    private func save() throws {
        // Read before the save, because a deleted row has no values afterwards.
        for (record, _) in deleted { record.keepValues() }
        do {
            context.recordContext.isSaving = true
            defer { context.recordContext.isSaving = false }
            try context.managedContext.save()
        } catch {
            context.upserts.reset()
            throw ValidationFailure.error(for: error)
        }
        for (record, _) in deleted { record.detach(deleted: true) }
        let saved = inserted.map(followSurvivor)
        // A row that took the values of an inserted model may have been in results before.
        if zip(inserted, saved).contains(where: { $0 !== $1 }) { context.noteChange(of: nil) }
        context.upserts.reset()
        post(ModelContext.didSave, inserted: saved)
    }

    /// Makes the model of an inserted object that of the row which has its values now.
    private func followSurvivor(_ object: ModelObject) -> ModelObject {
        let survivor = context.upserts.survivor(of: object)
        guard let model = object.model else { return survivor }
        if survivor === object {
            // A merge policy may have discarded the row.
            if object.managedObjectContext == nil { model._record?.detach(deleted: true) }
            return survivor
        }
        model._record?.attach(survivor, in: context.recordContext)
        if survivor.model == nil { survivor.model = model }
        return survivor
    }

    private func post(_ name: Notification.Name, inserted: [ModelObject]) {
        let userInfo: [AnyHashable: Any] = [
            ModelContext.NotificationKey.insertedIdentifiers.rawValue: inserted.map {
                PersistentIdentifier($0.objectID)
            },
            ModelContext.NotificationKey.updatedIdentifiers.rawValue: updated.map { PersistentIdentifier($0.objectID) },
            ModelContext.NotificationKey.deletedIdentifiers.rawValue: deletedIdentifiers,
        ]
        NotificationCenter.default.post(name: name, object: context, userInfo: userInfo)
    }
}

extension ModelContext {
    /// Posted before a save, with the identifiers of the models under the keys of ``NotificationKey``. What observers insert, change or
    /// delete is saved too.
    public static let willSave = Notification.Name("ModelContextWillSave")
    /// Posted after a save.
    public static let didSave = Notification.Name("ModelContextDidSave")

    /// The keys of the notifications' user info, by their raw values.
    public enum NotificationKey: String, Sendable {
        case queryGeneration
        case insertedIdentifiers = "inserted"
        case updatedIdentifiers = "updated"
        case deletedIdentifiers = "deleted"
        case invalidatedAllIdentifiers = "invalidatedAll"
    }
}

/// Turns validation errors of the engine into SwiftData's.
enum ValidationFailure {
    static func error(for error: any Error) -> any Error {
        let failure = error as NSError
        guard failure.domain == NSCocoaErrorDomain, (1550...1680).contains(failure.code) else { return error }
        let details = (failure.userInfo[NSDetailedErrorsKey] as? [NSError]) ?? [failure]
        let sentences = details.map { detail in
            let object = detail.userInfo[NSValidationObjectErrorKey] as? NSManagedObject
            let key = detail.userInfo[NSValidationKeyErrorKey] as? String ?? ""
            return "\(object?.entity.name ?? "").\(key): \(detail.localizedDescription)"
        }
        return SwiftDataError.modelValidationFailure.because(sentences.joined(separator: " "))
    }
}
