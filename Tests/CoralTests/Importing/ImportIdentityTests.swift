import Coral
import Testing

/// The identity of records: keys, constraints, URIs, content.
struct ImportIdentityTests {
    @Test func `the same key at the top and nested is one object`() throws {
        let shop = try Shop()
        let json = """
            {"Order": [{"number": 1, "customer": {"$entity": "Customer", "code": "a", "name": "Ann"}},
                       {"number": "1", "total": 3}],
             "Customer": [{"code": "a", "points": 4}]}
            """
        #expect(try shop.take(json) == "2 inserts, 0 updates, 1 link, 0 errors")
        let customer = try #require(try shop.objects("Customer", sortedBy: "code").first)
        #expect(customer.value(forKey: "name") as? String == "Ann")
        #expect((customer.value(forKey: "points") as? NSNumber)?.intValue == 4)
    }

    @Test func `a key through a relationship is unique per parent`() throws {
        let shop = try Shop()
        let json = """
            {"Order": [{"number": 1, "lines": [{"position": 1, "text": "a"}]}, {"number": 2, "lines": [{"position": 1, "text": "b"}]}]}
            """
        try shop.take(json)
        #expect(try shop.texts("Line", "text") == ["a", "b"])
        // Flat: the parent by its key, before and after the line itself.
        let flat =
            #"{"Line": [{"order": 2, "position": 1, "text": "B"}, {"order": 3, "position": 1, "text": "c"}], "Order": [{"number": 3}]}"#
        #expect(try shop.take(flat) == "2 inserts, 1 update, 1 link, 0 errors")
        #expect(try shop.texts("Line", "text") == ["B", "a", "c"])
    }

    @Test func `a compound key declared in code`() throws {
        let shop = try Shop()
        let key: (inout ImportOptions) -> Void = { $0.identity.keys["Remark"] = ["text", "stars"] }
        try shop.take(
            #"{"Remark": [{"text": "a", "stars": 1}, {"text": "a", "stars": 2}, {"text": "a", "stars": 1}]}"#, key)
        #expect(try shop.objects("Remark", sortedBy: "stars").count == 2)
        #expect(
            try shop.take(#"{"Remark": [{"text": "a", "stars": 2}, {"text": "a"}]}"#, key)
                == "1 insert, 0 updates, 0 links, 0 errors")
    }

    @Test func `declarations are checked against the model`() throws {
        let shop = try Shop()
        let error = #expect(throws: ImportError.self) {
            try shop.plan("{}") { $0.identity.keys["Remark"] = ["txt"] }
        }
        #expect(error?.code == .misuse)
        #expect(error?.message.contains("Did you mean \"text\"?") == true)
        #expect(throws: ImportError.self) { try shop.plan("{}") { $0.identity.keys["Remrk"] = ["text"] } }
        #expect(throws: ImportError.self) { try shop.plan("{}") { $0.relationshipPolicies["Order.line"] = .union } }
        #expect(throws: ImportError.self) {
            try shop.plan("{}") { $0.deletionScopes = ["X": NSPredicate(value: true)] }
        }
    }

    @Test func `a document of the same store finds its objects by their ids`() throws {
        let shop = try Shop()
        try shop.take(#"{"Remark": [{"text": "a"}, {"text": "b"}]}"#)
        let remarks = try shop.objects("Remark", sortedBy: "text")
        let json = try shop.context.performAndWait { try remarks.encoded() }.text
        #expect(try shop.take(json) == "0 inserts, 0 updates, 0 links, 0 errors")
        let changed = json.replacingOccurrences(of: "\"text\":\"b\"", with: "\"text\":\"c\"")
        #expect(try shop.take(changed) == "0 inserts, 1 update, 0 links, 0 errors")
        #expect(try shop.take(json) { $0.identity.usesObjectURIs = false } == "2 inserts, 0 updates, 0 links, 0 errors")
        #expect(try Shop().take(json) == "2 inserts, 0 updates, 0 links, 0 errors")
    }

    @Test func `without a key the content may be the identity`() throws {
        let shop = try Shop()
        let json = #"{"Remark": [{"text": "a", "stars": 1}, {"text": "b"}, {"text": "b"}]}"#
        let byContent: (inout ImportOptions) -> Void = { $0.identity.matchesContent = true }
        #expect(try shop.take(json, byContent) == "3 inserts, 0 updates, 0 links, 0 errors")
        #expect(try shop.take(json, byContent) == "0 inserts, 0 updates, 0 links, 0 errors")
        #expect(try shop.take(json) == "3 inserts, 0 updates, 0 links, 0 errors")
    }

    @Test func `unsaved objects are found`() throws {
        let shop = try Shop()
        shop.context.performAndWait { _ = shop.context.insert("Label", ["word": "new"]) }
        let plan = try shop.plan(#"{"Label": [{"word": "new", "colour": "red"}]}"#)
        #expect(plan.summary == "0 inserts, 1 update, 0 links, 0 errors")
        try shop.context.performAndWait {
            try plan.apply()
            try shop.context.save()
        }
        #expect(try shop.texts("Label", "colour") == ["red"])
    }

    @Test func `a cycle of keys is an error`() throws {
        let shop = try Shop()
        let plan = try shop.plan(#"{"Remark": [{"$id": "r", "order": "o"}], "Order": [{"$id": "o", "number": 1}]}"#) {
            $0.identity.keys["Remark"] = ["order"]
        }
        #expect(plan.errors.isEmpty)
        #expect(plan.inserts.count == 2)
    }
}
