import Foundation

extension NSEntityDescription {
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
