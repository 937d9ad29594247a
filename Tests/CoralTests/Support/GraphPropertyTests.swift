import Coral
import CoralTesting
import NotesModel
import Testing

/// Applies the checks of `CoralTesting` to this library.
@Suite struct GraphPropertyTests {
    /// Required relationships in both directions, and every type of attribute.
    private static func strictModel() -> NSManagedObjectModel {
        let order = WebModel.entity("Order", [("number", .integer64AttributeType)])
        let line = WebModel.entity(
            "Line",
            [
                ("text", .stringAttributeType), ("small", .integer16AttributeType), ("whole", .integer32AttributeType),
                ("real", .doubleAttributeType), ("short", .floatAttributeType), ("price", .decimalAttributeType),
                ("day", .dateAttributeType), ("bytes", .binaryDataAttributeType), ("id", .UUIDAttributeType),
                ("link", .URIAttributeType), ("flag", .booleanAttributeType), ("tags", .transformableAttributeType),
            ])
        WebModel.relate(order, "lines", .toMany(ordered: true), line, "order", .toOne, rule: .cascadeDeleteRule)
        WebModel.relate(order, "cover", .toOne, line, "coverOf", .toOne)
        line.relationshipsByName["order"]?.isOptional = false
        order.relationshipsByName["cover"]?.isOptional = false
        let model = NSManagedObjectModel()
        model.entities = [order, line]
        return model
    }

    private static let models: [@Sendable () -> NSManagedObjectModel] = [
        WebModel.make, { .notes() }, GraphPropertyTests.strictModel,
    ]

    @Test(arguments: 0..<30) func `copies and references of random graphs have no failures`(seed: Int) throws {
        let context = try makeContext(Self.models[seed % 3]())
        try context.performAndWait {
            var generator = GraphGenerator(seed: UInt64(seed))
            let objects = try generator.objects(5 + seed, in: context)
            try context.save()
            let references = try GraphProperties.failures(ofReferencing: objects)
            #expect(references.isEmpty, "\(references.prefix(5))")
            var rules = CopyRules()
            rules.uniqueness = .unchecked
            let copies = try GraphProperties.failures(
                ofCopying: objects, by: GraphCopier(shape: .everything, rules: rules))
            #expect(copies.isEmpty, "\(copies.prefix(5))")
        }
    }

    @Test(arguments: 0..<15) func `random graphs round-trip through a document`(seed: Int) throws {
        let make = Self.models[seed % 3]
        let (context, other) = (try makeContext(make()), try makeContext(make()))
        try context.performAndWait {
            var generator = GraphGenerator(seed: UInt64(seed))
            let objects = try generator.objects(5 + seed, in: context)
            try context.save()
            let failures = try GraphProperties.failures(ofRoundTrip: objects, into: other)
            #expect(failures.isEmpty, "\(failures.prefix(5))")
        }
    }

    @Test func `the same seed gives the same graph, and failures are reported`() throws {
        let graphs = try (0..<2).map { _ in
            let context = try makeContext(WebModel.make())
            return try context.performAndWait {
                var generator = GraphGenerator(seed: 5)
                return try generator.objects(20, in: context).map { ObjectContents($0) { $0.entity.name ?? "" } }
            }
        }
        #expect(graphs[0] == graphs[1])
        let context = try makeContext(WebModel.make())
        try context.performAndWait {
            var generator = GraphGenerator(seed: 5)
            let objects = try generator.objects(20, in: context)
            var rules = CopyRules()
            rules.setValue("Thing.name") { _, _ in "other" }
            let failures = try GraphProperties.failures(
                ofCopying: objects, by: GraphCopier(shape: .everything, rules: rules))
            #expect(failures.contains { $0.contains("differs in name: other") })
            let allowed = try GraphProperties.failures(
                ofCopying: objects, by: GraphCopier(shape: .everything, rules: rules), changed: ["name"])
            #expect(allowed.isEmpty)
        }
    }
}
