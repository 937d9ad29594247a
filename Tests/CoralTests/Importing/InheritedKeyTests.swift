import Coral
import Testing

/// A key of an entity identifies the objects of its subentities too.
struct InheritedKeyTests {
    enum Declaration: CaseIterable {
        case userInfo, options, constraint
    }

    private func model(_ declaration: Declaration) -> NSManagedObjectModel {
        let person = WebModel.entity("Person", [("name", .stringAttributeType), ("age", .integer16AttributeType)])
        let employee = WebModel.entity("Employee", [("office", .stringAttributeType)])
        person.subentities = [employee]
        switch declaration {
        case .userInfo: person.userInfo = ["coral.identity": "name"]
        case .constraint: person.uniquenessConstraints = [["name"]]
        case .options: break
        }
        let model = NSManagedObjectModel()
        model.entities = [person, employee]
        return model
    }

    private func options(_ declaration: Declaration) -> ImportOptions {
        var options = ImportOptions()
        if declaration == .options { options.identity.keys["Person"] = ["name"] }
        return options
    }

    @Test(
        arguments: Declaration.allCases,
        [
            #"{"Employee":[{"name":"a","office":"o"}]}"#,
            #"{"$objects":[{"$entity":"Employee","name":"a","office":"o"}]}"#,
            #"[{"name":"a","office":"o","$entity":"Employee"}]"#,
        ])
    func `a stored person cannot become an employee`(declaration: Declaration, text: String) throws {
        let context = try makeContext(model(declaration))
        try context.performAndWait {
            context.insert("Person", ["name": "a"])
            try context.save()
            let plan = try GraphImporter(into: context, options: options(declaration)).plan(Data(text.utf8))
            #expect(plan.errors.kept.map(\.code) == [.wrongEntity], "\(plan.summary)")
            #expect(plan.inserts.isEmpty)
        }
    }

    @Test(arguments: Declaration.allCases)
    func `a record of the entity finds an object of the subentity`(declaration: Declaration) throws {
        let context = try makeContext(model(declaration))
        try context.performAndWait {
            context.insert("Employee", ["name": "a", "office": "o"])
            try context.save()
            let plan = try GraphImporter(into: context, options: options(declaration)).plan(
                Data(#"{"Person":[{"name":"a","age":3}],"Employee":[{"name":"a","office":"p"}]}"#.utf8))
            #expect(plan.summary == "0 inserts, 1 update, 0 links, 0 errors", "\(plan.summary)")
        }
    }

    @Test(arguments: Declaration.allCases)
    func `records of one key that contradict each other are a conflict`(declaration: Declaration) throws {
        let context = try makeContext(model(declaration))
        try context.performAndWait {
            let plan = try GraphImporter(into: context, options: options(declaration)).plan(
                Data(#"{"Person":[{"name":"a","age":3},{"name":"b","age":1}],"Employee":[{"name":"a","age":4}]}"#.utf8))
            #expect(plan.inserts.count == 2 && plan.conflicts.kept.map(\.property) == ["age"], "\(plan.summary)")
            // Records that agree, or state other members, do not contradict each other.
            let same = try GraphImporter(into: context, options: options(declaration)).plan(
                Data(#"{"Person":[{"name":"a","age":3},{"name":"a","age":3},{"name":"a"}]}"#.utf8))
            #expect(same.inserts.count == 1 && same.conflicts.isEmpty, "\(same.summary)")
        }
    }
}
