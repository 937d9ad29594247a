import Foundation
import GraphDocuments
import Testing

/// Documents with a foreign format, read and written by one declaration.
struct MappingTests {
    private let schema = GraphSchema(entities: [
        .init(
            name: "User",
            attributes: [
                .init(name: "birthday", type: .date), .init(name: "city", type: .string),
                .init(name: "id", type: .integer64),
                .init(name: "lastLogin", type: .date), .init(name: "nickname", type: .string),
                .init(name: "profileImageURL", type: .uri), .init(name: "rank", type: .decimal),
            ],
            relationships: [
                .init(name: "company", destination: "Company", inverse: "employees"),
                .init(name: "friends", destination: "User", inverse: "friends", isToMany: true),
                .init(name: "scores", destination: "Score", inverse: "user", isToMany: true),
            ]),
        .init(
            name: "Company", attributes: [.init(name: "code", type: .string), .init(name: "name", type: .string)],
            relationships: [.init(name: "employees", destination: "User", inverse: "company", isToMany: true)]),
        .init(
            name: "Score", attributes: [.init(name: "game", type: .string), .init(name: "points", type: .integer32)],
            relationships: [.init(name: "user", destination: "User", inverse: "scores")]),
        .init(name: "Layout", isAbstract: true, attributes: [.init(name: "id", type: .integer16)]),
        .init(
            name: "Circle", parent: "Layout",
            attributes: [.init(name: "id", type: .integer16), .init(name: "radius", type: .double)]),
        .init(
            name: "Square", parent: "Layout",
            attributes: [.init(name: "id", type: .integer16), .init(name: "side", type: .double)]),
    ])

    private var mapping: Mapping {
        var mapping = Mapping(keys: .snakeCase)
        mapping["User"].identity = ["id"]
        mapping["User"]["nickname"].keys = ["names[0]", "nick"]
        mapping["User"]["city"].keys = ["address.city"]
        mapping["User"]["city"].defaultValue = .string("nowhere")
        mapping["User"]["birthday"].dates = .format("d/M/yyyy", "yyyy-MM-dd")
        mapping["User"]["lastLogin"].dates = .unix
        mapping["User"]["company"].referenceKeys = ["company_code"]
        mapping["User"]["friends"].referenceKeys = ["friend_ids"]
        mapping["User"]["scores"].isKeyed = true
        mapping["Score"]["game"].keys = ["@key"]
        mapping["Score"]["points"].keys = ["@value"]
        mapping["Company"].identity = ["code"]
        mapping["Layout"].identity = ["id"]
        mapping["Layout"].choice = .value(of: "kind", ["round": "Circle", "square": "Square"])
        return mapping
    }

    private func records(
        _ json: String, _ entity: String?, _ mapping: Mapping, functions: @escaping MappedFunctionLookup = { _ in nil }
    ) throws -> [PlacedRecord] {
        let plan = try MappingPlan(mapping, schema: schema, functions: functions)
        var reader = try GraphFormat.json.reader(
            of: Data(json.utf8), plan: plan, options: ReadingOptions(allowsTrailingCommas: true, rootEntity: entity))
        var records: [PlacedRecord] = []
        while let record = try reader.nextPlaced() { records.append(record) }
        return records
    }

    @Test func `keys, paths, indices, fallbacks, dates and keyed collections are read`() throws {
        let json = """
            [{"id": 7, "names": ["Ann", "Annie"], "address": {"city": "Oslo"}, "birthday": "29/2/2024",
              "last_login": 1388349427543, "profile_image_url": "http://a/b", "rank": 0.12345678901234567891,
              "company": {"code": "acme", "name": "Acme"}, "friend_ids": [8, 9],
              "scores": {"chess": 12, "go": 7}, "extra": true},
             {"id": 8, "nick": "Bo", "birthday": "2024-02-28", "company_code": "acme", "friends": null}]
            """
        let records = try records(json, "User", mapping)
        #expect(records.map(\.record.entity) == ["Company", "Score", "Score", "User", "User"])
        let ann = records[3]
        #expect(ann.record.value(of: "nickname") == .string("Ann"))
        #expect(ann.record.value(of: "city") == .string("Oslo"))
        #expect(ann.record.value(of: "birthday") == .date(730_857_600))
        #expect(ann.record.value(of: "lastLogin") == .date(410_042_227.543))
        #expect(ann.record.value(of: "profileImageURL") == .uri("http://a/b"))
        #expect(ann.record.value(of: "rank") == .decimal(Decimal(string: "0.12345678901234567891")!))
        #expect(ann.unknownMembers.map(\.name) == ["extra"])
        #expect(ann.details?.relationshipsByKey == ["friends"])
        let friends = ann.record.target(of: "friends")?.ids.compactMap { ann.details?.references[$0]?.key.first?.value }
        #expect(friends == [.integer(8), .integer(9)])
        #expect(records[1].record.value(of: "game") == .string("chess"))
        #expect(records[1].record.value(of: "points") == .integer(12))
        let bo = records[4]
        #expect(bo.record.value(of: "nickname") == .string("Bo"))
        #expect(bo.record.target(of: "friends") == .nullToMany)
        #expect(bo.details?.defaults == [GraphAttribute(name: "city", value: .string("nowhere"))])
        #expect(bo.place.pointer == "/1" && bo.place.line == 5)
        #expect(bo.place(of: "city").pointer == "/1/address.city")
    }

    @Test func `the entity is chosen by content, and the content that identifies it is written`() throws {
        let records = try records(
            #"{"Layout": [{"kind": "round", "id": 1, "radius": 2}, {"kind": "square", "id": 2, "side": 1.5}, {"id": 3, "side": 4}],}"#,
            nil, mapping)
        #expect(records.map(\.record.entity) == ["Circle", "Square", "Layout"])
        #expect(
            records[2].record.value(of: "side") == .double(4), "An object found by its key may be of any entity below.")
        var writer = try MappedDictionaryWriter(plan: MappingPlan(mapping, schema: schema), style: .json)
        try writer.begin(DocumentHeader())
        try writer.write(records[0].record, of: schema.entity("Circle"))
        try writer.finish()
        let document = try #require(writer.document as? [[String: Any]])
        #expect(
            document[0]["kind"] as? String == "round")
    }

    @Test func `written documents are read back`() throws {
        let plan = try MappingPlan(mapping, schema: schema)
        let sink = MemorySink()
        var writer = try GraphFormat.json.graphWriter(to: ByteOutput(to: sink), plan: plan, byEntity: false)
        try writer.begin(DocumentHeader())
        try writer.beginObject(id: "User/=7", entity: "User", isDeleted: false)
        let user = try #require(schema.entity("User"))
        try writer.attribute("birthday", .date(730_857_600), declaredAs: user.attribute("birthday"))
        try writer.attribute("city", .string("Oslo"), declaredAs: user.attribute("city"))
        try writer.attribute("id", .integer(7), declaredAs: user.attribute("id"))
        try writer.attribute("lastLogin", .date(410_042_227.543), declaredAs: user.attribute("lastLogin"))
        try writer.attribute("nickname", .null, declaredAs: user.attribute("nickname"))
        try writer.beginRelationship("company", isToMany: false, isOrdered: false)
        try writer.reference("Company/=acme")
        try writer.endRelationship()
        try writer.beginRelationship("scores", isToMany: true, isOrdered: false)
        try writer.beginObject(id: "#2", entity: "Score", isDeleted: false)
        try writer.attribute("game", .string("go"), declaredAs: nil)
        try writer.attribute("points", .integer(5), declaredAs: schema.entity("Score")?.attribute("points"))
        try writer.beginRelationship("user", isToMany: false, isOrdered: false)
        try writer.reference("User/=7")
        try writer.endRelationship()
        try writer.endObject()
        try writer.endRelationship()
        try writer.endObject()
        try writer.finish()
        let text = String(decoding: sink.data, as: UTF8.self)
        #expect(
            text == """
                [
                {"birthday":"29/2/2024","address":{"city":"Oslo"},"id":7,"last_login":1388349427.543,"nick":null,"company_code":"acme","scores":{"go":5}}]

                """)
        let again = try records(text, "User", mapping)
        #expect(again.last?.record.value(of: "lastLogin") == .date(410_042_227.543))
        #expect(again.last?.record.value(of: "birthday") == .date(730_857_600))
        #expect(again.first?.record.value(of: "points") == .integer(5))
    }

    @Test func `transformers work in both directions, and errors of values are reported by record`() throws {
        var mapping = mapping
        mapping["User"]["id"].transformer = .named("hex")
        mapping["User"]["nickname"] = PropertyMapping("nick")
        mapping["User"]["nickname"].transformer = .functions(
            read: { tree in
                guard case .array(let words) = tree, case .value(let word)? = words.first else { return tree }
                return .value(word)
            }, write: { .array([$0]) })
        let hex: MappedFunctionLookup = { name in
            guard name == "hex" else { return nil }
            return MappedFunctions(
                read: { tree in
                    guard case .value(.string(let text)) = tree else { return nil }
                    return Int64(text, radix: 16).map { .value(.integer($0)) }
                },
                write: { tree in
                    guard case .value(.integer(let number)) = tree else { return nil }
                    return .value(.string(String(number, radix: 16)))
                })
        }
        let json =
            #"[{"id": "ff", "nick": ["Ann"], "friend_ids": ["10", 17]}, {"id": 3, "rank": {"a": 1}, "scores": []}]"#
        let records = try records(json, "User", mapping, functions: hex)
        #expect(records[0].record.value(of: "id") == .integer(255))
        #expect(records[0].record.value(of: "nickname") == .string("Ann"))
        #expect(Set(records[0].details?.references.values.map(\.key[0].value) ?? []) == [.integer(16), .integer(17)])
        #expect(records[1].record.value(of: "id") == .integer(3), "What is of the right type needs no transformer.")
        #expect(records[1].details?.mistakes.map(\.property) == ["rank"])
        #expect(throws: MappingError.self) { try MappingPlan(mapping, schema: schema) }
    }

    @Test func `all errors of a mapping are reported together`() throws {
        var mapping = Mapping()
        mapping["Usr"].identity = ["id"]
        mapping["User"]["nicknam"].keys = ["x"]
        mapping["User"]["id"].keys = ["a..b"]
        mapping["User"]["city"].transformer = .named("missing")
        mapping["User"]["rank"].dates = .unix
        mapping["User"]["birthday"].defaultValue = .string("never")
        mapping["User"]["company"].isKeyed = true
        mapping["User"]["profileImageURL"].keys = ["picture"]
        mapping["User"]["lastLogin"].keys = ["picture.seen"]
        mapping["Company"].identity = ["cod"]
        mapping["Layout"].choice = .value(of: "kind", ["x": "User"])
        let error = try #require(throws: MappingError.self) { try MappingPlan(mapping, schema: schema) }
        #expect(
            error.mistakes.map { "\($0.entity).\($0.property ?? "") \($0.code.rawValue)" } == [
                "Company. unknownProperty", "Layout. unknownEntity", "User.birthday wrongType",
                "User.city unknownTransformer",
                "User.company wrongType", "User.id wrongPath", "User.nicknam unknownProperty",
                "User.profileImageURL conflictingKeys", "User.rank wrongType", "Usr. unknownEntity",
            ])
        #expect(error.mistakes.last?.message.contains("Did you mean \"User\"?") == true)
    }

    @Test(arguments: [
        ("profileImageURL", "profile_image_url"), ("id", "id"), ("userID", "user_id"), ("URLString", "url_string"),
        ("address2Line", "address2_line"), ("first_name", "first_name"),
    ])
    func `names become keys`(name: String, key: String) {
        #expect(KeyStrategy.snakeCase.keys(of: name, in: "")[0] == key)
    }

    @Test func `objects are under a root, in arrays by entity, or one on each line`() throws {
        var mapping = mapping
        mapping.root = "response.data"
        #expect(
            try records(#"{"status": 1, "response": {"page": [1], "data": [{"id": 1}]}}"#, "User", mapping).count == 1)
        #expect(throws: DocumentError.self) { try records(#"{"response": {}}"#, "User", mapping) }
        mapping.root = nil
        mapping["User"].documentKey = "users"
        #expect(try records(#"{"users": [{"id": 1}, {"id": 2}], "Company": [{}]}"#, nil, mapping).count == 3)
        #expect(try records(#"["a", null, "b"]"#, "Company", mapping).map(\.details?.isReference) == [true, true])
        let plan = try MappingPlan(mapping, schema: schema)
        var reader = try GraphFormat.jsonLines.reader(
            of: Data("{\"id\": 1}\n{\"id\": 2}\n".utf8), plan: plan, options: ReadingOptions(rootEntity: "User"))
        #expect(try reader.nextPlaced()?.record.value(of: "id") == .integer(1))
        #expect(try reader.nextPlaced()?.record.value(of: "id") == .integer(2))
        #expect(try reader.nextPlaced() == nil)
    }

    @Test func `a tree of a thousand levels is read without recursion, a deeper one refused`() throws {
        var mapping = Mapping()
        mapping["User"].identity = ["id"]
        func chain(_ depth: Int) -> String {
            String(repeating: #"{"friends": ["#, count: depth) + #"{"id": 1}"# + String(repeating: "]}", count: depth)
        }
        #expect(try records(chain(500), "User", mapping).count == 501)
        #expect(throws: DocumentError.self) { try records(chain(600), "User", mapping) }
    }
}
