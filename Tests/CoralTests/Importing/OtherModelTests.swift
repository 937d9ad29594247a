import Coral
import Testing

/// Documents of another version of the model.
struct OtherModelTests {
    /// The document of a store with entities and properties that the newer model does not have, or has renamed.
    private func oldDocument() throws -> Data {
        let person = WebModel.entity("Person", [("name", .stringAttributeType), ("fax", .stringAttributeType)])
        let pager = WebModel.entity("Pager", [("number", .stringAttributeType)])
        let model = NSManagedObjectModel()
        model.entities = [person, pager]
        let context = try makeContext(model)
        return try context.performAndWait {
            let ann = context.insert("Person", ["name": "Ann", "fax": "12"])
            let pager = context.insert("Pager", ["number": "7"])
            return try GraphExporter(shape: .everything).encoded([ann, pager])
        }
    }

    private func newContext() throws -> NSManagedObjectContext {
        let human = WebModel.entity("Human", [("fullName", .stringAttributeType)])
        human.renamingIdentifier = "Person"
        human.attributesByName["fullName"]?.renamingIdentifier = "name"
        let model = NSManagedObjectModel()
        model.entities = [human, WebModel.entity("Phone", [("number", .stringAttributeType)])]
        return try makeContext(model)
    }

    private func plan(_ policy: UnknownKeyPolicy?) throws -> ImportPlan<NSManagedObject> {
        var options = ImportOptions()
        options.otherModel = policy
        let context = try newContext()
        let data = try oldDocument()
        return try context.performAndWait {
            let plan: ImportPlan<NSManagedObject> = try GraphImporter(into: context, options: options).plan(data)
            if plan.errors.isEmpty { try plan.apply() }
            return plan
        }
    }

    @Test func `the plan lists the model differences and the omissions`() throws {
        let plan = try plan(.record)
        #expect(
            plan.modelDifferences.map(\.description) == [
                "The model has no entity Pager, which the document's has.", "Person is called Human now.",
                "The document's model has no entity Phone.",
            ])
        #expect(plan.summary == "1 insert, 0 updates, 0 links, 2 conflicts, 0 errors")
        #expect(
            plan.inserts.kept.first?.attributes == [AttributeChange(name: "fullName", old: nil, new: .string("Ann"))])
        #expect(plan.conflicts.kept.map(\.property) == [nil, "fax"])
        #expect(plan.conflicts.kept.map(\.value) == [nil, .string("12")])
    }

    @Test func `what the model does not have can be skipped, or be an error`() throws {
        let skipped = try plan(.skip)
        #expect(skipped.inserts.count == 1 && skipped.conflicts.isEmpty)
        #expect(skipped.summary.hasSuffix("1 unknown member (Human.fax)"))
        #expect(throws: DocumentError.self) { try plan(.fail) }
        #expect(throws: DocumentError.self) { try plan(nil) }
    }

    @Test func `a document of the same model has no differences`() throws {
        let shop = try Shop()
        let data = try shop.context.performAndWait {
            try GraphExporter().encoded([shop.context.insert("Order", ["number": 1])])
        }
        #expect(try shop.plan(data.text) { $0.otherModel = .fail }.modelDifferences.isEmpty)
    }
}
