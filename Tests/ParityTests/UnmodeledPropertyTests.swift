import CoreData
import Testing

/// Properties that a class declares beside its model. By default a change of one leaves the object unchanged:
/// https://developer.apple.com/documentation/coredata/nsmanagedobject/contextshouldignoreunmodeledpropertychanges
@Suite struct UnmodeledPropertyTests {
    class Selectable: NSManagedObject {
        var isSelected = false {
            willSet { willChangeValue(forKey: "isSelected") }
            didSet { didChangeValue(forKey: "isSelected") }
        }
    }

    final class Counted: Selectable {
        override class var contextShouldIgnoreUnmodeledPropertyChanges: Bool { false }
    }

    private func isUpdated<Class: Selectable>(as type: Class.Type) throws -> Bool {
        let entity = NSEntityDescription()
        entity.name = "Row"
        entity.managedObjectClassName = NSStringFromClass(type)
        let name = NSAttributeDescription()
        name.name = "name"
        name.attributeType = .stringAttributeType
        name.isOptional = true
        entity.properties = [name]
        let model = NSManagedObjectModel()
        model.entities = [entity]
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil, options: nil)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return try context.performAndWait {
            let object = type.init(entity: entity, insertInto: context)
            try context.save()
            object.isSelected = true
            #expect(object.isUpdated == context.hasChanges)
            return object.isUpdated
        }
    }

    @Test func areIgnoredByDefault() throws {
        #expect(try !isUpdated(as: Selectable.self))
    }

    @Test func countIfTheClassSaysSo() throws {
        #expect(try isUpdated(as: Counted.self))
    }
}
