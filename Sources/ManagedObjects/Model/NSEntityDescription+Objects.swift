import Foundation

extension NSEntityDescription {
    /// The entity of a name in the model of the context's coordinator, or nil where there is none.
    ///
    /// It is a programmer error to ask a context that has no coordinator.
    public class func entity(
        forEntityName entityName: String, in context: NSManagedObjectContext
    ) -> NSEntityDescription? {
        guard let model = context.modelIfAny else {
            preconditionFailure("The entity “\(entityName)” cannot be looked up: the context has no coordinator.")
        }
        return model.entitiesByName[entityName]
    }

    /// A new object of an entity, of the class that the entity names, inserted into the context.
    ///
    /// It is a programmer error to name an entity that the context's model does not have.
    public class func insertNewObject(
        forEntityName entityName: String, into context: NSManagedObjectContext
    ) -> NSManagedObject {
        guard let entity = entity(forEntityName: entityName, in: context) else {
            preconditionFailure("The model of the context has no entity named “\(entityName)”.")
        }
        return entity.managedObjectClass.init(entity: entity, insertInto: context)
    }

    /// The class of the entity's objects: the one that ``managedObjectClassName`` names, else that of the superentity.
    internal final var managedObjectClass: NSManagedObject.Type {
        ManagedObjectClasses.shared.managedObjectClass(of: self)
    }
}

extension NSManagedObjectContext {
    /// The model of the coordinator, the context's own or that of the last of its parents.
    internal final var modelIfAny: NSManagedObjectModel? {
        var context = self
        while let parent = context.parent { context = parent }
        return context.persistentStoreCoordinator?.managedObjectModel
    }
}
