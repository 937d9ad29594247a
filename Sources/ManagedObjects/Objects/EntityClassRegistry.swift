import Foundation
import Synchronization

/// Finds the entity of a class, for `Note.entity()` and `Note(context:)`.
///
/// A model is added when it is assigned to a coordinator. Where several models have an entity of the same class, a
/// context uses its own model; without a context the model added last is used.
enum EntityClassRegistry {
    private struct Known: @unchecked Sendable {  // because the models in it are frozen
        weak var model: NSManagedObjectModel?
    }

    private static let models = Mutex<[Known]>([])

    static func add(_ model: NSManagedObjectModel) {
        models.withLock { models in
            models.removeAll { $0.model == nil || $0.model === model }
            models.append(Known(model: model))
        }
    }

    static func entity(of objectClass: NSManagedObject.Type) -> NSEntityDescription? {
        let known = models.withLock { $0 }
        return known.reversed().lazy.compactMap { $0.model.flatMap { entity(of: objectClass, in: $0) } }.first
    }

    static func entity(of objectClass: NSManagedObject.Type, in model: NSManagedObjectModel) -> NSEntityDescription? {
        if let entity = model.orderedEntities.first(where: { $0.managedObjectClass == objectClass }),
            objectClass != NSManagedObject.self
        {
            return entity
        }
        // The class was not registered, or its model names it without the module: registers it and compares names only.
        ManagedObjectClasses.shared.register(objectClass)
        let name = String(describing: objectClass)
        return model.orderedEntities.first { entity in
            entity.managedObjectClassName?.split(separator: ".").last.map(String.init) == name
        }
    }
}
