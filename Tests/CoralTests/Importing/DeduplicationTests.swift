import Coral
import CoralMigration
import Testing

/// Stored objects with equal keys are merged by a plan.
struct DeduplicationTests {
    private func orders(_ shop: Shop) -> (NSManagedObject, NSManagedObject) {
        shop.context.performAndWait {
            let (ann, anna) = (
                shop.context.insert("Customer", ["code": "a", "name": "Ann"]),
                shop.context.insert("Customer", ["code": "a", "points": 5])
            )
            let one = shop.context.insert("Order", ["number": 1, "customer": ann])
            let two = shop.context.insert("Order", ["number": 1, "customer": anna, "total": 9])
            shop.context.insert("Order", ["number": 2, "customer": anna])
            for (order, positions) in [(one, [1, 2]), (two, [2, 3])] {
                let lines = positions.map { shop.context.insert("Line", ["position": $0, "text": "line \($0)"]) }
                order.setValue(NSOrderedSet(array: lines), forKey: "lines")
            }
            return (one, ann)
        }
    }

    @Test func `values and relationships of duplicates are moved to the survivor`() throws {
        let shop = try Shop()
        let (order, customer) = orders(shop)
        try shop.context.performAndWait {
            try shop.context.save()
            let plan = try Deduplicator(shop.context).plan()
            #expect(plan.summary == "3 keys, 3 duplicates")
            #expect(plan.groups.map { "\($0.entity) \($0.key)" }.prefix(2) == ["Party \"a\"", "Order 1"])
            #expect(!shop.context.hasChanges, "A plan alone changes nothing.")
            try plan.apply()
            try shop.context.save()
            #expect(throws: ImportError.self) { try plan.apply() }
            #expect(try Deduplicator(shop.context).plan().groups.isEmpty)
        }
        #expect(try shop.objects("Order", sortedBy: "number").count == 2)
        #expect(try shop.objects("Customer", sortedBy: "code").count == 1)
        #expect((order.value(forKey: "total") as? NSDecimalNumber)?.intValue == 9)
        #expect((customer.value(forKey: "points") as? NSNumber)?.intValue == 5)
        #expect((customer.value(forKey: "orders") as? NSSet)?.count == 2)
        let lines = (order.value(forKey: "lines") as? NSOrderedSet)?.array.compactMap {
            (($0 as? NSManagedObject)?.value(forKey: "position") as? NSNumber)?.intValue
        }
        #expect(lines == [1, 2, 3], "The lines of both, and those with the same key in one order once.")
    }

    @Test(arguments: ["survivor", "duplicate", "saved", "key"])
    func `a plan is not applied to objects that have changed`(change: String) throws {
        let shop = try Shop()
        _ = orders(shop)
        try shop.context.performAndWait {
            try shop.context.save()
            var deduplicator = Deduplicator(shop.context)
            deduplicator.entities = ["Customer"]
            let plan = try deduplicator.plan()
            let group = try #require(plan.groups.first)
            switch change {
            case "survivor": shop.context.delete(group.survivor)
            case "duplicate": shop.context.delete(group.duplicates[0])
            case "saved":
                shop.context.delete(group.survivor)
                try shop.context.save()
            default: group.duplicates[0].setValue("b", forKey: "code")
            }
            let before = shop.context.deletedObjects.count
            let error = #expect(throws: ImportError.self) { try plan.apply() }
            #expect(error?.code == .outdatedPlan, "\(error as Any)")
            #expect(shop.context.deletedObjects.count == before)
        }
    }

    @Test func `the survivor is chosen by a closure, and entities by name`() throws {
        let shop = try Shop()
        _ = orders(shop)
        try shop.context.performAndWait {
            try shop.context.save()
            var deduplicator = Deduplicator(shop.context)
            deduplicator.entities = ["Customer"]
            deduplicator.survivor = { $0.last }
            deduplicator.fillsValues = false
            let plan = try deduplicator.plan()
            #expect(plan.groups.count == 1)
            #expect(plan.groups.first?.survivor.value(forKey: "name") == nil)
            try plan.apply()
            #expect(plan.groups.first?.survivor.value(forKey: "name") == nil)
            deduplicator.entities = ["Custmer"]
            #expect(throws: ImportError.self) { try deduplicator.plan() }
        }
    }

    /// Nodes of a tree, with a link that has no inverse.
    private func tree() throws -> Shop {
        let node = WebModel.entity("Node", [("code", .stringAttributeType), ("name", .stringAttributeType)])
        node.userInfo = ["coral.identity": "code"]
        WebModel.relate(node, "children", .toMany(ordered: false), node, "parent", .toOne)
        WebModel.relate(node, "friends", .toMany(ordered: false), node, "friendOf", .toMany(ordered: false))
        let link = NSRelationshipDescription()
        link.name = "link"
        link.destinationEntity = node
        link.maxCount = 1
        link.isOptional = true
        link.deleteRule = .nullifyDeleteRule
        node.properties.append(link)
        let model = NSManagedObjectModel()
        model.entities = [node]
        return try Shop(model)
    }

    @Test(arguments: [true, false])
    func `an object that is merged with its parent or child is not its own parent`(survivorIsParent: Bool) throws {
        let shop = try tree()
        try shop.context.performAndWait {
            let top = shop.context.insert("Node", ["code": "top"])
            let parent = shop.context.insert("Node", ["code": "a", "name": "parent", "parent": top])
            let child = shop.context.insert("Node", ["code": "a", "name": "child", "parent": parent])
            let leaf = shop.context.insert("Node", ["code": "leaf", "parent": child, "link": child])
            for (one, other) in [(parent, child), (child, parent)] {
                one.mutableSetValue(forKey: "friends").add(other)
                one.setValue(other, forKey: "link")
            }
            try shop.context.save()
            let kept = survivorIsParent ? parent : child
            var deduplicator = Deduplicator(shop.context)
            deduplicator.survivor = { objects in objects.first { $0 === kept } }
            try deduplicator.plan().apply()
            try shop.context.save()
            #expect(kept.value(forKey: "parent") as? NSManagedObject === top)
            #expect(kept.value(forKey: "children") as? Set<NSManagedObject> == [leaf])
            #expect((kept.value(forKey: "friends") as? NSSet)?.count == 0)
            #expect(kept.value(forKey: "link") == nil)
            #expect(leaf.value(forKey: "link") as? NSManagedObject === kept)
        }
        #expect(try shop.objects("Node", sortedBy: "code").count == 3)
    }

    /// Lists without an inverse of several duplicates of one object, and of a duplicate of a duplicate.
    @Test(arguments: [true, false])
    func `references without an inverse lead to the last survivor, once`(isSaved: Bool) throws {
        let item = WebModel.entity("Item", [("code", .stringAttributeType), ("number", .integer64AttributeType)])
        item.userInfo = ["coral.identity": "code"]
        let part = WebModel.entity("Part", [])
        part.userInfo = ["coral.identity": "number"]
        item.subentities = [part]
        let list = WebModel.entity("List", [("name", .stringAttributeType)])
        for (name, isOrdered) in [("ordered", true), ("unordered", false)] {
            let relationship = NSRelationshipDescription()
            relationship.name = name
            relationship.destinationEntity = item
            relationship.isOptional = true
            relationship.isOrdered = isOrdered
            relationship.deleteRule = .nullifyDeleteRule
            list.properties.append(relationship)
        }
        let model = NSManagedObjectModel()
        model.entities = [item, part, list]
        let shop = try Shop(model)
        try shop.context.performAndWait {
            // The second has the code of the first and the number of the third, which remains; the last has neither.
            let parts = [("a", 1), ("a", 2), ("b", 2), ("c", 3)].map { code, number in
                shop.context.insert("Part", ["code": code, "number": number])
            }
            let list = shop.context.insert("List", ["name": "all"])
            list.setValue(NSOrderedSet(array: [parts[3], parts[0], parts[1], parts[2]]), forKey: "ordered")
            list.setValue(NSSet(array: parts), forKey: "unordered")
            if isSaved { try shop.context.save() }
            var deduplicator = Deduplicator(shop.context)
            var choices = 0
            deduplicator.survivor = { objects in
                choices += 1
                return choices == 1 ? parts[1] : parts[2]
            }
            try deduplicator.plan().apply()
            try shop.context.save()
            shop.context.refreshAllObjects()
            let ordered = list.value(forKey: "ordered") as? NSOrderedSet
            #expect(ordered?.array as? [NSManagedObject] == [parts[3], parts[2]])
            #expect(list.value(forKey: "unordered") as? Set<NSManagedObject> == [parts[2], parts[3]])
        }
    }

    @Test func `a key follows survivors that are duplicates by another key`() throws {
        let party = WebModel.entity("Party", [("code", .stringAttributeType)])
        party.userInfo = ["coral.identity": "code"]
        let customer = WebModel.entity("Customer", [("number", .integer64AttributeType)])
        customer.userInfo = ["coral.identity": "number"]
        party.subentities = [customer]
        let visit = WebModel.entity("Visit", [("day", .stringAttributeType)])
        visit.userInfo = ["coral.identity": "customer, day"]
        WebModel.relate(customer, "visits", .toMany(ordered: false), visit, "customer", .toOne)
        let model = NSManagedObjectModel()
        model.entities = [party, customer, visit]
        let shop = try Shop(model)
        try shop.context.performAndWait {
            // The second has the code of the first and the number of the third.
            let customers = [("a", 1), ("a", 2), ("b", 2)].map { code, number in
                shop.context.insert("Customer", ["code": code, "number": number])
            }
            for customer in customers { shop.context.insert("Visit", ["day": "Monday", "customer": customer]) }
            try shop.context.save()
            var deduplicator = Deduplicator(shop.context)
            var choices = 0
            deduplicator.survivor = { objects in
                choices += 1
                return choices == 1 ? customers[1] : objects.first { $0 !== customers[1] }
            }
            try deduplicator.plan().apply()
            try shop.context.save()
        }
        #expect(try shop.objects("Customer", sortedBy: "code").count == 1)
        #expect(try shop.texts("Visit", "day") == ["Monday"])
    }

    /// The key of a line has one relationship, and that of its order two, to parties and regions.
    @Test func `objects that a key leads to are merged before, however many relationships their own key has`() throws {
        func entity(_ name: String, _ attribute: String, key: String) -> NSEntityDescription {
            let entity = WebModel.entity(name, [(attribute, .stringAttributeType)])
            entity.userInfo = ["coral.identity": key]
            return entity
        }
        let (customer, region) = (entity("Customer", "code", key: "code"), entity("Region", "code", key: "code"))
        let order = entity("Order", "number", key: "customer, region, number")
        let line = entity("Line", "position", key: "order, position")
        WebModel.relate(customer, "orders", .toMany(ordered: false), order, "customer", .toOne)
        WebModel.relate(region, "orders", .toMany(ordered: false), order, "region", .toOne)
        WebModel.relate(order, "lines", .toMany(ordered: false), line, "order", .toOne)
        let model = NSManagedObjectModel()
        model.entities = [customer, region, order, line]
        let shop = try Shop(model)
        try shop.context.performAndWait {
            for _ in 0..<2 {
                let customer = shop.context.insert("Customer", ["code": "c"])
                let region = shop.context.insert("Region", ["code": "r"])
                let order = shop.context.insert("Order", ["number": "1", "customer": customer, "region": region])
                for position in ["1", "2"] { shop.context.insert("Line", ["position": position, "order": order]) }
            }
            try shop.context.save()
            let plan = try Deduplicator(shop.context).plan()
            #expect(plan.groups.map(\.entity) == ["Customer", "Region", "Order", "Line", "Line"])
            try plan.apply()
            try shop.context.save()
            #expect(try Deduplicator(shop.context).plan().groups.isEmpty)
        }
        #expect(try shop.texts("Line", "position") == ["1", "2"])
        #expect(try shop.objects("Order", sortedBy: "number").count == 1)
    }

    /// Two copies of a chain of pages: only their roots have equal codes, and each page is known by its parent.
    @Test func `equal trees are merged at every level`() throws {
        let item = WebModel.entity("Item", [("code", .stringAttributeType)])
        item.userInfo = ["coral.identity": "code"]
        let page = WebModel.entity("Page", [("name", .stringAttributeType)])
        page.userInfo = ["coral.identity": "parent, name"]
        item.subentities = [page]
        WebModel.relate(page, "children", .toMany(ordered: false), page, "parent", .toOne)
        let model = NSManagedObjectModel()
        model.entities = [item, page]
        let shop = try Shop(model)
        try shop.context.performAndWait {
            for _ in 0..<2 {
                var parent = shop.context.insert("Page", ["code": "root", "name": "0"])
                for level in 1...5 { parent = shop.context.insert("Page", ["name": "\(level)", "parent": parent]) }
            }
            try shop.context.save()
            let plan = try Deduplicator(shop.context).plan()
            #expect(plan.summary == "6 keys, 6 duplicates")
            try plan.apply()
            try shop.context.save()
            #expect(try Deduplicator(shop.context).plan().groups.isEmpty)
        }
        let pages = try shop.objects("Page", sortedBy: "name")
        #expect(pages.map { $0.value(forKey: "name") as? String } == ["0", "1", "2", "3", "4", "5"])
        for (parent, child) in zip(pages, pages.dropFirst()) {
            #expect(child.value(forKey: "parent") as? NSManagedObject === parent)
        }
    }
}
