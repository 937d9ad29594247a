import Foundation

@testable import FoundationAdditions
@testable import ManagedObjects

/// A model with one of everything: ordered and unordered relationships, two-way and one-way, inheritance, every
/// attribute type. Created in code, as in an app without Xcode.
enum NotesModel {
    static func make() -> NSManagedObjectModel {
        let folder = entity("Folder", [attribute("name", .stringAttributeType)])
        let note = entity(
            "Note",
            [
                attribute("title", .stringAttributeType), attribute("rank", .doubleAttributeType),
                attribute("count", .integer64AttributeType), attribute("small", .integer16AttributeType),
                attribute("isPinned", .booleanAttributeType, default: false),
                attribute("createdAt", .dateAttributeType), attribute("identifier", .UUIDAttributeType),
                attribute("price", .decimalAttributeType), attribute("link", .URIAttributeType),
                attribute("blob", .binaryDataAttributeType),
            ])
        let item = entity(
            "Item", [attribute("index", .integer32AttributeType), attribute("name", .stringAttributeType)])
        let special = entity("SpecialItem", [attribute("extra", .stringAttributeType)])
        special.managedObjectClassName = "NSManagedObject"
        item.subentities = [special]
        let tag = entity("Tag", [attribute("name", .stringAttributeType)])
        relate(folder, "children", many: true, folder, "parent", many: false, rule: .cascadeDeleteRule)
        relate(folder, "notes", many: true, note, "folder", many: false, rule: .denyDeleteRule)
        relate(note, "items", many: true, ordered: true, item, "note", many: false, rule: .cascadeDeleteRule)
        relate(item, "tags", many: true, tag, "items", many: true, rule: .nullifyDeleteRule)
        relate(note, "related", many: true, note, "relatedBy", many: true, rule: .nullifyDeleteRule)
        relate(note, "cover", many: false, item, "coverOf", many: false, rule: .nullifyDeleteRule)
        let model = NSManagedObjectModel()
        model.entities = [folder, note, item, special, tag]
        return model
    }

    static func entity(_ name: String, _ properties: [NSPropertyDescription]) -> NSEntityDescription {
        let entity = NSEntityDescription()
        entity.name = name
        entity.managedObjectClassName = "NSManagedObject"
        entity.properties = properties
        return entity
    }

    static func attribute(
        _ name: String, _ type: NSAttributeType, optional: Bool = true, default value: Any? = nil
    ) -> NSAttributeDescription {
        let attribute = NSAttributeDescription()
        attribute.name = name
        attribute.attributeType = type
        attribute.isOptional = optional
        attribute.defaultValue = value
        return attribute
    }

    static func relate(
        _ source: NSEntityDescription, _ name: String, many: Bool, ordered: Bool = false,
        _ destination: NSEntityDescription, _ inverseName: String, many inverseMany: Bool, rule: NSDeleteRule
    ) {
        let relationship = NSRelationshipDescription()
        relationship.name = name
        relationship.destinationEntity = destination
        relationship.maxCount = many ? 0 : 1
        relationship.isOrdered = ordered
        relationship.isOptional = true
        relationship.deleteRule = rule
        let inverse = NSRelationshipDescription()
        inverse.name = inverseName
        inverse.destinationEntity = source
        inverse.maxCount = inverseMany ? 0 : 1
        inverse.isOptional = true
        inverse.deleteRule = .nullifyDeleteRule
        relationship.inverseRelationship = inverse
        inverse.inverseRelationship = relationship
        source.properties += [relationship]
        destination.properties += [inverse]
    }
}

/// A coordinator with a store of a type, with as many contexts as a test needs.
struct TestStack {
    let coordinator: NSPersistentStoreCoordinator
    let url: URL?

    init(
        model: NSManagedObjectModel = NotesModel.make(), type: String = NSSQLiteStoreType,
        url: URL? = URL(fileURLWithPath: "/dev/null"), options: [AnyHashable: Any]? = nil
    ) throws {
        var (type, url) = (type, url)
        if TestStores.replacesSQLite, type == NSSQLiteStoreType, url?.path == "/dev/null" {
            type = TestStores.postgreSQL
        }
        if url?.path == "/dev/null" { url = TestStores.url(type) }
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        self.url = url
        _ = try coordinator.addPersistentStore(
            ofType: type, configurationName: nil, at: type == NSInMemoryStoreType ? nil : url,
            options: TestStores.options(options, of: type))
    }

    func context(_ type: NSManagedObjectContextConcurrencyType = .confinementConcurrencyType) -> NSManagedObjectContext
    {
        let context = NSManagedObjectContext(concurrencyType: type)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    /// A context whose small sweeps run after a few objects instead of a thousand.
    func forgetfulContext() -> NSManagedObjectContext {
        let context = context()
        context.registry.youngLimit = 3
        return context
    }
}

extension NSManagedObjectContext {
    func insert(_ entity: String, _ values: [String: Any] = [:]) -> NSManagedObject {
        let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: self)
        object.setValuesForKeys(values)
        return object
    }

    func all(_ entity: String, sortedBy key: String? = nil) throws -> [NSManagedObject] {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        if let key { request.sortDescriptors = [NSSortDescriptor(key: key, ascending: true)] }
        return try fetch(request)
    }
}
