import Coral
import Testing

/// Every value of a store round-trips through a document without loss.
@Suite struct ValueTests {
    private static let types: [(String, NSAttributeType)] = [
        ("integer16", .integer16AttributeType), ("integer32", .integer32AttributeType),
        ("integer64", .integer64AttributeType), ("decimal", .decimalAttributeType), ("double", .doubleAttributeType),
        ("float", .floatAttributeType), ("string", .stringAttributeType), ("boolean", .booleanAttributeType),
        ("date", .dateAttributeType), ("data", .binaryDataAttributeType), ("uuid", .UUIDAttributeType),
        ("uri", .URIAttributeType), ("transformable", .transformableAttributeType),
    ]

    private static func model() -> NSManagedObjectModel {
        let entity = NSEntityDescription()
        entity.name = "Thing"
        entity.properties = types.map { name, type in
            let attribute = NSAttributeDescription()
            attribute.name = name
            attribute.attributeType = type
            attribute.isOptional = true
            return attribute
        }
        let model = NSManagedObjectModel()
        model.entities = [entity]
        return model
    }

    @Test func `all types, at their limits`() throws {
        let context = try makeContext(Self.model())
        let uuid = UUID()
        let found: [GraphRecord] = try context.performAndWait {
            let thing = context.insert(
                "Thing",
                [
                    "integer16": Int16.min, "integer32": Int32.max, "integer64": Int64.max,
                    "decimal": NSDecimalNumber(string: "0.1"), "double": 0.1 + 0.2, "float": Float(0.1),
                    "string": "é\u{301}\n\"\u{1F600}", "boolean": true,
                    "date": Date(timeIntervalSinceReferenceDate: 123456789.000001), "data": Data([0, 255]),
                    "uuid": uuid, "uri": URL(string: "https://example.org/a%20b?q=1") as Any,
                    "transformable": ["a", "b"] as NSArray,
                ])
            context.insert("Thing")
            try context.save()
            context.reset()
            let all = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Thing"))
            #expect(all.count == 2)
            _ = thing
            return try records(in: all.encoded(), model: Self.model())
        }
        let full = try #require(found.first)
        #expect(full.value(of: "integer16") == .integer(-32768))
        #expect(full.value(of: "integer32") == .integer(2_147_483_647))
        #expect(full.value(of: "integer64") == .integer(.max))
        #expect(full.value(of: "decimal") == .decimal(Decimal(string: "0.1") ?? 0))
        #expect(full.value(of: "double") == .double(0.1 + 0.2))
        #expect(full.value(of: "float") == .float(0.1))
        #expect(full.value(of: "string") == .string("é\u{301}\n\"\u{1F600}"))
        #expect(full.value(of: "boolean") == .bool(true))
        #expect(full.value(of: "date") == .date(123456789.000001))
        #expect(full.value(of: "data") == .data(Data([0, 255])))
        #expect(full.value(of: "uuid") == .uuid(uuid))
        #expect(full.value(of: "uri") == .uri("https://example.org/a%20b?q=1"))
        guard case .transformable(let value) = full.value(of: "transformable") else {
            Issue.record("The transformable attribute is \(String(describing: full.value(of: "transformable"))).")
            return
        }
        #expect(value.readable == .array([.value(.string("a")), .value(.string("b"))]))
        #expect(found.last?.attributes.allSatisfy(\.value.isNull) == true)
    }

    /// Readers accept 63 levels of the readable form.
    @Test(arguments: [63, 64, 70]) func `a value that nests deeply is read back`(depth: Int) throws {
        let context = try makeContext(Self.model())
        try context.performAndWait {
            let list = (1..<depth).reduce(NSArray(object: "a")) { inner, _ in NSArray(object: inner) }
            context.insert("Thing", ["transformable": list])
            try context.save()
            let document = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Thing")).encoded()
            let record = try #require(try records(in: document, model: Self.model()).first)
            guard case .transformable(let value) = record.value(of: "transformable") else {
                Issue.record("The value is not read.")
                return
            }
            #expect((value.readable != nil) == (depth < 64))
            let archive = try #require(value.archive)
            let found = try NSKeyedUnarchiver.unarchivedObject(ofClasses: [NSArray.self, NSString.self], from: archive)
            #expect(found as? NSArray == list)
        }
    }
}
