import Coral
import NotesModel
import Testing

/// Records whose id and key belong to two objects, and repeated ids.
struct ImportConflictTests {
    /// A shop with two labels, and its document.
    private func makeShop() throws -> (shop: Shop, document: String) {
        let shop = try Shop()
        try shop.take(#"{"Label": [{"word": "a", "colour": "red"}, {"word": "b", "colour": "blue"}]}"#)
        let document = try shop.context.performAndWait { try shop.objects("Label", sortedBy: "word").encoded() }.text
        return (shop, document)
    }

    private func labels(_ shop: Shop) throws -> [String] {
        try shop.objects("Label", sortedBy: "word").map {
            "\($0.value(forKey: "word") as? String ?? "-") \($0.value(forKey: "colour") as? String ?? "-")"
        }
    }

    @Test func `an unedited document has no conflict`() throws {
        let (shop, document) = try makeShop()
        #expect(try shop.take(document) == "0 inserts, 0 updates, 0 links, 0 errors")
        #expect(
            try shop.take(document) { $0.identity.prefersObjectURIs = true }
                == "0 inserts, 0 updates, 0 links, 0 errors")
    }

    @Test func `an edited key inserts a new object, and is a conflict`() throws {
        let (shop, document) = try makeShop()
        let edited = document.replacingOccurrences(of: #""word":"b""#, with: #""word":"c""#)
        let plan = try shop.plan(edited)
        #expect(plan.summary == "1 insert, 0 updates, 0 links, 1 conflict, 0 errors")
        let conflict = try #require(plan.conflicts.kept.first)
        #expect(
            conflict.message
                == "The record has the id of Label/p2 and another key. Keys take precedence: a new object is inserted.")
        #expect(conflict.subject.record?.text == "Label/p2")
        #expect(conflict.property == "word")
        try shop.take(edited)
        #expect(try labels(shop) == ["a red", "b blue", "c blue"])
    }

    @Test func `an edited key is an update where ids take precedence`() throws {
        let (shop, document) = try makeShop()
        let edited = document.replacingOccurrences(of: #""word":"b""#, with: #""word":"c""#)
        #expect(
            try shop.take(edited) { $0.identity.prefersObjectURIs = true } == "0 inserts, 1 update, 0 links, 0 errors")
        #expect(try labels(shop) == ["a red", "c blue"])
    }

    @Test func `a key edited to that of another object updates that object, and is a conflict`() throws {
        let (shop, document) = try makeShop()
        // Only the record whose key was edited.
        let edited = try #require(
            document.replacingOccurrences(of: #""word":"b""#, with: #""word":"a""#)
                .replacingOccurrences(of: #"{"$id":"Label/p1","colour":"red","orders":[],"word":"a"},"#, with: "")
                as String?)
        let plan = try shop.plan(edited)
        #expect(
            plan.conflicts.kept.first?.message
                == "The record has the id of Label/p2 and the key of Label/p1. Keys take precedence: Label/p1 is updated."
        )
        // Where ids take precedence, both objects would have the key, which is unique.
        let other = try shop.plan(edited) { $0.identity.prefersObjectURIs = true }
        #expect(other.conflicts.count == 1 || other.errors.count == 1)
    }

    @Test func `two records with one edited key are one object, and a conflict`() throws {
        let (shop, document) = try makeShop()
        let edited = document.replacingOccurrences(of: #""word":"b""#, with: #""word":"a""#)
        let plan = try shop.plan(edited)
        // The other conflict is that of the two colours.
        #expect(plan.conflicts.kept.map(\.subject.record?.text) == ["Label/p2", "Label/p1"])
        #expect(plan.conflicts.kept.last?.property == "colour")
        let other = try shop.plan(edited) { $0.identity.prefersObjectURIs = true }
        #expect(other.errors.kept.map(\.code) == [.ambiguousIdentity])
    }

    @Test func `exchanged keys are exchanged where ids take precedence`() throws {
        let (shop, document) = try makeShop()
        let edited = document.replacingOccurrences(of: #""word":"b""#, with: #""word":"x""#)
            .replacingOccurrences(of: #""word":"a""#, with: #""word":"b""#)
            .replacingOccurrences(of: #""word":"x""#, with: #""word":"a""#)
        let summary = try shop.take(edited) { $0.identity.prefersObjectURIs = true }
        #expect(summary == "0 inserts, 2 updates, 0 links, 0 errors")
        #expect(try labels(shop) == ["a blue", "b red"])
        // Where keys take precedence, the other values are exchanged.
        let (second, _) = try makeShop()
        #expect(try second.plan(edited).conflicts.isEmpty, "The document is another store's.")
    }

    @Test func `an id of another store is not a conflict`() throws {
        let (_, document) = try makeShop()
        let (other, _) = try makeShop()
        let edited = document.replacingOccurrences(of: #""word":"b""#, with: #""word":"c""#)
        #expect(try other.take(edited) == "1 insert, 0 updates, 0 links, 0 errors")
    }

    @Test func `an error of an object without a record names the object`() throws {
        let model = ShopModel.make()
        let order = try #require(model.entitiesByName["Line"]?.relationshipsByName["order"])
        order.isOptional = false
        model.entitiesByName["Order"]?.relationshipsByName["lines"]?.deleteRule = .nullifyDeleteRule
        let shop = try Shop(model)
        try shop.take(#"{"Order": [{"number": 1, "lines": [{"position": 1}, {"position": 2}, {"position": 3}]}]}"#)
        let plan = try shop.plan("[]") {
            $0.deletionScopes = ["Order": NSPredicate(value: true)]
            $0.allowsEmptyDocument = true
        }
        let lines = plan.errors.map(\.description)
        #expect(lines.count == 3)
        #expect(Set(lines).count == 3)
        #expect(lines.first == "Line.order is required and has no value. (Line/p1)")
    }

    @Test func `each unknown member is reported with its own position`() throws {
        let names = (0..<3).map { String(repeating: "k", count: 200) + "\($0)" }
        let json = #"{"Remark": [{"text": "a", \#(names.map { "\"\($0)\": 1" }.joined(separator: ", "))}]}"#
        let plan = try Shop().plan(json) { $0.unknownKeys = .record }
        #expect(Set(plan.conflicts.map(\.description)).count == 3)
    }

    @Test func `two records with one id are an error`() throws {
        let shop = try Shop()
        let json =
            #"{"Remark": [{"$id": "r", "text": "a"}, {"$id": "r", "stars": 1}], "Order": [{"number": 1, "remarks": ["r"]}]}"#
        let plan = try shop.plan(json)
        let error = try #require(plan.errors.kept.first)
        #expect(error.code == .repeatedID)
        #expect(error.place?.document?.pointer == "/Remark/1")
        // Two records with the same key are merged.
        #expect(try shop.plan(#"{"Label": [{"word": "a"}, {"word": "a", "colour": "red"}]}"#).errors.isEmpty)
    }

    @Test(arguments: [1, 2, 5000]) func `two records with one id are an error in batches`(batchSize: Int) throws {
        let shop = try Shop()
        let json = #"{"Remark": [{"$id": "r", "text": "a"}, {"$id": "s"}, {"$id": "r", "stars": 1}]}"#
        let importer = BatchImporter(into: try #require(shop.context.persistentStoreCoordinator), batchSize: batchSize)
        let error = #expect(throws: ImportError.self) { try importer.importDocument(.data(Data(json.utf8))) }
        #expect(error?.code == .repeatedID)
    }

    @Test func `documents with a repeated id are not compared`() throws {
        let json = #"{"Remark": [{"$id": "Remark/p1", "text": "a"}, {"$id": "Remark/p1", "text": "b"}]}"#
        let whole = #"{"Remark": [{"$id": "Remark/p1", "text": "a"}]}"#
        func state(_ json: String) -> GraphState { .document(.data(Data(json.utf8))) }
        let comparison = GraphComparison(ShopModel.make())
        for (old, new) in [(json, whole), (whole, json), ("{\"Remark\": []}", json)] {
            let error = #expect(throws: DeltaError.self) { try comparison.delta(from: state(old), to: state(new)) }
            #expect(error?.code == .repeated)
        }
    }
}
