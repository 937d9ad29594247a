import Coral
import Foundation
import Testing

/// Imports in batches of objects: relationships across batches, and validation.
@Suite struct BatchImportTests {
    private func importing(
        _ json: String, into shop: Shop, batchSize: Int = 1, _ change: (inout ImportOptions) -> Void = { _ in }
    ) throws -> BatchImporter.Result {
        var options = ImportOptions()
        change(&options)
        let coordinator = try #require(shop.context.persistentStoreCoordinator)
        return try BatchImporter(into: coordinator, options: options, batchSize: batchSize)
            .importDocument(.data(Data(json.utf8)))
    }

    @Test(arguments: [1, 2, 5000]) func `an object without a required attribute is refused`(batchSize: Int) throws {
        let shop = try Shop()
        let json = #"{"Label": [{"word": "a"}], "Order": [{"number": 1}, {"total": "2"}]}"#
        let error = #expect(throws: ImportError.self) { _ = try importing(json, into: shop, batchSize: batchSize) }
        #expect(error?.code == .invalidObject)
        #expect(error?.place?.property == "number")
        #expect(error?.place?.document?.pointer == "/Order/1")
    }

    @Test func `a document whose references lead back is read once`() throws {
        let shop = try Shop()
        let back = #"{"Remark": [{"$id": "r", "text": "a"}], "Order": [{"number": 1, "remarks": ["r"]}]}"#
        #expect(try importing(back, into: shop).savedBatchCount == 2)
        let forward = #"{"Order": [{"number": 2, "remarks": ["s"]}], "Remark": [{"$id": "s", "text": "b"}]}"#
        let result = try importing(forward, into: shop)
        #expect(result.savedBatchCount == 3)
        #expect((result.recordCount, result.insertCount, result.linkCount) == (2, 2, 1))
        for remark in try shop.objects("Remark", sortedBy: "text") { #expect(remark.value(forKey: "order") != nil) }
    }

    @Test func `ids that are canonically equivalent are ids of two records, also of different batches`() throws {
        let shop = try Shop()
        let json =
            #"{"Remark": [{"$id": "\u00e9", "text": "one"}, {"$id": "e\u0301", "text": "two"}], "#
            + #""Order": [{"number": 1, "remarks": ["\u00e9"]}, {"number": 2, "remarks": ["e\u0301"]}]}"#
        #expect(try importing(json, into: shop).insertCount == 4)
        let numbers = try shop.objects("Remark", sortedBy: "text").map { $0.value(forKeyPath: "order.number") as? Int }
        #expect(numbers == [1, 2])
    }

    @Test func `a conflict of a record with deferred relationships is reported once`() throws {
        let shop = try Shop()
        let json =
            #"{"Remark": [{"$id": "r", "text": "a"}], "Order": [{"number": 1, "remarks": ["r"], "labels": ["l"]}, "#
            + #"{"number": 2, "remarks": ["r"], "labels": ["l"]}], "Label": [{"$id": "l", "word": "x"}]}"#
        let result = try importing(json, into: shop, batchSize: 3)
        #expect(result.conflicts.map(\.message) == ["Two objects are stated for Remark.order; the last is used."])
        #expect((result.conflicts.count, result.linkCount, result.savedBatchCount) == (1, 4, 3))
    }

    @Test(arguments: [1, 5000]) func `an id belongs to the later record, not to the stored object that has it`(
        batchSize: Int
    ) throws {
        let shop = try Shop()
        try shop.take(#"{"Label": [{"word": "home"}, {"word": "work"}]}"#)
        let labels = try shop.objects("Label", sortedBy: "word")
        let name = labels.map { "Label/" + $0.objectID.uriRepresentation().lastPathComponent }
        let store = try #require(labels[0].objectID.uriRepresentation().host)
        // The document says that the object with the first label's id has the word of the second one.
        let json =
            #"{"$header": {"format": "coral-graph", "version": 1, "layout": "flat", "ids": "stored", "store": "\#(store)"}, "Order": [{"number": 1, "labels": ["\#(name[0])"]}], "#
            + #""Label": [{"$id": "\#(name[0])", "word": "work"}]}"#
        _ = try importing(json, into: shop, batchSize: batchSize)
        let order = try #require(try shop.objects("Order", sortedBy: "number").first)
        let words = (order.value(forKey: "labels") as? NSSet)?.allObjects
            .compactMap { ($0 as? NSManagedObject)?.value(forKey: "word") as? String }
        #expect(words == ["work"])
    }

    @Test func `an object that the document deletes is no destination for later records`() throws {
        let shop = try Shop()
        try shop.take(#"{"Label": [{"word": "home"}]}"#)
        let json =
            #"{"Label": [{"$id": "l", "word": "home", "$deleted": true}], "Order": [{"number": 1, "labels": ["l"]}]}"#
        let error = #expect(throws: ImportError.self) { _ = try importing(json, into: shop) { $0.operations = .all } }
        #expect(error?.code == .danglingReference)
    }

    #if !canImport(Darwin)
        /// A shop in which a line requires its order.
        private func strictShop() throws -> Shop {
            let model = ShopModel.make()
            model.entitiesByName["Line"]?.relationshipsByName["order"]?.isOptional = false
            return try Shop(model)
        }

        @Test(.enabled(if: Engine.hasRows), arguments: [1, 2, 5000])
        func `a required relationship may be stated by a later record`(
            batchSize: Int
        ) throws {
            let shop = try strictShop()
            let json =
                #"{"Line": [{"$id": "a", "position": 1}, {"$id": "b", "position": 2}], "Order": [{"number": 1, "lines": ["a", "b"]}]}"#
            #expect(try importing(json, into: shop, batchSize: batchSize).insertCount == 3)
        }

        @Test(.enabled(if: Engine.hasRows), arguments: [1, 2, 5000])
        func `a required relationship that no record states is an error`(
            batchSize: Int
        ) throws {
            let shop = try strictShop()
            let json =
                #"{"Line": [{"$id": "a", "position": 1}, {"$id": "b", "position": 2}], "Order": [{"number": 1, "lines": ["a"]}]}"#
            let error = #expect(throws: ImportError.self) { _ = try importing(json, into: shop, batchSize: batchSize) }
            #expect(error?.message == "Line.order is required and has no value.")
            #expect(error?.place?.record?.text == "b")
        }

        @Test(.enabled(if: Engine.hasRows), arguments: [1, 2, 5000])
        func `a record whose required relationship no record states can be omitted`(
            batchSize: Int
        ) throws {
            let model = ShopModel.make()
            model.entitiesByName["Line"]?.relationshipsByName["order"]?.isOptional = false
            model.entitiesByName["Remark"]?.relationshipsByName["order"]?.isOptional = false
            let shop = try Shop(model)
            let json =
                #"{"Line": [{"$id": "a", "position": 1}, {"$id": "b", "position": 2}], "Order": [{"number": 1, "lines": ["a"]}]}"#
            let result = try importing(json, into: shop, batchSize: batchSize) { $0.skipsInvalid = true }
            #expect((result.errors.count, result.insertCount) == (1, 2))
            #expect(result.errors.kept.first?.place?.record?.text == "b")
            #expect(try shop.objects("Line", sortedBy: "position").map { $0.value(forKey: "position") as? Int } == [1])
            #expect(try shop.objects("Order", sortedBy: "number").count == 1)
        }

        @Test(.enabled(if: Engine.hasRows))
        func `an object of the store that would lack its required relationship is not omitted`() throws {
            let shop = try strictShop()
            let lines = #"{"Line": [{"$id": "a", "position": 1}], "Order": [{"number": 1, "lines": ["a"]}]}"#
            _ = try importing(lines, into: shop)
            let line = try #require(try shop.objects("Line", sortedBy: "position").first)
            let id = "Line/" + line.objectID.uriRepresentation().lastPathComponent
            let store = try #require(line.objectID.uriRepresentation().host)
            let header =
                #"{"format": "coral-graph", "version": 1, "layout": "flat", "ids": "stored", "store": "\#(store)"}"#
            let json = #"{"$header": \#(header), "Line": [{"$id": "\#(id)", "order": null}]}"#
            let error = #expect(throws: ImportError.self) {
                _ = try importing(json, into: shop) { $0.skipsInvalid = true }
            }
            #expect(error?.message == "Line.order is required and has no value.")
            #expect(try shop.objects("Line", sortedBy: "position").count == 1)
        }
    #endif
}
