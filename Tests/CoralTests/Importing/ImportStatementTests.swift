#if !canImport(Darwin)
    import Coral
    import Synchronization
    import Testing
    @testable import ManagedObjects
    @testable import SQLiteConnections

    /// The number of statements of an import.
    @Suite(.enabled(if: Engine.hasRows)) struct ImportStatementTests {
        private final class Log: Sendable {
            let statements = Mutex<[String]>([])
        }

        /// The number of SELECT statements of planning.
        private func selects(_ count: Int, stored: Bool) throws -> Int {
            let log = Log()
            let context = try StoreConnection.$statementObserver.withValue({ statement in
                log.statements.withLock { $0.append(statement) }
            }) {
                try makeContext(ShopModel.make())
            }
            let orders = (0..<count).map { number in
                #"{"number": \#(number), "labels": [{"word": "w\#(number)"}, "w\#((number + 1) % count)"], "customer": "c\#(number % 7)"}"#
            }
            let customers = (0..<7).map { #"{"code": "c\#($0)"}"# }
            let json =
                #"{"Order": [\#(orders.joined(separator: ","))], "Customer": [\#(customers.joined(separator: ","))]}"#
            return try context.performAndWait {
                let importer = GraphImporter(into: context)
                if stored {
                    try importer.importObjects(from: Data(json.utf8))
                    try context.save()
                    context.reset()
                }
                log.statements.withLock { $0 = [] }
                let plan = try importer.plan(Data(json.utf8))
                #expect(plan.errors.isEmpty)
                #expect(plan.inserts.count == (stored ? 0 : 2 * count + 7))
                #expect(!stored || plan.isEmpty)
                return log.statements.withLock { $0.filter { $0.hasPrefix("SELECT") }.count }
            }
        }

        @Test func `one fetch for each key and batch, whatever the size`() throws {
            // One statement opens the connection of the state that the plan reads.
            #expect(try selects(20, stored: false) == 4)
            #expect(try selects(400, stored: false) == 4)
            // 1,100 labels are three batches. The key of orders has no index: they are one batch.
            #expect(try selects(1100, stored: false) == 6)
            let few = try selects(20, stored: true)
            #expect(try selects(400, stored: true) <= few + 4)
        }
    }
#endif
