#if !canImport(Darwin)

    @testable import Coral
    import CoralTesting
    import GraphDocuments
    import ManagedObjects
    import Testing

    /// Flat documents from rows are equal to those from objects, byte for byte, in every format.
    @Suite(.enabled(if: Engine.hasRows)) struct RowRecorderTests {
        private func requireSame(
            _ context: NSManagedObjectContext, _ change: (inout GraphExporter) -> Void = { _ in }
        ) throws {
            let coordinator = try #require(context.persistentStoreCoordinator)
            for format in GraphFormat.allCases {
                var exporter = GraphExporter(format: format, layout: format == .jsonLines ? .lines : .flat)
                change(&exporter)
                let rows = try document(of: coordinator, exporter, fromRows: true)
                let objects = try document(of: coordinator, exporter, fromRows: false)
                #expect(rows.data == objects.data)
                #expect(rows.result == objects.result)
                #expect(objects.result.recordCount > 0)
            }
        }

        private func document(
            of coordinator: NSPersistentStoreCoordinator, _ exporter: GraphExporter, fromRows: Bool
        ) throws -> (data: Data, result: ExportResult) {
            let sink = MemorySink()
            let result = try exporter.exportStore(of: StoreSnapshot(of: coordinator)) { session in
                var writer = try session.makeWriter(to: sink)
                return try session.exportStore(to: &writer, progress: nil, fromRows: fromRows)
            }
            return (sink.data, result)
        }

        /// A store of random objects.
        private func makeContext(_ model: NSManagedObjectModel, seed: UInt64) throws -> NSManagedObjectContext {
            let shop = try Shop(model)
            try shop.context.performAndWait {
                var generator = GraphGenerator(seed: seed)
                _ = try generator.objects(40, in: shop.context)
                try shop.context.save()
            }
            return shop.context
        }

        /// The entities that are recorded from rows.
        private func recorded(_ context: NSManagedObjectContext) throws -> [String] {
            let coordinator = try #require(context.persistentStoreCoordinator)
            return try GraphExporter(format: .json, layout: .flat).explainStore(of: coordinator)
                .filter { $0.value == .rows }.keys.sorted()
        }

        @Test(arguments: 1...10) func `values of every simple type`(seed: UInt64) throws {
            let context = try makeContext(ShopModel.make(), seed: seed)
            #expect(try recorded(context) == ["Customer", "Label", "Line", "Order", "Remark"])
            try requireSame(context)
            try requireSame(context) { $0.shape = .everything.excluding("Order.lines", "Label", "Party.name") }
        }

        @Test(arguments: 1...20) func `relationships of every kind, also to subentities`(seed: UInt64) throws {
            let context = try makeContext(WebModel.make(), seed: seed)
            #expect(try recorded(context) == ["Place", "Special", "Thing"])
            try requireSame(context)
            try requireSame(context) { $0.shape = .everything.excluding("Special") }
        }

        @Test func `entities with values that rows cannot represent fall back to objects, the others do not`() throws {
            let model = ShopModel.make()
            let remark = try #require(model.entitiesByName["Remark"])
            remark.properties.append(WebModel.attribute("mood", .transformableAttributeType))
            let context = try makeContext(model, seed: 1)
            #expect(try recorded(context) == ["Customer", "Label", "Line", "Order"])
            try requireSame(context)
        }

        @Test func `ids by key fall back to objects`() throws {
            try requireSame(try makeContext(ShopModel.make(), seed: 2)) { $0.idScheme = .key }
        }
    }

#endif
