#if !canImport(Darwin)
    import Coral
    import Foundation
    import Synchronization
    import Testing
    @testable import ManagedObjects
    @testable import SQLiteConnections

    /// Sizes that other libraries cannot import. These tests take minutes and run only with the environment variable
    /// `CORAL_SCALE=1`.
    @Suite(
        .enabled(if: Engine.hasRows),
        .enabled(if: ProcessInfo.processInfo.environment["CORAL_SCALE"] != nil, "CORAL_SCALE is not set."), .serialized)
    struct ScaleTests {
        private final class Log: Sendable {
            let statements = Mutex<[String]>([])
        }

        @Test func `100,000 objects take one fetch for each entity and batch`() throws {
            let log = Log()
            let context = try StoreConnection.$statementObserver.withValue({ statement in
                log.statements.withLock { $0.append(statement) }
            }) {
                try makeContext(ShopModel.make())
            }
            let orders = (0..<100_000).map { #"{"number": \#($0), "total": 1}"# }
            let json = Data(#"{"Order": [\#(orders.joined(separator: ","))]}"#.utf8)
            try context.performAndWait {
                for isStored in [false, true] {
                    log.statements.withLock { $0 = [] }
                    let plan = try GraphImporter(into: context).plan(json)
                    let count = log.statements.withLock { $0.filter { $0.hasPrefix("SELECT") }.count }
                    #expect(count <= 202, "\(count) fetches for 200 batches")
                    #expect(plan.inserts.count == (isStored ? 0 : 100_000) && plan.updates.isEmpty)
                    try plan.apply()
                    try context.save()
                }
            }
        }

        @Test func `100,000 objects without a key are found by their content`() throws {
            let context = try makeContext(ShopModel.make())
            let remarks = (0..<100_000).map { #"{"text": "remark \#($0 / 2)", "stars": \#($0 % 6)}"# }
            let json = Data(#"{"Remark": [\#(remarks.joined(separator: ","))]}"#.utf8)
            var options = ImportOptions()
            options.identity.matchesContent = true
            try context.performAndWait {
                let importer = GraphImporter(into: context, options: options)
                #expect(try importer.importObjects(from: json).count == 100_000)
                try context.save()
                #expect(try importer.plan(json).isEmpty)
            }
        }

        @Test(arguments: [DocumentLayout.flat, .nested])
        func `a chain of a million objects is exported and imported`(_ layout: DocumentLayout) throws {
            let link = WebModel.entity("Link", [])
            WebModel.relate(link, "next", .toOne, link, "previous", .toOne)
            let model = NSManagedObjectModel()
            model.entities = [link]
            let count = 1_000_000
            let (context, other) = (try makeContext(model), try makeContext(model))
            let document = try context.performAndWait {
                context.undoManager = nil
                var last: NSManagedObject?
                let first = context.insert("Link")
                last = first
                for _ in 1..<count {
                    let next = context.insert("Link")
                    last?.setValue(next, forKey: "next")
                    last = next
                }
                return try first.encoded(layout: layout, shape: .everything)
            }
            try other.performAndWait {
                other.undoManager = nil
                var importer = GraphImporter(into: other)
                importer.worksInPlace = true
                let links = try importer.importObjects(from: document)
                #expect(other.insertedObjects.count == count)
                var length = 0
                var next =
                    links.first { $0.value(forKey: "previous") == nil }
                    ?? other.insertedObjects.first { $0.value(forKey: "previous") == nil }
                while let current = next {
                    length += 1
                    next = current.value(forKey: "next") as? NSManagedObject
                }
                #expect(length == count)
            }
        }
    }
#endif
