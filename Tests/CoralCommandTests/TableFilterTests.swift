import Coral
import Testing

@testable import CoralCommand

/// Filters of the tables of `coral serve`: their predicates select the rows that they describe.
@Suite struct TableFilterTests {
    /// Attributes named like words of the predicate language, and one that is not.
    private static let names = [
        "no", "first", "last", "all", "in", "like", "union", "cast", "null", "true", "any", "minus", "fetch", "ci",
        "and",
        "Contains", "plain",
    ]

    private let context: NSManagedObjectContext

    /// A note with the value q for each text, and one without values.
    init() throws {
        let entity = NSEntityDescription()
        entity.name = "Note"
        let texts = Self.names.map { ($0, NSAttributeType.stringAttributeType) }
        let numbers: [(String, NSAttributeType)] = [
            ("size", .integer16AttributeType), ("ratio", .floatAttributeType), ("exact", .doubleAttributeType),
        ]
        entity.properties = (texts + numbers).map { name, type in
            let attribute = NSAttributeDescription()
            (attribute.name, attribute.attributeType, attribute.isOptional) = (name, type, true)
            return attribute
        }
        let model = NSManagedObjectModel()
        model.entities = [entity]
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        _ = try coordinator.addPersistentStore(
            ofType: NSInMemoryStoreType, configurationName: nil, at: nil, options: nil)
        context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        let created = context
        try created.performAndWait {
            let note = NSEntityDescription.insertNewObject(forEntityName: "Note", into: created)
            for name in Self.names { note.setValue("q", forKey: name) }
            note.setValue(Int16(3), forKey: "size")
            note.setValue(Float(0.1), forKey: "ratio")
            note.setValue(0.1, forKey: "exact")
            _ = NSEntityDescription.insertNewObject(forEntityName: "Note", into: created)
            try created.save()
        }
    }

    /// Whether each of the notes that a filter selects has values.
    private func selected(_ key: String, _ comparison: String, _ value: String = "") throws -> [Bool] {
        try context.performAndWait {
            let entity = try #require(context.persistentStoreCoordinator?.managedObjectModel.entitiesByName["Note"])
            let request = SiteRequest(
                page: "table", fields: ["filter.key": key, "filter.operator": comparison, "filter.value": value],
                isChange: false, root: "/")
            let filter = try #require(try TableFilter(request, of: entity))
            let fetch = NSFetchRequest<NSManagedObject>(entityName: "Note")
            fetch.predicate = try Predicates.predicate(filter.predicate, for: entity)
            return try context.fetch(fetch).map { $0.value(forKey: "plain") != nil }
        }
    }

    @Test(arguments: TableFilterTests.names)
    func `an attribute may be named like a word of the language`(_ key: String) throws {
        #expect(try selected(key, "equal", "q") == [true])
        #expect(try selected(key, "equal", "x") == [])
        #expect(try selected(key, "contains", "Q") == [true])
        #expect(try selected(key, "begins", "x") == [])
        #expect(try selected(key, "empty") == [false])
        #expect(try selected(key, "filled") == [true])
    }

    @Test func `a number is compared with the value that is stored for its text`() throws {
        for (key, text) in [("size", "3"), ("ratio", "0.1"), ("ratio", "1e-1"), ("exact", "0.1")] {
            #expect(try selected(key, "equal", text) == [true], "\(key) \(text)")
            #expect(try selected(key, "less", text) == [] && selected(key, "greater", text) == [], "\(key) \(text)")
        }
        #expect(throws: CommandError.self) { try selected("size", "equal", "many") }
    }
}
