import Coral
import CoralMigration
import Testing

/// The meaning of absent, null and empty members, and of the policies.
struct ImportContractTests {
    @Test func `a graph is created, and importing it again changes nothing`() throws {
        let shop = try Shop()
        let json = """
            {"Order": [{"number": 1, "total": "9.90", "customer": {"$entity": "Customer", "code": "a", "name": "Ann"},
              "lines": [{"position": 2, "text": "tea"}, {"position": 1, "text": "cup"}],
              "labels": [{"word": "new"}, {"word": "gift"}]},
             {"number": 2, "customer": "a", "labels": ["gift", {"word": "new", "colour": "red"}],
              "lines": [{"position": 1, "text": "pot"}]}]}
            """
        #expect(try shop.take(json) == "8 inserts, 0 updates, 6 links, 0 errors")
        #expect(try shop.take(json) == "0 inserts, 0 updates, 0 links, 0 errors")
        let orders = try shop.objects("Order", sortedBy: "number")
        let lines = orders[0].value(forKey: "lines") as? NSOrderedSet
        #expect(lines?.array.map { ($0 as? NSManagedObject)?.value(forKey: "text") as? String } == ["tea", "cup"])
        #expect(try shop.objects("Label", sortedBy: "word").last?.value(forKey: "colour") as? String == "red")
        #expect(
            orders[0].value(forKey: "customer") as? NSManagedObject === orders[1].value(forKey: "customer")
                as? NSManagedObject)
        #expect((orders[0].value(forKey: "total") as? NSDecimalNumber)?.stringValue == "9.9")
    }

    @Test func `an absent member keeps the value, null clears it, an empty list removes the members`() throws {
        let shop = try Shop()
        try shop.take(
            """
            {"Order": [{"number": 1, "total": 5, "customer": {"$entity": "Customer", "code": "a"}, "labels": [{"word": "x"}]}]}
            """)
        let order = try #require(try shop.objects("Order", sortedBy: "number").first)
        #expect(try shop.take(#"{"Order": [{"number": 1}]}"#) == "0 inserts, 0 updates, 0 links, 0 errors")
        #expect(order.value(forKey: "customer") != nil)
        let plan = try shop.plan(#"{"Order": [{"number": 1, "total": null, "customer": null, "labels": []}]}"#)
        #expect(plan.summary == "0 inserts, 1 update, 2 links, 2 unlinked objects, 0 errors")
        let change = try #require(plan.updates.kept.first?.attributes.first)
        #expect(change.name == "total" && change.old == .decimal(5) && change.new == .null)
        #expect(order.value(forKey: "total") != nil, "A plan alone changes nothing.")
        try shop.context.performAndWait { _ = try plan.apply() }
        #expect(order.value(forKey: "total") == nil)
        #expect(order.value(forKey: "customer") == nil)
        #expect((order.value(forKey: "labels") as? NSSet)?.count == 0)
        #expect(throws: ImportError.self) { try shop.context.performAndWait { _ = try plan.apply() } }
    }

    @Test func `relationship policies`() throws {
        let shop = try Shop()
        let first =
            #"{"Order": [{"number": 1, "lines": [{"position": 1}, {"position": 2}], "remarks": [{"text": "a"}]}]}"#
        let second = #"{"Order": [{"number": 1, "lines": [{"position": 2}, {"position": 3}]}]}"#
        try shop.take(first)
        try shop.take(second) { $0.relationshipPolicies = ["Order.lines": .union] }
        #expect(try shop.objects("Line", sortedBy: "position").count == 3)
        #expect(try shop.take(second) == "0 inserts, 0 updates, 1 link, 1 unlinked object, 1 conflict, 0 errors")
        #expect(
            try shop.objects("Line", sortedBy: "position").map { $0.value(forKey: "order") != nil } == [
                false, true, true,
            ])
        let third = #"{"Order": [{"number": 1, "lines": [{"position": 3}], "remarks": null}]}"#
        let summary = try shop.take(third) {
            $0.relationshipPolicies = ["Order.lines": .replace, "Order.remarks": .replace]
        }
        #expect(summary == "0 inserts, 0 updates, 2 links, 2 deletions, 0 errors")
        #expect(try shop.objects("Remark", sortedBy: "text").isEmpty)
        #expect(try shop.objects("Line", sortedBy: "position").count == 2)
    }

    @Test func `tombstones, deletion scopes and operations`() throws {
        let shop = try Shop()
        try shop.take(#"{"Order": [{"number": 1, "lines": [{"position": 1}]}, {"number": 2}, {"number": 3}]}"#)
        let tombstone = #"{"Order": [{"number": 1, "$deleted": true}, {"number": 9, "$deleted": true}]}"#
        #expect(
            try shop.take(tombstone) { $0.operations = [.insert, .update] } == "0 inserts, 0 updates, 0 links, 0 errors"
        )
        let plan = try shop.plan(tombstone)
        #expect(plan.deletions.kept.map(\.reason) == [.tombstone, .rule])
        #expect(try shop.take(tombstone) == "0 inserts, 0 updates, 0 links, 2 deletions, 0 errors")
        #expect(try shop.objects("Line", sortedBy: "position").isEmpty)
        let rest = #"{"Order": [{"number": 4, "total": 1}, {"number": 2, "total": 1}]}"#
        let inserted = try shop.take(rest) { $0.operations = .insert }
        #expect(inserted == "1 insert, 0 updates, 0 links, 0 errors")
        let scoped = try shop.take(rest) {
            $0.operations = [.update, .delete]
            $0.deletionScopes = ["Order": NSPredicate(format: "number < 4")]
        }
        #expect(scoped == "0 inserts, 1 update, 0 links, 1 deletion, 0 errors")
        #expect(try shop.objects("Order", sortedBy: "number").count == 2)
    }

    @Test func `dangling references by policy`() throws {
        let shop = try Shop()
        let json =
            #"{"Order": [{"number": 1, "customer": "ghost", "labels": ["later", "none"]}], "Label": [{"word": "later"}]}"#
        let failing = try shop.plan(json)
        #expect(failing.errors.count == 2)
        #expect(
            failing.errors.kept.allSatisfy {
                $0.code == .danglingReference && $0.place?.document != nil && $0.place?.entity == "Order"
            })
        #expect(throws: ImportError.self) { try shop.context.performAndWait { _ = try failing.apply() } }
        #expect(try shop.objects("Order", sortedBy: "number").isEmpty)
        #expect(try shop.plan(json) { $0.danglingReferences = .record }.conflicts.count == 2)
        #expect(
            try shop.plan(json) { $0.danglingReferences = .skip }.summary == "2 inserts, 0 updates, 1 link, 0 errors")
        // Party is abstract, so a stub can be inserted only for the label.
        let stubs = try shop.plan(json) { $0.danglingReferences = .stub }
        #expect(stubs.inserts.count == 4)
        #expect(stubs.errors.isEmpty)
    }

    @Test func `unknown keys by policy`() throws {
        let shop = try Shop()
        let json = #"{"Order": [{"number": 1, "totl": 4, "lines": [{"position": 1, "deep": {"a": [1]}}]}]}"#
        #expect(try shop.plan(json).errors.isEmpty)
        #expect(try shop.plan(json) { $0.unknownKeys = .record }.conflicts.count == 2)
        let errors = try shop.plan(json) { $0.unknownKeys = .fail }.errors
        #expect(
            errors.kept.contains {
                $0.message.contains("Did you mean \"total\"?") && $0.place?.document?.pointer == "/Order/0/totl"
            })
    }

    @Test func `one invalid record stops the import or is omitted`() throws {
        let shop = try Shop()
        try shop.take(#"{"Order": [{"number": 2, "total": 7}]}"#)
        let json = #"{"Order": [{"number": 1}, {"number": 2, "total": "seven"}, {"number": 3}, {"total": 1}]}"#
        let plan = try shop.plan(json)
        #expect(plan.errors.kept.map(\.code) == [.wrongValue, .invalidObject])
        #expect(throws: ImportError.self) { try shop.context.performAndWait { _ = try plan.apply() } }
        #expect(!shop.context.hasChanges)
        let order = try #require(try shop.objects("Order", sortedBy: "number").first)
        #expect(order.value(forKey: "total") as? NSDecimalNumber == 7)
        let summary = try shop.take(json) { $0.skipsInvalid = true }
        #expect(summary == "2 inserts, 0 updates, 0 links, 2 errors, 2 omitted records")
        #expect(try shop.objects("Order", sortedBy: "number").count == 3)
        #expect(order.value(forKey: "total") as? NSDecimalNumber == 7)
    }

    @Test func `an import that stops reports the number of all errors, and contains only the first ones`() throws {
        let shop = try Shop()
        let records = (1...9).map { #"{"number": \#($0), "total": "x"}"# }.joined(separator: ", ")
        let error = try #require(throws: ImportError.self) {
            try shop.take(#"{"Order": [\#(records)]}"#) { $0.entryLimit = 3 }
        }
        #expect(error.others.count == 2)
        #expect(error.otherCount == 8)
        #expect("\(error)".hasSuffix(" 8 more errors were found."))
    }

    @Test func `records that are not newer change nothing`() throws {
        let shop = try Shop()
        try shop.take(#"{"Order": [{"number": 1, "total": 1, "changed": "2024-01-02T00:00:00Z"}]}"#)
        let same =
            #"{"Order": [{"number": 1, "total": 2, "changed": "2024-01-02T00:00:00Z", "labels": [{"word": "x"}]}]}"#
        #expect(try shop.take(same) == "1 insert, 0 updates, 0 links, 0 errors")
        let newer = #"{"Order": [{"number": 1, "total": 2, "changed": "2024-01-03"}]}"#
        #expect(try shop.take(newer) == "0 inserts, 1 update, 0 links, 0 errors")
    }

    @Test func `hooks`() throws {
        let shop = try Shop()
        var imported: [RecordID] = []
        let json =
            #"{"Customer": [{"$id": "c1", "code": "a", "name": "ann"}, {"$id": "c2", "code": "b"}, {"$id": "c3", "code": "c"}]}"#
        let summary = try shop.take(json) { options in
            options.hooks.shouldImport["Party"] = { record, _ in record.value(of: "code") != .string("b") }
            options.hooks.value["Customer.name"] = { value, _ in
                if case .string(let text) = value { .string(text.uppercased()) } else { value }
            }
            options.hooks.didImport["*"] = { record, _ in imported.append(record.id) }
        }
        #expect(summary == "2 inserts, 0 updates, 0 links, 0 errors")
        #expect(try shop.texts("Customer", "name") == ["ANN"])
        #expect(imported == ["c1", "c3"])
    }

    @Test func `hooks set relationships, and misspelt names are refused`() throws {
        let shop = try Shop()
        let json =
            #"{"Order": [{"number": 1, "customer": {"$entity": "Customer", "code": "a"}, "lines": [{"position": 1}, {"position": 2}], "labels": [{"word": "x"}]}]}"#
        try shop.take(json) { options in
            options.hooks.link["Order.lines"] = { lines, _ in lines.reversed() }
            options.hooks.link["*.labels"] = { _, _ in nil }
            options.hooks.link["Order.customer"] = { _, _ in [] }
        }
        let order = try #require(try shop.objects("Order", sortedBy: "number").first)
        let lines = (order.value(forKey: "lines") as? NSOrderedSet)?.array as? [NSManagedObject]
        #expect(lines?.map { ($0.value(forKey: "position") as? NSNumber)?.intValue } == [2, 1])
        #expect((order.value(forKey: "labels") as? NSSet)?.count == 0 && order.value(forKey: "customer") == nil)
        var asked: [Int] = []
        let emptying = #"{"Order": [{"number": 1, "lines": null}, {"number": 2, "lines": []}]}"#
        try shop.take(emptying) { options in
            options.hooks.link["Order.lines"] = { lines, _ in
                asked.append(lines.count)
                return nil
            }
        }
        #expect(asked == [0, 0] && (order.value(forKey: "lines") as? NSOrderedSet)?.count == 2)
        for name in ["Ordr.lines", "Order.line", "Order", "*.lignes"] {
            #expect(throws: ImportError.self) {
                try shop.plan("{}") { $0.hooks.link[name] = { $1.isDeleted ? nil : $0 } }
            }
        }
        let error = #expect(throws: ImportError.self) {
            try shop.plan("{}") { $0.hooks.didImport["Custmer"] = { _, _ in } }
        }
        #expect(error?.message.contains("Did you mean \"Customer\"?") == true)
        #expect(throws: ImportError.self) {
            try shop.plan("{}") { $0.hooks.value["Order.lines"] = { value, _ in value } }
        }
    }

    @Test func `an importer may work directly in a context`() throws {
        let shop = try Shop()
        try shop.context.performAndWait {
            var importer = GraphImporter(into: shop.context)
            importer.worksInPlace = true
            let refused = try importer.plan(Data(#"{"Order": [{"number": 1}, {"total": 1}]}"#.utf8))
            #expect(throws: ImportError.self) { try refused.apply() }
            #expect(!shop.context.hasChanges)
            try importer.importObjects(from: Data(#"{"Order": [{"number": 1}]}"#.utf8))
            try shop.context.save()
        }
        #expect(try shop.objects("Order", sortedBy: "number").count == 1)
    }

    @Test func `a given object is updated in place`() throws {
        let shop = try Shop()
        try shop.take(#"{"Order": [{"number": 1}]}"#)
        let order = try #require(try shop.objects("Order", sortedBy: "number").first)
        try shop.context.performAndWait {
            try GraphImporter(into: shop.context).populate(
                order, from: .data(Data(#"{"number": 5, "lines": [{"position": 1, "text": "tea"}]}"#.utf8)))
            try shop.context.save()
        }
        #expect(
            order.value(forKey: "number") as? Int64 == 5 || (order.value(forKey: "number") as? NSNumber)?.intValue == 5)
        #expect(try shop.texts("Line", "text") == ["tea"])
    }

    @Test func `a given object is updated from a document grouped by entity`() throws {
        let shop = try Shop()
        try shop.take(#"{"Order": [{"number": 1, "lines": [{"position": 1, "text": "tea"}]}]}"#)
        let order = try #require(try shop.objects("Order", sortedBy: "number").first)
        try shop.context.performAndWait {
            let document = try GraphExporter().encoded([order])
            order.setValue(2, forKey: "number")
            try GraphImporter(into: shop.context).populate(order, from: .data(document))
        }
        #expect((order.value(forKey: "number") as? NSNumber)?.intValue == 1)
    }

    @Test func `the plan maps record ids to objects`() throws {
        let shop = try Shop()
        let plan = try shop.plan(
            #"{"Label": [{"$id": "one", "word": "a"}, {"$id": "two", "word": "a"}, {"word": "b"}]}"#)
        #expect(plan["one"] == nil)
        let roots = try shop.context.performAndWait { try plan.apply() }
        #expect(roots.count == 2)
        #expect(plan["one"] === plan["two"])
        #expect(plan["one"]?.managedObjectContext === shop.context)
        #expect(Set(plan.objectIDs.keys) == ["one", "two"])
    }

    @Test func `cancelling stops planning`() throws {
        let shop = try Shop()
        let progress = Progress(totalUnitCount: 0)
        progress.cancel()
        let error = #expect(throws: CocoaError.self) {
            try shop.context.performAndWait {
                _ = try GraphImporter(into: shop.context).plan(
                    Data(#"{"Label": [{"word": "a"}]}"#.utf8), progress: progress)
            }
        }
        #expect(error?.code == .userCancelled)
    }

    /// A progress that is cancelled as soon as any unit is completed.
    private final class Impatient: Progress, @unchecked Sendable {  // because Progress is, and nothing is added
        override var completedUnitCount: Int64 {
            get { super.completedUnitCount }
            set {
                super.completedUnitCount = newValue
                if newValue > 0 { cancel() }
            }
        }
    }

    @Test func `every long operation can be cancelled, and then has changed nothing`() throws {
        let shop = try Shop()
        let orders = (0..<600).map {
            #"{"number": \#($0), "labels": [{"word": "w\#($0)"}], "remarks": [{"text": "r\#($0)"}]}"#
        }
        let json = Data("{\"Order\": [\(orders.joined(separator: ",\n"))]}".utf8)
        try shop.take(json.text)
        let later = Data(json.text.replacingOccurrences(of: "\"text\": \"r", with: "\"text\": \"s").utf8)
        let coordinator = try #require(shop.context.persistentStoreCoordinator)
        let comparison = GraphComparison(ShopModel.make())
        let delta = try comparison.delta(from: .document(.data(json)), to: .document(.data(later)))
        #expect(!delta.isEmpty)
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).sqlite")
        let file = url.appendingPathExtension("json")
        let paths: [(String, (Progress) throws -> Void)] = [
            ("plan", { try _ = GraphImporter(into: shop.context).plan(later, progress: $0) }),
            ("import", { try GraphImporter(into: shop.context).importObjects(from: later, progress: $0) }),
            (
                "batches",
                { progress in
                    try BatchImporter.importDocument(
                        .data(later), intoStoreAt: url, model: ShopModel.make(), batchSize: 50, progress: progress)
                }
            ),
            ("export", { try _ = GraphExporter().exportStore(of: coordinator, to: file, progress: $0) }),
            (
                "nested",
                { try _ = GraphExporter(layout: .nested).exportStore(of: coordinator, to: file, progress: $0) }
            ),
            (
                "comparison",
                { progress in
                    progress.cancel()
                    try _ = comparison.delta(from: .document(.data(json)), to: .stores(coordinator), progress: progress)
                }
            ),
            (
                "delta",
                { progress in
                    progress.cancel()
                    try delta.apply(to: shop.context, checking: false, progress: progress)
                }
            ),
            (
                "duplicates",
                { progress in
                    progress.cancel()
                    try _ = Deduplicator(shop.context).plan(progress: progress)
                }
            ),
        ]
        try shop.context.performAndWait {
            for (name, path) in paths {
                do {
                    try path(Impatient(totalUnitCount: 0))
                    Issue.record("\(name) was not cancelled.")
                } catch {
                    #expect((error as? CocoaError)?.code == .userCancelled, "\(name): \(error)")
                }
                #expect(!shop.context.hasChanges, "\(name)")
            }
            let count = try shop.context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Order"))
            #expect(count == 600)
        }
        #expect(!FileManager.default.fileExists(atPath: url.path))
        #expect(!FileManager.default.fileExists(atPath: file.path))
    }

    @Test func `operations without any work complete their progress`() throws {
        let shop = try Shop()
        let coordinator = try #require(shop.context.persistentStoreCoordinator)
        func progress() -> Progress {
            let progress = Progress(totalUnitCount: 5)
            progress.completedUnitCount = 3
            return progress
        }
        let (whole, part) = (Progress(totalUnitCount: 1), progress())
        whole.addChild(part, withPendingUnitCount: 1)
        try shop.context.performAndWait {
            let importer = GraphImporter(into: shop.context)
            for text in [#"{"Order": []}"#, "{}", "[]", #"{"Order": [{"number": 1, "$deleted": true}]}"#] {
                #expect(try importer.plan(Data(text.utf8), progress: progress()).isEmpty)
                #expect(try importer.plan(.dictionary([String: Any]()), entity: nil, progress: part).isEmpty)
            }
            try importer.importObjects(from: .records([], header: nil), progress: progress())
            _ = try Deduplicator(shop.context).plan(progress: progress())
            try GraphDelta([RecordChange]()).apply(to: shop.context, progress: progress())
            _ = try GraphExporter().exportStore(of: coordinator, to: MemorySink(), progress: progress())
            _ = try GraphExporter(layout: .nested).exportStore(of: coordinator, to: MemorySink(), progress: progress())
        }
        let batches = try BatchImporter(into: coordinator).importDocument(.data(Data("{}".utf8)), progress: progress())
        #expect(batches.recordCount == 0)
        #expect(part.fractionCompleted == 1 && !whole.isCancelled)
    }

    @Test func `a syntax error has its position`() throws {
        let shop = try Shop()
        for json in [
            #"{"Label": [{"word": "a"}"#, #"{"Lable": []}"#, #"{"Label": [{"word": "a", "word": "b"}]}"#, "", "no",
        ] {
            #expect(throws: DocumentError.self) { try shop.plan(json) }
        }
        #expect(!shop.context.hasChanges)
    }
}
