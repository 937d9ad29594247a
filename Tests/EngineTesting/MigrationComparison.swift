import Foundation
import GRDB
import Testing

@testable import ManagedObjects
@testable import StoreMigrations

/// Compares stores that were migrated by SQL with stores that were migrated by objects, and with new stores.
struct MigrationComparison {
    /// The folder of the old store, in which the comparison creates further stores.
    let folder: StoreFolder
    let old: NSManagedObjectModel
    let new: NSManagedObjectModel

    init(_ old: NSManagedObjectModel, _ new: NSManagedObjectModel) throws {
        folder = try StoreFolder()
        self.old = old
        self.new = new
    }

    func file(_ name: String) -> URL { folder.directory.appendingPathComponent(name) }

    static func copy(_ model: NSManagedObjectModel) throws -> NSManagedObjectModel {
        try #require(model.copy() as? NSManagedObjectModel)
    }

    /// Migrates a store of random objects in both ways, and an empty one in place; compares the objects and the schemas.
    ///
    /// - Returns: The number of objects.
    @discardableResult
    func run(seed: UInt64, _ comment: Comment? = nil) throws -> Int {
        try Self.withStore(file("Old.sqlite"), Self.copy(old)) { coordinator in
            var filling = RandomFilling(seed: seed)
            try filling.fill(Self.context(coordinator), coordinator.managedObjectModel)
        }
        try FileManager.default.copyItem(at: file("Old.sqlite"), to: file("InPlace.sqlite"))
        try Self.withStore(file("Fresh.sqlite"), Self.copy(new)) { _ in }
        try Self.withStore(file("Empty.sqlite"), Self.copy(old)) { _ in }
        for name in ["InPlace.sqlite", "Empty.sqlite"] {
            try InPlaceMigration(
                url: file(name), configuration: nil, options: Self.options, models: [Self.copy(old), Self.copy(new)]
            ).run()
            let (made, expected) = try (Self.schema(file(name)), Self.schema(file("Fresh.sqlite")))
            #expect(made.filter { !expected.contains($0) } == [], comment)
            #expect(expected.filter { !made.contains($0) } == [], comment)
        }
        try migrateByObjects()
        let inPlace = try Self.lines(file("InPlace.sqlite"), Self.copy(new))
        let byObjects = try Self.lines(file("New.sqlite"), Self.copy(new))
        #expect(inPlace.count == byObjects.count, comment)
        for (line, expected) in zip(inPlace, byObjects) where line != expected {
            Issue.record("\(comment.map { "\($0)" } ?? "")\nin place:   \(line)\nby objects: \(expected)")
            break
        }
        return inPlace.count
    }

    private func migrateByObjects() throws {
        let (source, destination) = try (Self.copy(old), Self.copy(new))
        let manager = NSMigrationManager(sourceModel: source, destinationModel: destination)
        manager.validatesDestination = false
        let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: source, destinationModel: destination)
        try manager.migrateStore(
            from: file("Old.sqlite"), type: .sqlite, mapping: mapping, to: file("New.sqlite"), type: .sqlite)
    }

    // MARK: - Stores

    static var options: [AnyHashable: Any] { [NSSQLitePragmasOption: ["journal_mode": "DELETE"]] }

    static func context(_ coordinator: NSPersistentStoreCoordinator) -> NSManagedObjectContext {
        let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    static func withStore<Result>(
        _ url: URL, _ model: NSManagedObjectModel, _ body: (NSPersistentStoreCoordinator) throws -> Result
    ) throws -> Result {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(
            ofType: url.isFileURL ? NSSQLiteStoreType : TestStores.postgreSQL, configurationName: nil, at: url,
            options: options)
        let result = try body(coordinator)
        try coordinator.remove(store)
        return result
    }

    /// A line for each object: its key, its values, the keys of its relationships.
    static func lines(_ url: URL, _ model: NSManagedObjectModel) throws -> [String] {
        try withStore(url, model) { coordinator in
            let context = Self.context(coordinator)
            var lines: [String] = []
            for entity in model.orderedEntities where entity.superentity == nil {
                let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
                for object in try context.fetch(request).sorted(by: { $0.key.number < $1.key.number }) {
                    var line = "\(object.entity.name ?? "") \(object.key.number)"
                    for slot in object.layout.slots
                    where slot.isPersistent && slot.kind != .toOne && slot.kind != .position {
                        guard let name = slot.name else { continue }
                        let value = object.slotValue(object.layout.slot(named: name) ?? 0).object(kind: slot.kind)
                        line += " \(name)=\(value.map { "\($0)" } ?? "nil")"
                    }
                    for relationship in object.entity.relationshipsByName.values.sorted(by: { $0.name < $1.name }) {
                        guard !relationship.isTransient else { continue }
                        let value = object.value(forKey: relationship.name)
                        var keys = try MappingValues.objects(in: value).map(\.key.number)
                        if !relationship.isOrdered { keys.sort() }
                        line += " \(relationship.name)=\(keys)"
                    }
                    lines.append(line)
                }
            }
            return lines
        }
    }

    /// The tables with their columns in any order, the indexes and triggers.
    static func schema(_ url: URL) throws -> [String] {
        try DatabaseQueue(path: url.path).read { database in
            let rows = try Row.fetchAll(
                database, sql: "SELECT type, name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_%' ORDER BY name")
            return try rows.map { row in
                let (type, name, sql): (String, String, String?) = (row[0], row[1], row[2])
                guard type == "table", sql?.hasPrefix("CREATE TABLE") == true else {
                    return "\(type) \(name) \(sql ?? "")"
                }
                let columns = try Row.fetchAll(
                    database, sql: "SELECT name, type, pk FROM pragma_table_info(?)", arguments: [name])
                let texts = columns.map { "\($0[0] as String) \($0[1] as String) \($0[2] as Int)" }
                return "table \(name) \(texts.sorted())"
            }
                + Row.fetchAll(database, sql: "SELECT Z_ENT, Z_NAME, Z_SUPER FROM Z_PRIMARYKEY ORDER BY 1").map(
                    \.description)
        }
    }
}

/// The random content of a store, the same for the same seed.
struct RandomFilling {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next(_ bound: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int(state >> 33) % bound
    }

    mutating func fill(_ context: NSManagedObjectContext, _ model: NSManagedObjectModel) throws {
        context.validatesChanges = false
        var objects: [NSManagedObject] = []
        for entity in model.orderedEntities where !entity.isAbstract {
            for number in 0..<4 {
                let object = NSEntityDescription.insertNewObject(forEntityName: entity.name ?? "", into: context)
                objects.append(object)
                for attribute in entity.attributesByName.values.sorted(by: { $0.name < $1.name }) {
                    guard !attribute.isTransient, !(attribute is NSDerivedAttributeDescription),
                        next(4) > 0 || !attribute.isOptional
                    else { continue }
                    if let value = value(attribute, number + objects.count) {
                        object.setValue(value, forKey: attribute.name)
                    }
                }
            }
        }
        for object in objects {
            for relationship in object.entity.relationshipsByName.values.sorted(by: { $0.name < $1.name }) {
                guard let destination = relationship.destinationEntity, !relationship.isTransient else { continue }
                let candidates = objects.filter { $0.entity.isKindOf(entity: destination) && next(3) == 0 }
                if relationship.isOrdered {
                    object.setValue(NSOrderedSet(array: candidates.reversed()), forKey: relationship.name)
                } else if relationship.isToMany {
                    object.setValue(NSSet(array: candidates), forKey: relationship.name)
                } else if let first = candidates.first {
                    object.setValue(first, forKey: relationship.name)
                }
            }
        }
        try context.save()
    }

    private mutating func value(_ attribute: NSAttributeDescription, _ unique: Int) -> Any? {
        switch attribute.attributeType {
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType:
            next(1000) * 100 % 30000 + unique
        case .doubleAttributeType, .floatAttributeType: Double(next(1000)) / 4
        case .decimalAttributeType: NSDecimalNumber(value: Double(next(1000)) / 4)
        case .stringAttributeType: "text \(unique) \(next(100))"
        case .booleanAttributeType: next(2) == 1
        case .dateAttributeType: Date(timeIntervalSinceReferenceDate: Double(next(1_000_000)))
        case .binaryDataAttributeType: Data([UInt8(next(200)), UInt8(unique % 256)])
        case .UUIDAttributeType:
            UUID(uuid: (UInt8(unique % 256), 1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, UInt8(next(200))))
        case .URIAttributeType: URL(string: "https://example.org/\(unique)")
        default: nil
        }
    }
}
