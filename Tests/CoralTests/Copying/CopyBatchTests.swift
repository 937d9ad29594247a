import Coral
import Testing

/// Copies in batches, failed copies, and unique numbers.
@Suite struct CopyBatchTests {
    /// Every object requires another one, which is reached later.
    private func model() -> NSManagedObjectModel {
        let order = WebModel.entity("Order", [("number", .integer64AttributeType)])
        let address = WebModel.entity(
            "Address", [("street", .stringAttributeType), ("orderNumber", .integer64AttributeType)])
        let customer = WebModel.entity("Customer", [("name", .stringAttributeType)])
        WebModel.relate(order, "address", .toOne, address, "order", .toOne, rule: .cascadeDeleteRule)
        WebModel.relate(customer, "orders", .toMany(ordered: true), order, "customer", .toOne, rule: .cascadeDeleteRule)
        WebModel.relate(order, "next", .toOne, order, "previous", .toOne, rule: .cascadeDeleteRule)
        for (entity, name) in [(order, "address"), (order, "customer"), (address, "order")] {
            entity.relationshipsByName[name]?.isOptional = false
        }
        address.attributesByName["orderNumber"]?.userInfo = ["followParent": "Order.number"]
        let model = NSManagedObjectModel()
        model.entities = [order, address, customer]
        return model
    }

    private func container(_ model: NSManagedObjectModel) throws -> NSPersistentContainer {
        let container = NSPersistentContainer(name: "Orders", managedObjectModel: model)
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).sqlite")
        container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: url)]
        var failure: (any Error)?
        container.loadPersistentStores { failure = $1 }
        if let failure { throw failure }
        return container
    }

    @Test(arguments: [1, 2, 3, 50]) func `required objects exist whenever a batch is saved`(size: Int) async throws {
        let container = try container(model())
        let ids = try await container.performBackgroundTask { context in
            let customers = (0..<3).map { number -> NSManagedObject in
                let orders = (0..<4).map { index in
                    context.insert(
                        "Order", ["number": number * 10 + index, "address": context.insert("Address", ["street": "s"])])
                }
                return context.insert("Customer", ["name": "c\(number)", "orders": NSOrderedSet(array: orders)])
            }
            try context.save()
            return customers.map(\.objectID)
        }
        var copier = GraphCopier(batchSize: size)
        copier.rowCopying = .never
        let copies = try await copier.copy(ids, in: container, inBatches: true)
        #expect(copies.count == 27)
        try await container.performBackgroundTask { context in
            for id in ids {
                let copy = try context.existingObject(with: try #require(copies[id]))
                let orders = (copy.value(forKey: "orders") as? NSOrderedSet)?.array as? [NSManagedObject] ?? []
                let number = Int((copy.value(forKey: "name") as? String ?? "").dropFirst()) ?? 0
                #expect(orders.map { $0.value(forKey: "number") as? Int } == (0..<4).map { number * 10 + $0 })
                for order in orders {
                    let address = order.value(forKey: "address") as? NSManagedObject
                    #expect(address?.value(forKey: "orderNumber") as? Int == order.value(forKey: "number") as? Int)
                }
            }
        }
    }

    @Test func `a failed copy leaves no undo step, and earlier changes can still be undone`() throws {
        let context = try makeNotesContext()
        context.performAndWait {
            let undo = UndoManager()
            undo.groupsByEvent = false
            context.undoManager = undo
            let tag = context.insert("Tag", ["name": "t"])
            let notes = (0..<5).map { context.insert("Note", ["title": "\($0)", "tags": NSSet(object: tag)]) }
            context.processPendingChanges()
            struct Stop: Error {}
            var rules = CopyRules()
            rules.didConnect = { original, _ in if original.value(forKey: "title") as? String == "4" { throw Stop() } }
            #expect(throws: Stop.self) { try GraphCopier(rules: rules, batchSize: 2).copy(notes) }
            #expect(context.insertedObjects == Set(notes + [tag]))
            #expect(!undo.canRedo)
            #expect((tag.value(forKey: "notes") as? NSSet)?.count == 5)
            // The only undo step is the user's.
            #expect(undo.canUndo)
            undo.undo()
            #expect(context.insertedObjects.isEmpty)
            #expect(!undo.canUndo)
        }
    }

    @Test func `integers of uniqueness constraints are counted up on request`() throws {
        let ticket = WebModel.entity("Ticket", [("series", .stringAttributeType), ("number", .integer16AttributeType)])
        ticket.uniquenessConstraints = [["series", "number"]]
        let model = NSManagedObjectModel()
        model.entities = [ticket]
        let context = try makeContext(model)
        try context.performAndWait {
            let tickets = [1, 2, 7].map { context.insert("Ticket", ["series": "a", "number": $0]) }
            try context.save()
            var rules = CopyRules()
            rules.countsUpNumbers = true
            let copies = try GraphCopier(rules: rules, saves: true).copy(tickets)
            #expect(copies.roots.map { $0.value(forKey: "number") as? Int } == [8, 9, 10])
            #expect(copies.roots.map { $0.value(forKey: "series") as? String } == ["a", "a", "a"])
            let last = context.insert("Ticket", ["series": "a", "number": Int(Int16.max)])
            #expect(throws: CopyError.self) { try GraphCopier(rules: rules).copy([last]) }
            // Without the option, the text gets a suffix.
            let copy = try GraphCopier().copy(tickets[0])
            #expect(copy.value(forKey: "series") as? String == "a copy")
        }
    }

    @Test func `a counted number is not one that another copy has`() throws {
        let ticket = WebModel.entity("Ticket", [("number", .integer16AttributeType)])
        ticket.uniquenessConstraints = [["number"]]
        let model = NSManagedObjectModel()
        model.entities = [ticket]
        let (source, target) = (try makeContext(model), try makeContext(model))
        func insert(_ numbers: [Int], _ context: NSManagedObjectContext) throws -> [NSManagedObject] {
            try context.performAndWait {
                let tickets = numbers.map { context.insert("Ticket", ["number": $0]) }
                try context.save()
                return tickets
            }
        }
        _ = try insert([5, 6, 10], target)
        let tickets = try insert([5, 12, 6, 14], source)
        var rules = CopyRules()
        rules.countsUpNumbers = true
        let copies = try GraphCopier(rules: rules, saves: true).copy(tickets, into: target)
        target.performAndWait {
            // Numbers that nothing else has stay, also those of later copies.
            #expect(copies.roots.map { $0.value(forKey: "number") as? Int } == [15, 12, 16, 14])
        }
    }

    @Test func `a value is taken from an ancestor at any distance`() throws {
        let folder = WebModel.entity("Folder", [("project", .stringAttributeType)])
        let page = WebModel.entity("Page", [("name", .stringAttributeType)])
        page.properties.append(
            WebModel.attribute("project", .stringAttributeType, userInfo: ["followParent": "Folder.project"]))
        WebModel.relate(page, "pages", .toMany(ordered: true), page, "parent", .toOne, rule: .cascadeDeleteRule)
        WebModel.relate(folder, "pages", .toMany(ordered: true), page, "folder", .toOne, rule: .cascadeDeleteRule)
        let model = NSManagedObjectModel()
        model.entities = [folder, page]
        let context = try makeContext(model)
        try context.performAndWait {
            let root = context.insert("Folder", ["project": "old"])
            var above = context.insert("Page", ["folder": root, "project": "old"])
            for level in 0..<20 {
                above = context.insert("Page", ["name": "\(level)", "parent": above, "project": "old"])
            }
            var rules = CopyRules()
            rules.setValue("Folder.project") { _, _ in "new" }
            let copies = try GraphCopier(rules: rules, batchSize: 3).copy([root])
            #expect(copies.count == 22)
            #expect(copies[above]?.value(forKey: "project") as? String == "new")
            #expect(above.value(forKey: "project") as? String == "old")
        }
    }
}
