#if !canImport(Darwin)

    @testable import Coral
    import CoralTesting
    import GraphDocuments
    import Testing

    /// The plain layout from rows is equal to that from objects, byte for byte.
    @Suite(.enabled(if: Engine.hasRows)) struct RowExportTests {
        private let json = """
            {"Order": [
              {"number": 1, "total": "9.90", "changed": "2024-02-29T12:30:00.123Z",
               "customer": {"$entity": "Customer", "code": "a", "name": "Ann \\"A\\" é"},
               "lines": [{"position": 2, "text": "tea", "weight": 0.1, "isGift": true, "ratio": 0.5,
                          "id": "D31042F4-AB4F-46A5-A657-A2DA914FECE1", "picture": "AAECAw=="},
                         {"position": 1, "text": "cup\\nand saucer"}],
               "labels": [{"word": "new"}, {"word": "gift"}], "remarks": []},
              {"number": 2, "customer": "a", "labels": ["gift"], "lines": [{"position": 1, "text": "pot"}]},
              {"number": 3, "labels": [], "lines": []}]}
            """

        /// A shop with values that rows can represent.
        private func makeShop() throws -> Shop {
            let model = ShopModel.make()
            model.entitiesByName["Line"]?.properties.removeAll { $0.name == "link" }
            let remark = try #require(model.entitiesByName["Remark"])
            remark.userInfo = ["coral.identity": "text"]
            return try Shop(model)
        }

        /// The result from rows or objects: a document, or the error's message.
        private func document(
            of coordinator: NSPersistentStoreCoordinator, _ exporter: GraphExporter, fromRows: Bool
        ) throws -> (text: String, result: ExportResult?) {
            let sink = MemorySink()
            do {
                let result = try exporter.exportStore(of: StoreSnapshot(of: coordinator)) { session in
                    if fromRows {
                        let path = try Engine.current.writeRows(of: session, to: sink)
                        #expect(path == .rows)
                        return session.result
                    }
                    var writer = try session.makeWriter(to: sink)
                    return try session.exportStore(to: &writer, progress: nil, fromRows: false)
                }
                return (String(decoding: sink.data, as: UTF8.self), result)
            } catch let error as DocumentError {
                return (error.message, nil)
            }
        }

        private func requireSame(_ shop: Shop, _ exporter: GraphExporter) throws {
            let coordinator = try #require(shop.context.persistentStoreCoordinator)
            let rows = try document(of: coordinator, exporter, fromRows: true)
            let objects = try document(of: coordinator, exporter, fromRows: false)
            #expect(rows.text == objects.text)
            #expect(rows.result == objects.result)
        }

        @Test func `every kind of value and relationship, in every format of dates and decimals`() throws {
            let shop = try makeShop()
            try shop.take(json)
            var exporter = GraphExporter(format: .json, layout: .plain)
            try requireSame(shop, exporter)
            exporter.writesDecimalsAsNumbers = true
            try requireSame(shop, exporter)
            exporter.shape = .everything.excluding("Order.lines", "Label")
            try requireSame(shop, exporter)
        }

        @Test(arguments: 1...20) func `random graphs`(seed: UInt64) throws {
            let shop = try makeShop()
            try shop.context.performAndWait {
                var generator = GraphGenerator(seed: seed)
                _ = try generator.objects(40, in: shop.context)
                try shop.context.save()
            }
            try requireSame(shop, GraphExporter(format: .json, layout: .plain))
        }

        @Test func `an object without a key is an error that names it`() throws {
            let shop = try makeShop()
            try shop.take(json)
            try shop.context.performAndWait {
                let order = try #require(try shop.objects("Order", sortedBy: "number").first)
                order.setValue(shop.context.insert("Customer", ["name": "Nobody"]), forKey: "customer")
                try shop.context.save()
            }
            let exporter = GraphExporter(format: .json, layout: .plain)
            try requireSame(shop, exporter)
            let coordinator = try #require(shop.context.persistentStoreCoordinator)
            let error = #expect(throws: DocumentError.self) {
                try exporter.exportStore(of: coordinator, to: MemorySink())
            }
            #expect(
                error?.message.contains("Customer/p2 has none. Declare the attributes that identify Customer") == true)
        }

        @Test func `values that rows cannot represent fall back to objects`() throws {
            let shop = try makeShop()
            try shop.context.performAndWait {
                for _ in 0..<2 {
                    shop.context.insert(
                        "Remark", ["text": "same", "order": shop.context.insert("Order", ["number": 1])])
                }
                try shop.context.save()
            }
            let coordinator = try #require(shop.context.persistentStoreCoordinator)
            for change in [{ $0.format = .json }, { $0.layout = .flat }] as [(inout GraphExporter) -> Void] {
                var exporter = GraphExporter(format: .json, layout: .plain)
                change(&exporter)
                try exporter.exportStore(of: StoreSnapshot(of: coordinator)) { session in
                    let sink = MemorySink()
                    let path = try Engine.current.writeRows(of: session, to: sink)
                    #expect(path.reason != nil)
                    #expect(sink.data.isEmpty)
                }
            }
        }
    }

#endif
