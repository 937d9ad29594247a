import Coral
import GraphDocuments
import Testing

/// The plain layout: arrays by entity, relationships as keys, no members of this library's own.
struct PlainShapeTests {
    private let json = """
        {"Order": [
          {"number": 1, "total": "9.90", "changed": "2024-02-29T12:30:00.123Z",
           "customer": {"$entity": "Customer", "code": "a", "name": "Ann"},
           "lines": [{"position": 2, "text": "tea", "weight": 0.1}, {"position": 1, "text": "cup"}],
           "labels": [{"word": "new"}, {"word": "gift"}], "remarks": []},
          {"number": 2, "customer": "a", "labels": ["gift"], "lines": [{"position": 1, "text": "pot"}]}]}
        """

    private func plain(_ shop: Shop, _ change: (inout GraphExporter) -> Void = { _ in }) throws -> Data {
        var exporter = GraphExporter(format: .json, layout: .plain)
        change(&exporter)
        try shop.context.performAndWait { try shop.context.save() }
        let coordinator = try #require(shop.context.persistentStoreCoordinator)
        let sink = MemorySink()
        try exporter.exportStore(of: coordinator, to: sink)
        return sink.data
    }

    @Test func `each relationship is written once, references are keys, and importing it again changes nothing`() throws
    {
        let shop = try Shop()
        try shop.take(json)
        let data = try plain(shop)
        #expect(
            data.text == """
                {
                "Customer":[
                {"code":"a","name":"Ann","points":null}],
                "Label":[
                {"colour":null,"word":"new","orders":[1]},
                {"colour":null,"word":"gift","orders":[1,2]}],
                "Order":[
                {"changed":"2024-02-29T12:30:00.123Z","number":1,"total":"9.9","customer":"a","lines":[[1,2],[1,1]]},
                {"changed":null,"number":2,"total":null,"customer":"a","lines":[[2,1]]}],
                "Line":[
                {"id":null,"isGift":null,"link":null,"picture":null,"position":2,"ratio":null,"text":"tea","weight":0.1,"order":1},
                {"id":null,"isGift":null,"link":null,"picture":null,"position":1,"ratio":null,"text":"cup","weight":null,"order":1},
                {"id":null,"isGift":null,"link":null,"picture":null,"position":1,"ratio":null,"text":"pot","weight":null,"order":2}],
                "Remark":[]}

                """)
        let again = try shop.take(data.text) { $0.layout = .plain }
        #expect(again == "0 inserts, 0 updates, 0 links, 0 errors")
        let other = try Shop()
        try other.take(data.text) { $0.layout = .plain }
        #expect(try plain(other) == data)
    }

    @Test func `dates are exact or rounded to milliseconds, and both are recognised`() throws {
        let shop = try Shop()
        shop.context.performAndWait {
            _ = shop.context.insert(
                "Order", ["number": 1, "changed": Date(timeIntervalSinceReferenceDate: 730_902_600.1234567)])
        }
        let rounded = try plain(shop) { $0.roundsDatesToMilliseconds = true }
        #expect(rounded.text.contains("2024-02-29T12:30:00.123Z"))
        #expect(
            try shop.take(rounded.text) { $0.layout = .plain } == "0 inserts, 0 updates, 0 links, 0 errors")
        let exact = try plain(shop)
        let other = try Shop()
        try other.take(exact.text) { $0.layout = .plain }
        #expect(
            try other.objects("Order", sortedBy: "number").first?.value(forKey: "changed") as? Date
                == Date(timeIntervalSinceReferenceDate: 730_902_600.1234567))
    }

    @Test func `if the shape omits one side, the other is written`() throws {
        let shop = try Shop()
        try shop.take(json)
        let data = try plain(shop) {
            $0.shape.set("Order.lines", .omit)
            $0.shape.set("Label.orders", .omit)
        }
        #expect(!data.text.contains("lines") && data.text.contains(#""labels":["new","gift"]"#))
    }

    @Test func `a reference to an object without a key cannot be written`() throws {
        let shop = try Shop()
        try shop.take(#"{"Order": [{"number": 1, "remarks": [{"text": "a"}]}]}"#)
        #expect(throws: DocumentError.self) { try plain(shop) { $0.shape.set("Remark.order", .omit) } }
        #expect(throws: ExportError.self) { try plain(shop) { $0.format = .jsonLines } }
    }

    @Test func `ids of this library's documents are natural keys on request`() throws {
        let shop = try Shop()
        try shop.take(json)
        for layout in [DocumentLayout.flat, .nested] {
            let data = try plain(shop) {
                $0.layout = layout
                $0.idScheme = .key
                $0.shape = .everything
            }
            #expect(data.text.contains(#""$id":"Line/=1,2""#) && !data.text.contains("Order/p"))
            let other = try Shop()
            #expect(try other.take(data.text).hasSuffix("0 errors"))
            #expect(try other.take(data.text) == "0 inserts, 0 updates, 0 links, 0 errors")
            #expect(try other.objects("Line", sortedBy: "position").count == 3)
        }
    }

    @Test(arguments: ["[1, null]", "[null, 1]"])
    func `a null part of a key is an error, and not an empty text`(key: String) throws {
        let shop = try Shop()
        let model = ShopModel.make()
        model.entitiesByName["Label"]?.userInfo = ["coral.identity": "word, colour"]
        let labels = try Shop(model)
        try labels.take(#"{"Label": [{"word": "", "colour": ""}, {"word": "a", "colour": ""}]}"#)
        for (shop, json) in [
            (shop, #"{"Order": [{"number": 1, "lines": [\#(key)]}]}"#),
            (labels, #"{"Order": [{"number": 1, "labels": [["a", null]]}]}"#),
        ] {
            let error = #expect(throws: DocumentError.self) { try shop.take(json) { $0.layout = .plain } }
            #expect(error?.code == .wrongType)
        }
    }

    @Test func `in batches keys find objects of earlier records`() throws {
        let shop = try Shop()
        try shop.take(json)
        let data = try plain(shop)
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let url = folder.appendingPathComponent("Shop.sqlite")
        var options = ImportOptions()
        options.layout = .plain
        let model = ShopModel.make()
        func take(_ data: Data) throws -> BatchImporter.Result {
            try BatchImporter.importDocument(
                .data(data), intoStoreAt: url, model: model, options: options, batchSize: 2)
        }
        let first = try take(data)
        #expect(first.insertCount == 8 && first.errors.count == 0)
        let second = try take(data)
        #expect(second.insertCount == 0 && second.updateCount == 0 && second.linkCount == 0)
        let bad = data.text.replacingOccurrences(
            of: "\"position\":1,\"ratio\":null,\"text\":\"pot\"", with: "\"position\":\"x\""
        )
        .replacingOccurrences(of: "\"Ann\"", with: "\"Other\"")
        #expect(bad != data.text)
        #expect(throws: ImportError.self) { try take(Data(bad.utf8)) }
        let context = try makeContext(model, at: url)
        try context.performAndWait {
            let names = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Customer")).map {
                $0.value(forKey: "name") as? String
            }
            #expect(names == ["Ann"], "The batches before the error are undone too.")
        }
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder.path).allSatisfy { $0.hasPrefix("Shop.sqlite") })
    }
}
