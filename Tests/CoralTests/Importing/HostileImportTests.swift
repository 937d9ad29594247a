import Coral
import Testing

/// Hostile or damaged documents give an error with its position, and the context is unchanged.
struct HostileImportTests {
    /// A document, and its expected error.
    struct Case: Sendable, CustomTestStringConvertible {
        var name: String
        var data: Data
        var code: String
        /// Whether the error is part of the plan, instead of ending the reading.
        var isInPlan = false
        var testDescription: String { name }

        init(_ name: String, _ text: String, _ code: String, isInPlan: Bool = false) {
            self.init(name, Data(text.utf8), code, isInPlan: isInPlan)
        }

        init(_ name: String, _ data: Data, _ code: String, isInPlan: Bool = false) {
            (self.name, self.data, self.code, self.isInPlan) = (name, data, code, isInPlan)
        }
    }

    private static func nested(_ levels: Int) -> String {
        String(repeating: #"{"number": 1, "lines": [{"position": 1, "order": "#, count: levels) + "1"
            + String(repeating: "}]}", count: levels)
    }

    private static let order = #"{"Order": [{"number": 1, "total": 5}, "#

    static let cases: [Case] = [
        Case("too deep", "{\"Order\": [\(nested(400))]}", "limit"),
        Case("too many records", "{\"Label\": [\(String(repeating: "{},", count: 5000))]}", "limit"),
        Case("too long a text", order + "{\"number\": \"\(String(repeating: "9", count: 70_000))\"}]}", "limit"),
        Case("too long a key", order + "{\"\(String(repeating: "k", count: 5000))\": 1}]}", "limit"),
        Case("too large", String(repeating: " ", count: 3_000_000) + "{}", "limit"),
        Case("an entity of another model", order + #"{"$entity": "NSUserDefaults", "number": 2}]}"#, "unknownEntity"),
        Case("a number beyond its type", order + #"{"number": 9223372036854775808}]}"#, "wrongValue", isInPlan: true),
        Case("a number beyond a small type", #"{"Remark": [{"stars": 32768}]}"#, "wrongValue", isInPlan: true),
        Case("a number beyond all numbers", order + #"{"number": 2, "total": 1e400}]}"#, "wrongValue", isInPlan: true),
        Case(
            "bytes that are not text",
            Data((order + "{\"number\": 2, \"x\": \"").utf8) + [0xC3, 0x28] + Data("\"}]}".utf8), "invalidText"),
        Case("half a surrogate pair", order + #"{"number": 2, "x": "\ud800"}]}"#, "invalidText"),
        Case("a key twice", order + #"{"number": 2, "number": 3}]}"#, "duplicateKey"),
        Case("cut off", order + #"{"number": 2, "total": 7"#, "truncated"),
        Case("a trailing comma", order + #"{"number": 2},]}"#, "syntax"),
        Case(
            "an external entity",
            "<?xml version=\"1.0\"?><!DOCTYPE graph [<!ENTITY x SYSTEM \"file:///etc/passwd\">]><graph>&x;</graph>",
            "unsupported"),
        Case(
            "entities that multiply",
            "<!DOCTYPE plist [<!ENTITY a \"aaaa\"><!ENTITY b \"&a;&a;\">]><plist><string>&b;</string></plist>",
            "unsupported"),
        Case(
            "XML cut off", "<?xml version=\"1.0\"?>\n<graph><object entity=\"Order\"><attribute name=\"number\"",
            "truncated"),
        Case(
            "a property list that contains itself",
            Data(hex: "62706c6973743030a10008000000000000010100000000000000010000000000000000000000000000000a"),
            "syntax"),
        Case(
            "a dangling reference", order + #"{"number": 2, "customer": "ghost"}]}"#, "danglingReference",
            isInPlan: true),
        Case(
            "a reference to another entity", order + #"{"$id": "x", "number": 2, "customer": "x"}]}"#,
            "danglingReference", isInPlan: true),
        Case("an object where a value is wanted", order + #"{"number": {"a": 1}}]}"#, "wrongType"),
        Case("a value where an object is wanted", order + #"7]}"#, "syntax"),
        Case("an id of ours", order + #"{"$id": "$1", "number": 2}]}"#, "syntax"),
        Case(
            "a file beside the document", #"{"Line": [{"picture": {"$file": "/etc/passwd"}}]}"#, "file", isInPlan: true),
        Case("nothing", "", "truncated"),
        Case("something else", "%PDF-1.7", "syntax"),
    ]

    @Test(arguments: cases)
    func `the context is unchanged`(_ hostile: Case) throws {
        let shop = try Shop()
        try shop.take(
            #"{"Order": [{"number": 1, "total": 4, "lines": [{"position": 1, "text": "tea"}]}], "Label": [{"word": "x"}]}"#
        )
        let coordinator = try #require(shop.context.persistentStoreCoordinator)
        let before = MemorySink()
        try GraphExporter().exportStore(of: coordinator, to: before)
        var options = ImportOptions()
        options.limits = DocumentLimits(
            depth: 300, recordCount: 4000, stringLength: 1 << 16, documentSize: 2_000_000)
        let unsaved = shop.context.performAndWait { shop.context.insert("Remark", ["text": "unsaved"]) }
        do {
            try shop.context.performAndWait {
                let plan: ImportPlan<NSManagedObject> = try GraphImporter(into: shop.context, options: options).plan(
                    .data(hostile.data), entity: nil)
                try plan.apply()
            }
            Issue.record("It was imported.")
        } catch let error as DocumentError {
            #expect(!hostile.isInPlan)
            #expect(error.code.rawValue == hostile.code, "\(error)")
            #expect(
                error.place != nil || hostile.data.isEmpty || hostile.name == "something else", "\(error)")
        } catch let error as ImportError {
            #expect(hostile.isInPlan)
            #expect(error.code.rawValue == hostile.code, "\(error)")
            #expect(
                error.place?.document != nil && error.place?.entity != nil && error.place?.property != nil, "\(error)")
        }
        #expect(shop.context.insertedObjects == [unsaved])
        #expect(shop.context.updatedObjects.isEmpty && shop.context.deletedObjects.isEmpty)
        let after = MemorySink()
        try GraphExporter().exportStore(of: coordinator, to: after)
        #expect(after.data == before.data)
    }

    @Test(arguments: [
        ("%PDF-1.7", #"The document begins with "%PDF-1.7": JSON, JSON lines, a property list or XML was expected."#),
        (
            " \ngarbage \"quoted\" and more",
            #"The document begins with "garbage \"quoted\" and"…: JSON, JSON lines, a property list or XML was expected."#
        ),
        ("<!DocType HTML>\n<p>", "This is an HTML page, not a document."),
        ("\n<html lang=\"en\"><body/></html>", "This is an HTML page, not a document."),
    ])
    func `what is not a document is described`(_ text: String, _ message: String) throws {
        let shop = try Shop()
        do {
            try shop.context.performAndWait {
                let plan: ImportPlan<NSManagedObject> = try GraphImporter(into: shop.context).plan(
                    .data(Data(text.utf8)), entity: nil)
                try plan.apply()
            }
            Issue.record("It was imported.")
        } catch let error as DocumentError {
            #expect(error.message == message)
        }
    }

    @Test func `an archive does not instantiate a class that is not allowed`() throws {
        let thing = WebModel.entity("Thing", [("value", .transformableAttributeType), ("name", .stringAttributeType)])
        let model = NSManagedObjectModel()
        model.entities = [thing]
        let context = try makeContext(model)
        // A keyed archive whose root is an object of the class NSTask.
        let archive = try PropertyListSerialization.data(
            fromPropertyList: [
                "$version": 100000, "$archiver": "NSKeyedArchiver", "$top": ["root": "x"],
                "$objects": ["$null", "NSTask"],
            ] as [String: Any], format: .binary, options: 0)
        let json = #"{"Thing": [{"name": "a", "value": {"$archive": "\#(archive.base64EncodedString())"}}]}"#
        context.performAndWait {
            for text in [json, json.replacingOccurrences(of: "$archive", with: "$data")] {
                let plan: ImportPlan<NSManagedObject>? = try? GraphImporter(into: context).plan(Data(text.utf8))
                #expect(plan == nil || plan?.errors.isEmpty == false)
                #expect(throws: (any Error).self) { try plan?.apply() ?? { throw ImportError(.misuse, "") }() }
            }
            #expect(!context.hasChanges)
        }
    }

    @Test(arguments: GraphFormat.allCases)
    func `a truncated document changes nothing`(_ format: GraphFormat) throws {
        let shop = try Shop()
        let document = try shop.context.performAndWait {
            let orders = (0..<3).map {
                shop.context.insert("Order", ["number": $0, "total": NSDecimalNumber(value: $0)])
            }
            return try orders.encoded(as: format)
        }
        let other = try Shop()
        other.context.performAndWait {
            for length in stride(from: 0, to: document.count - 2, by: 41) {
                let part = document.prefix(length)
                // A document of lines may end after any line.
                if format == .jsonLines, part.last == 0x0A || document[length] == 0x0A { continue }
                #expect(throws: DocumentError.self, "\(length)") {
                    try GraphImporter(into: other.context).importObjects(from: Data(part))
                }
                #expect(!other.context.hasChanges)
            }
        }
    }
}

extension Data {
    fileprivate init(hex: String) {
        let digits = Array(hex.utf8).map { UInt8($0 > 57 ? $0 - 87 : $0 - 48) }
        self.init(stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] })
    }
}
