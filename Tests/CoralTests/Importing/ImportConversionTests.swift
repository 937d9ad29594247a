import Coral
import Testing

/// Values that are not of their declared type.
struct ImportConversionTests {
    private let shop: Shop

    init() throws { shop = try Shop() }

    private func value(_ json: String, _ key: String, _ change: (inout ImportOptions) -> Void = { _ in }) throws -> Any?
    {
        let plan = try shop.plan(json, entity: "Line") {
            $0.identity.keys["Line"] = ["position"]
            change(&$0)
        }
        return try shop.context.performAndWait { try plan.apply().first?.value(forKey: key) }
    }

    @Test func `numbers, booleans and text`() throws {
        #expect((try value(#"{"position": " 12 "}"#, "position") as? NSNumber)?.intValue == 12)
        #expect((try value(#"{"position": 12.0}"#, "position") as? NSNumber)?.intValue == 12)
        #expect((try value(#"{"position": true}"#, "position") as? NSNumber)?.intValue == 1)
        #expect((try value(#"{"weight": "124.3"}"#, "weight") as? NSNumber)?.doubleValue == 124.3)
        #expect((try value(#"{"isGift": 1}"#, "isGift") as? NSNumber)?.boolValue == true)
        #expect((try value(#"{"isGift": "no"}"#, "isGift") as? NSNumber)?.boolValue == false)
        #expect(try value(#"{"text": 10248909829}"#, "text") as? String == "10248909829")
        #expect(try value(#"{"text": 1.5}"#, "text") as? String == "1.5")
        #expect(try value(#"{"picture": "aGk="}"#, "picture") as? Data == Data("hi".utf8))
    }

    @Test(arguments: [
        #"{"position": 4294967296}"#, #"{"position": 1.5}"#, #"{"position": "x"}"#, #"{"isGift": 2}"#,
        #"{"weight": "heavy"}"#, #"{"position": "0x10"}"#, #"{"weight": "0x10"}"#, #"{"weight": "inf"}"#,
        #"{"ratio": "nan"}"#, #"{"position": "1e400"}"#, #"{"position": ""}"#, #"{"position": "."}"#,
        #"{"id": "none"}"#, #"{"picture": "???"}"#,
    ])
    func `a value that cannot be converted is an error with its position`(_ json: String) throws {
        let plan = try shop.plan(json, entity: "Line")
        let error = try #require(plan.errors.kept.first)
        #expect(error.code == .wrongValue)
        #expect(error.place?.property != nil)
        #expect(error.place?.document?.column ?? 0 > 1)
    }

    @Test func `text that people write is a number`() throws {
        for text in [" +12", "0012", "12.", "12.00", "1.2e1", "120e-1"] {
            #expect((try value(#"{"position": "\#(text)"}"#, "position") as? NSNumber)?.intValue == 12, "\(text)")
        }
        #expect((try value(#"{"weight": ".5"}"#, "weight") as? NSNumber)?.doubleValue == 0.5)
        #expect((try value(#"{"ratio": "-0.5"}"#, "ratio") as? NSNumber)?.floatValue == -0.5)
    }

    private func order(_ member: String, _ json: String) throws -> Any? {
        let plan = try shop.plan("[{\"number\": 1, \"\(member)\": \(json)}]", entity: "Order")
        #expect(plan.errors.isEmpty, "\(json)")
        return try shop.context.performAndWait { try plan.apply().first?.value(forKey: member) }
    }

    @Test func `decimals and integers keep every digit`() throws {
        let digits = "12345678901234567890123456789012345678"
        for json in [digits, "\"\(digits)\"", "\" +\(digits).0\""] {
            #expect((try order("total", json) as? NSDecimalNumber)?.stringValue == digits, "\(json)")
        }
        for json in ["\"9007199254740993.0\"", "9007199254740993.0", "\"9007199254740993\""] {
            let plan = try shop.plan("[{\"number\": \(json)}]", entity: "Order")
            let number = try shop.context.performAndWait { try plan.apply().first?.value(forKey: "number") }
            #expect((number as? NSNumber)?.int64Value == 9_007_199_254_740_993, "\(json)")
        }
    }

    @Test(arguments: [
        "\"0x10\"", "\"-infinity\"", "\"inf\"", "\"nan\"", "\"1 2\"", "\"1,5\"", "1e400", "\"1e400\"",
        "123456789012345678901234567890123456789012345", "\"123456789012345678901234567890123456789012345\"",
        "0.123456789012345678901234567890123456789012345",
    ])
    func `a decimal that would lose digits is an error`(_ json: String) throws {
        let plan = try shop.plan("[{\"number\": 1, \"total\": \(json)}]", entity: "Order")
        #expect(plan.errors.kept.map(\.code) == [.wrongValue])
        #expect(plan.errors.kept.first?.place?.property == "total")
    }

    @Test func `a fraction that a double does not have is no integer`() throws {
        let plan = try shop.plan(#"[{"number": 9007199254740992.5}]"#, entity: "Order")
        #expect(plan.errors.kept.map(\.code) == [.wrongValue])
    }

    @Test func `strict mode converts nothing`() throws {
        for json in [#"{"position": "1"}"#, #"{"text": 1}"#, #"{"isGift": 1}"#] {
            #expect(try shop.plan(json, entity: "Line") { $0.mismatchedValues = .fail }.errors.count == 1)
        }
        #expect(
            try shop.plan(#"{"position": 1, "text": "1", "isGift": true}"#, entity: "Line") {
                $0.mismatchedValues = .fail
            }
            .errors.isEmpty)
    }

    @Test(arguments: [
        ("\"2011-07-23T22:30:40Z\"", 1_311_460_240.0), ("\"2011-07-23\"", 1_311_379_200.0),
        ("\"2011-07-23 22:30:40 +0000\"", 1_311_460_240.0), ("1388349428", 1_388_349_428.0),
        ("1388349427543", 1_388_349_427.543), ("\"1388349428\"", 1_388_349_428.0),
        ("\"Sat, 23 Jul 2011 22:30:40 GMT\"", 1_311_460_240.0),
    ])
    func `dates in several formats and epochs`(_ text: String, _ seconds: Double) throws {
        let plan = try shop.plan("{\"number\": 1, \"changed\": \(text)}", entity: "Order")
        let date = try shop.context.performAndWait { try plan.apply().first?.value(forKey: "changed") as? Date }
        #expect(abs((date?.timeIntervalSince1970 ?? 0) - seconds) < 0.0001)
    }

    @Test func `a custom date format`() throws {
        let plan = try shop.plan(#"{"number": 1, "changed": "8/5/2011 1-56-04"}"#, entity: "Order") {
            $0.dateFormats = ["M/d/yyyy H-mm-ss"]
        }
        let date = try shop.context.performAndWait { try plan.apply().first?.value(forKey: "changed") as? Date }
        #expect(date?.timeIntervalSince1970 == 1_312_509_364)
    }
}
