import CoreData
import Testing

/// A row with a property that its model does not have.
class SelectableRow: NSManagedObject {
    var isSelected = false {
        willSet { willChangeValue(forKey: "isSelected") }
        didSet { didChangeValue(forKey: "isSelected") }
    }
}

/// A row whose selection counts as a change.
final class CountedRow: SelectableRow {
    override class var contextShouldIgnoreUnmodeledPropertyChanges: Bool { false }
}

/// Properties that a class declares beside its model. By default a change of one leaves the object unchanged:
/// https://developer.apple.com/documentation/coredata/nsmanagedobject/contextshouldignoreunmodeledpropertychanges
@Suite struct UnmodeledPropertyTests {
    private func isUpdated<Class: SelectableRow>(as type: Class.Type) throws -> Bool {
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
        #expect(try !isUpdated(as: SelectableRow.self))
    }

    @Test func countIfTheClassRequestsIt() throws {
        #expect(try isUpdated(as: CountedRow.self))
    }
}
