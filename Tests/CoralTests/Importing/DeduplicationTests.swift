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
}
