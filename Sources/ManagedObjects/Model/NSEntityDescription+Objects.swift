import Foundation

extension NSEntityDescription {
    /// The entity of a name in the model of the context's coordinator, or nil if it does not exist.
    ///
    /// A context without a coordinator is a programmer error.
    public class func entity(
        forEntityName entityName: String, in context: NSManagedObjectContext
    ) -> NSEntityDescription? {
        guard let model = context.modelIfAny else {
            preconditionFailure("The entity “\(entityName)” cannot be looked up: the context has no coordinator.")
        }
        return model.entitiesByName[entityName]
    }

    /// Creates an object of an entity, with the entity's class, and inserts it into the context.
    ///
    /// A name that the context's model does not have is a programmer error.
    public class func insertNewObject(
        forEntityName entityName: String, into context: NSManagedObjectContext
    ) -> NSManagedObject {
        guard let entity = entity(forEntityName: entityName, in: context) else {
            preconditionFailure("The model of the context has no entity named “\(entityName)”.")
        }
        return entity.managedObjectClass.init(entity: entity, insertInto: context)
    }

    /// The class of the entity's objects: the one with the name ``managedObjectClassName``, else that of the
    /// superentity.
    internal final var managedObjectClass: NSManagedObject.Type {
        ManagedObjectClasses.shared.managedObjectClass(of: self)
    }
}

extension NSManagedObjectContext {
    /// The model of the coordinator of the context, or of its topmost parent.
    internal final var modelIfAny: NSManagedObjectModel? {
        var context = self
        while let parent = context.parent { context = parent }
        return context.persistentStoreCoordinator?.managedObjectModel
    }
}
