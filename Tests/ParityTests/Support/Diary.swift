import CoreData

/// A model created in code: notes with ordered items, tags on both, people who wrote them.
enum DiaryModel {
    static func make() -> NSManagedObjectModel {
        let note = entity("Note", Note.self)
        let item = entity("Item", NSManagedObject.self)
        let tag = entity("Tag", NSManagedObject.self)
        let person = entity("Person", NSManagedObject.self)
        let editor = entity("Editor", NSManagedObject.self)
        person.subentities = [editor]
        let title = attribute("title", .stringAttributeType)
        title.isOptional = false
        title.defaultValue = ""
        let draft = attribute("draft", .booleanAttributeType)
        draft.isTransient = true
        note.properties = [title, attribute("rank", .integer64AttributeType), draft]
        item.properties = [attribute("name", .stringAttributeType), attribute("price", .doubleAttributeType)]
        tag.properties = [attribute("name", .stringAttributeType)]
        tag.uniquenessConstraints = [["name"]]
        let age = attribute("age", .integer32AttributeType)
        age.setValidationPredicates([NSPredicate(format: "SELF >= 0")], withValidationWarnings: ["age"])
        person.properties = [attribute("name", .stringAttributeType), age]
        editor.properties = [attribute("desk", .stringAttributeType)]
        relate(note, "items", (0, true, .cascadeDeleteRule), item, "note", (1, false, .nullifyDeleteRule))
        relate(note, "tags", (0, false, .nullifyDeleteRule), tag, "notes", (0, false, .nullifyDeleteRule))
        relate(person, "notes", (0, false, .denyDeleteRule), note, "author", (1, false, .nullifyDeleteRule))
        let model = NSManagedObjectModel()
        model.entities = [note, item, tag, person, editor]
        return model
    }

    static func entity(_ name: String, _ objectClass: NSManagedObject.Type) -> NSEntityDescription {
        let entity = NSEntityDescription()
        entity.name = name
        entity.managedObjectClassName = NSStringFromClass(objectClass)
        return entity
    }

    static func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
        let attribute = NSAttributeDescription()
        attribute.name = name
        attribute.attributeType = type
        attribute.isOptional = true
        return attribute
    }

    typealias End = (maximum: Int, isOrdered: Bool, rule: NSDeleteRule)

    static func relate(
        _ source: NSEntityDescription, _ name: String, _ end: End, _ destination: NSEntityDescription,
        _ inverseName: String, _ inverseEnd: End
    ) {
        func relationship(_ name: String, _ end: End, to entity: NSEntityDescription) -> NSRelationshipDescription {
            let relationship = NSRelationshipDescription()
            relationship.name = name
            relationship.destinationEntity = entity
            relationship.minCount = 0
            relationship.maxCount = end.maximum
            relationship.isOrdered = end.isOrdered
            relationship.isOptional = true
            relationship.deleteRule = end.rule
            return relationship
        }
        let there = relationship(name, end, to: destination)
        let back = relationship(inverseName, inverseEnd, to: source)
        there.inverseRelationship = back
        back.inverseRelationship = there
        source.properties += [there]
        destination.properties += [back]
    }
}

/// A class that records the life cycle of its objects in the log of its context.
class Note: NSManagedObject {
    final class Log: NSObject {
        var events: [String] = []
    }

    private func note(_ event: String) {
        (managedObjectContext?.userInfo["log"] as? Log)?.events.append(event)
    }

    override func awakeFromInsert() {
        super.awakeFromInsert()
        note("awakeFromInsert")
    }
    override func awakeFromFetch() {
        super.awakeFromFetch()
        note("awakeFromFetch")
    }
    override func awake(fromSnapshotEvents flags: NSSnapshotEventType) {
        super.awake(fromSnapshotEvents: flags)
        note("awakeFromSnapshotEvents \(flags.rawValue)")
    }
    override func prepareForDeletion() {
        super.prepareForDeletion()
        note("prepareForDeletion")
    }
    override func willSave() {
        super.willSave()
        note("willSave")
    }
    override func didSave() {
        super.didSave()
        note("didSave")
    }
    override func willTurnIntoFault() {
        super.willTurnIntoFault()
        note("willTurnIntoFault")
    }
    override func didTurnIntoFault() {
        super.didTurnIntoFault()
        note("didTurnIntoFault")
    }
    override func validateForInsert() throws {
        try super.validateForInsert()
        note("validateForInsert")
    }
}

/// A coordinator with one store, in memory or in a temporary file.
final class Diary {
    let coordinator: NSPersistentStoreCoordinator
    let folder: URL
    let store: NSPersistentStore

    init(
        _ type: String = NSSQLiteStoreType, model: NSManagedObjectModel = DiaryModel.make(),
        options: [AnyHashable: Any]? = nil
    ) throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("Diary-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let server = type == NSSQLiteStoreType ? Self.server : nil
        var options = options
        if server != nil, ProcessInfo.processInfo.environment["CORAL_CONCURRENT_HISTORY"] != nil {
            options = (options ?? [:]).merging(["CoralConcurrentHistoryOption": true]) { own, _ in own }
        }
        store = try coordinator.addPersistentStore(
            ofType: server == nil ? type : "PostgreSQL", configurationName: nil,
            at: server ?? folder.appendingPathComponent("Diary.sqlite"), options: options)
    }

    /// The location of a new store in PostgreSQL, which replaces SQLite's if an environment variable names a server.
    private static var server: URL? {
        ProcessInfo.processInfo.environment["CORAL_PARITY_STORE"].flatMap {
            URL(
                string: $0 + ($0.contains("?") ? "&" : "?") + "schema=diary_"
                    + UUID().uuidString.prefix(13).lowercased())
        }
    }

    deinit {
        try? coordinator.remove(store)
        try? FileManager.default.removeItem(at: folder)
    }

    /// A context of the coordinator, or a child of another context. A test uses it on its own thread only.
    func context(of parent: NSManagedObjectContext? = nil) -> NSManagedObjectContext {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        if let parent {
            context.parent = parent
        } else {
            context.persistentStoreCoordinator = coordinator
        }
        return context
    }
}

extension NSManagedObjectContext {
    func insert(_ entity: String, _ values: [String: Any] = [:]) -> NSManagedObject {
        let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: self)
        for (key, value) in values { object.setValue(value, forKey: key) }
        return object
    }

    func all(_ entity: String, sortedBy key: String? = nil, _ predicate: NSPredicate? = nil) throws -> [NSManagedObject]
    {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.predicate = predicate
        request.sortDescriptors = key.map { [NSSortDescriptor(key: $0, ascending: true)] }
        return try fetch(request)
    }

    func names(_ entity: String, _ key: String = "name") throws -> [String] {
        try all(entity, sortedBy: key).compactMap { $0.value(forKey: key) as? String }
    }

    /// A log of the life cycle of the context's notes.
    func log() -> Note.Log {
        let log = Note.Log()
        userInfo["log"] = log
        return log
    }
}
