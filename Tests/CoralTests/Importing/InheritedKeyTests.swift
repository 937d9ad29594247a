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

    // MARK: - Each importer

    enum Importer: CaseIterable {
        case plan, inPlace, batches, rows, dictionary, jsonLines, propertyList, unsaved
    }

    /// Imports an employee with a key, and returns the errors; those that are thrown, too.
    private func errors(
        _ employee: String, _ context: NSManagedObjectContext, by importer: Importer, _ options: ImportOptions
    ) throws -> [ImportError.Code] {
        let coordinator = try #require(context.persistentStoreCoordinator)
        do {
            switch importer {
            case .plan, .inPlace, .unsaved:
                var graphs = GraphImporter(into: context, options: options)
                graphs.worksInPlace = importer == .inPlace
                try graphs.plan(Data(#"{"Employee":[\#(employee)]}"#.utf8)).apply()
            case .batches, .rows:
                var options = options
                options.layout = .plain
                var batches = BatchImporter(into: coordinator, options: options, batchSize: 1)
                batches.rowImporting = importer == .rows ? .always : .never
                try batches.importDocument(.data(Data(#"{"Employee":[\#(employee)]}"#.utf8)))
            case .dictionary, .propertyList:
                var dictionary = try #require(
                    try JSONSerialization.jsonObject(with: Data(employee.utf8)) as? [String: Any])
                dictionary["$entity"] = "Employee"
                if importer == .dictionary {
                    try context.importObject(from: dictionary, options: options)
                } else {
                    let data = try PropertyListSerialization.data(
                        fromPropertyList: dictionary, format: .binary, options: 0)
                    try context.importObjects(from: data, options: options)
                }
            case .jsonLines:
                let line = employee.replacingOccurrences(of: "{", with: #"{"$entity":"Employee","#, options: .anchored)
                var options = options
                options.layout = .lines
                try GraphImporter(into: context, options: options).plan(Data((line + "\n").utf8)).apply()
            }
            return []
        } catch let error as ImportError {
            context.rollback()
            return [error.code]
        }
    }

    @Test(arguments: Declaration.allCases, Importer.allCases)
    func `no importer inserts an employee with the key of a person`(declaration: Declaration, importer: Importer) throws
    {
        let context = try makeContext(model(declaration))
        try context.performAndWait {
            context.insert("Person", ["name": "a"])
            if importer != .unsaved { try context.save() }
            let errors = try errors(#"{"name":"a","office":"o"}"#, context, by: importer, options(declaration))
            #expect(errors == [.wrongEntity])
            context.reset()
            #expect(
                try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Person"))
                    == (importer == .unsaved ? 0 : 1))
        }
    }

    /// The subentity repeats the key of its ancestor, or has one of its own.
    @Test(arguments: ["name", "office"], Importer.allCases.filter { $0 != .unsaved })
    func `a key of the subentity does not hide that of the entity`(key: String, importer: Importer) throws {
        for declaration in [Declaration.userInfo, .options] {
            try checkKey(of: "Employee", key, declaration, importer)
        }
    }

    private func checkKey(
        of subentity: String, _ key: String, _ declaration: Declaration, _ importer: Importer
    ) throws {
        let model = model(declaration)
        var options = options(declaration)
        if declaration == .userInfo {
            model.entitiesByName[subentity]?.userInfo = ["coral.identity": key]
        } else {
            options.identity.keys[subentity] = [key]
        }
        let context = try makeContext(model)
        try context.performAndWait {
            context.insert("Person", ["name": "a"])
            context.insert("Employee", ["name": "b", "office": "p"])
            try context.save()
            let errors = try errors(#"{"name":"a","office":"o"}"#, context, by: importer, options)
            #expect(errors == [.wrongEntity])
            let found = try self.errors(#"{"name":"b","office":"p","age":7}"#, context, by: importer, options)
            #expect(found.isEmpty)
            try context.save()
            context.reset()
            let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
            request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
            #expect(try context.fetch(request).map { $0.value(forKey: "age") as? Int ?? 0 } == [0, 7])
        }
    }

    @Test(arguments: Declaration.allCases)
    func `records of a person and of an employee with one key are an employee`(declaration: Declaration) throws {
        for text in [
            #"{"Person":[{"name":"a","age":3}],"Employee":[{"name":"a","office":"o"}]}"#,
            #"{"Employee":[{"name":"a","office":"o"}],"Person":[{"name":"a","age":3}]}"#,
        ] {
            for batchSize in [1, 100] {
                let context = try makeContext(model(declaration))
                try context.performAndWait {
                    let coordinator = try #require(context.persistentStoreCoordinator)
                    let batches = BatchImporter(into: coordinator, options: options(declaration), batchSize: batchSize)
                    let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
                    if text.hasPrefix(#"{"Person"#), batchSize == 1 {
                        // The person is saved before the employee is read.
                        #expect(throws: ImportError.self) { try batches.importDocument(.data(Data(text.utf8))) }
                        #expect(try context.fetch(request).count == 1)
                        return
                    }
                    try batches.importDocument(.data(Data(text.utf8)))
                    let found = try context.fetch(request)
                    #expect(found.map(\.entity.name) == ["Employee"])
                    #expect(
                        found.first?.value(forKey: "age") as? Int == 3
                            && found.first?.value(forKey: "office") as? String == "o")
                }
            }
        }
    }

    /// An object that is populated keeps its identity, so a key of another object is a conflict, and not a second object in silence.
    @Test(arguments: Declaration.allCases.filter { $0 != .constraint })
    func `an object that is populated with the key of another one is a conflict`(declaration: Declaration) throws {
        let context = try makeContext(model(declaration))
        try context.performAndWait {
            context.insert("Person", ["name": "a"])
            let employee = context.insert("Employee", ["name": "b", "office": "p"])
            try context.save()
            let plan = try GraphImporter(into: context, options: options(declaration)).plan(
                populating: employee, from: .dictionary(["$entity": "Employee", "name": "a"]))
            #expect(plan.conflicts.kept.map(\.property) == ["name"], "\(plan.summary)")
            let same = try GraphImporter(into: context, options: options(declaration)).plan(
                populating: employee, from: .dictionary(["$entity": "Employee", "name": "b", "office": "q"]))
            #expect(same.conflicts.isEmpty && same.updates.count == 1, "\(same.summary)")
        }
    }
}
