import CoreData
import ManagedObjects

// What the toolkit for models needs of this module: the managed objects of models, and the names of properties.

extension PersistentModel {
    /// The managed object that has the values; nil if the model is in no context.
    package var managedRow: NSManagedObject? { _record?.object }

    /// The persisted property of a key path; nil if it leads elsewhere.
    package static func persistedProperty(at keyPath: AnyKeyPath) -> PersistedProperty? {
        ModelClass.of(Self.self).property(keyPath).map {
            PersistedProperty(name: $0.name, isRelationship: $0.isRelationship, isToMany: $0.isToMany)
        }
    }
}

/// A property of a model class.
package struct PersistedProperty {
    package let name: String
    package let isRelationship: Bool
    package let isToMany: Bool
}

extension ModelContext {
    /// Announces changes that were made to managed objects: by imports and copies.
    package func noteChangesOfObjects() {
        for object in managedContext.updatedObjects { (object as? ModelObject)?.announceAll() }
        noteChange(of: nil)
    }

    /// The model of a managed object of this context; nil for one that no class describes.
    package func model(of object: NSManagedObject) -> (any PersistentModel)? {
        (object as? ModelObject).map { ModelContext.model(of: $0, in: recordContext) }
    }
}

extension ModelContainer {
    /// Merges what other contexts have saved into the main context, when the main actor is free.
    package func enqueueMergeIntoMainContext() {
        Task { @MainActor in
            guard let context = madeMainContext else { return }
            context.foreignSaves.merge(into: context.managedContext)
        }
    }
}

extension Schema {
    /// The classes of the models.
    package var modelTypes: [any PersistentModel.Type] { classes.map(\.type) }

    /// The model of a store of the schema, whose objects are plain managed objects.
    ///
    /// - Throws: ``SwiftDataError`` for what cannot be stored.
    package func makeModelOfStore() throws -> NSManagedObjectModel { try NSManagedObjectModel.plainModel(of: self) }
}
