import Foundation
import Testing

@testable import GraphDocuments

/// Values in documents with a foreign format: what is written is read as the same value.
@Suite struct MappedValueTests {
    private let schema = GraphSchema(entities: [
        .init(
            name: "Thing",
            attributes: [
                .init(name: "content", type: .transformable), .init(name: "name", type: .string),
                .init(
                    name: "parts", type: .composite,
                    elements: [.init(name: "inner", type: .transformable), .init(name: "length", type: .double)]),
                .init(name: "price", type: .decimal), .init(name: "rough", type: .float),
            ])
    ])

    private func archive(_ value: Any) throws -> Data {
        try NSKeyedArchiver.archivedData(withRootObject: value, requiringSecureCoding: false)
    }

    private func record(_ attributes: [GraphAttribute]) -> GraphRecord {
        GraphRecord(
            id: "1", entity: "Thing", attributes: [.init(name: "name", value: .string("a"))] + attributes)
    }

    private func written(_ record: GraphRecord, as format: GraphFormat = .json) throws -> Data {
        let sink = MemorySink()
        var writer = try format.graphWriter(
            to: ByteOutput(to: sink), plan: MappingPlan(Mapping(), schema: schema), byEntity: false)
        try writer.begin(DocumentHeader())
        try writer.write(record, of: schema.entity("Thing"))
        try writer.finish()
        return sink.data
    }

    private func read(_ document: Data, as format: GraphFormat = .json) throws -> PlacedRecord {
        var reader = try format.reader(
            of: document, plan: MappingPlan(Mapping(), schema: schema), options: ReadingOptions(rootEntity: "Thing"))
        return try #require(try reader.nextPlaced())
    }

    // MARK: - Numbers

    /// A decimal of 16 digits may be between two doubles.
    @Test(arguments: [
        "900719925474099.3", "0.1234567890123456", "9007199254740993.5", "12345678901234567890.125", "1.50",
    ])
    func `a decimal keeps its digits`(text: String) throws {
        let exact = try #require(Decimal(string: text))
        let document = Data(#"[{"price": \#(text)}]"#.utf8)
        #expect(try read(document).record.value(of: "price") == .decimal(exact))
        let again = try read(written(record([.init(name: "price", value: .decimal(exact))])))
        #expect(again.record.value(of: "price") == .decimal(exact))
    }

    @Test(arguments: [
        0.1, 0.30000000000000004, 1.234_567_890_123_456_7e22, 1.234_567_890_123_456_7e-9, 123456.78901234567,
    ])
    func `a double stays one in a value without a type`(number: Double) throws {
        let document = Data(#"[{"content": [\#(number)]}]"#.utf8)
        let tree = ReadableValue.array([.value(.double(number))])
        #expect(
            try read(document).record.value(of: "content")
                == .transformable(TransformableValue(archive: nil, readable: tree)))
    }

    @Test func `a number that is too large for a float does not become infinite`() throws {
        #expect(GraphValue.double(1e39).read(as: .float) == .double(1e39))
        #expect(GraphValue.double(-1e39).read(as: .float) == .double(-1e39))
        #expect(GraphValue.double(0.5).read(as: .float) == .float(0.5))
        #expect(GraphValue.double(.infinity).read(as: .float) == .float(.infinity))
        #expect(GraphValue.double(.nan).read(as: .float) == .float(.nan))
        #expect(try read(Data(#"[{"rough": 1e39}]"#.utf8)).record.value(of: "rough") == .double(1e39))
        let plan = try MappingPlan(Mapping(), schema: schema)
        var reader = try mappedReader(
            of: [["rough": 1e39]], plan: plan, options: ReadingOptions(rootEntity: "Thing"))
        #expect(try reader.nextPlaced()?.record.value(of: "rough") == .double(1e39))
    }

    // MARK: - Transformable values

    /// Values that a foreign document cannot represent, by name.
    private func opaqueValues() throws -> [(String, Any)] {
        [
            ("date", NSDate(timeIntervalSinceReferenceDate: 0.5)),
            ("UUID", NSUUID()), ("URL", try #require(NSURL(string: "https://example.org/a"))),
            ("data", NSData(data: Data([1, 2]))),
            ("set", NSSet(array: ["a", "b"])), ("set in an array", NSArray(array: [NSSet(array: ["a"])])),
            ("date in a dictionary", NSDictionary(dictionary: ["when": NSDate(timeIntervalSinceReferenceDate: 1)])),
            ("numbers as keys", NSDictionary(dictionary: [NSNumber(value: 1): "a"])),
            ("infinity", NSArray(array: [NSNumber(value: Double.infinity)])),
            ("a tag as a key", NSDictionary(dictionary: ["$archive": "AAAA"])),
            ("a null's tag as a key", NSDictionary(dictionary: ["$nil": NSNumber(value: true)])),
        ]
    }

    @Test(arguments: [GraphFormat.json, .propertyList, .xmlPropertyList])
    func `a transformable value that has no plain form is written as its archive`(format: GraphFormat) throws {
        for (name, value) in try opaqueValues() {
            let archive = try archive(value)
            let transformable = GraphValue.transformable(
                TransformableValue(archive: archive, readable: ReadableValue(archive: archive)))
            let whole = try read(
                written(record([.init(name: "content", value: transformable)]), as: format), as: format)
            #expect(
                whole.record.value(of: "content") == .transformable(TransformableValue(archive: archive)), "\(name)")
            #expect(whole.details?.mistakes == [], "\(name)")
            // As an element of a composite.
            let composite = GraphValue.composite([.init(name: "inner", value: transformable)])
            let element = try read(
                written(record([.init(name: "parts", value: composite)]), as: format), as: format)
            #expect(element.record.value(of: "parts") == composite, "\(name)")
        }
    }

    @Test(arguments: [GraphFormat.json, .propertyList, .xmlPropertyList])
    func `a transformable value of plain values is written as such`(format: GraphFormat) throws {
        let content: [String: Any] = [
            "$x": "dollar", "flag": NSNumber(value: true), "list": NSArray(array: ["a", NSNumber(value: 2)]),
            "ratio": NSNumber(value: 0.1), "large": NSNumber(value: 1.234_567_890_123_456_7e22),
        ]
        let archive = try archive(NSDictionary(dictionary: content))
        let document = try written(
            record([.init(name: "content", value: .transformable(TransformableValue(archive: archive)))]), as: format)
        if format == .json {
            let text = String(decoding: document, as: UTF8.self)
            #expect(text.contains(#""content":{"$x":"dollar","flag":true,"large":"#))
        }
        let members = try read(document, as: format).record.value(of: "content")
        guard case .transformable(let value)? = members, case .dictionary(let found)? = value.readable else {
            Issue.record("The content is not plain: \(String(describing: members))")
            return
        }
        #expect(value.archive == nil)
        let expected: [ReadableValue.Member] = [
            .init(name: "$x", value: .value(.string("dollar"))), .init(name: "flag", value: .value(.bool(true))),
            .init(name: "large", value: .value(.double(1.234_567_890_123_456_7e22))),
            .init(name: "list", value: .array([.value(.string("a")), .value(.integer(2))])),
            .init(name: "ratio", value: .value(.double(0.1))),
        ]
        #expect(found.sorted { $0.name < $1.name } == expected)
    }

    @Test func `a value without an archive is refused unless it is plain`() throws {
        func content(_ tree: ReadableValue) -> GraphRecord {
            record([
                .init(name: "content", value: .transformable(TransformableValue(archive: nil, readable: tree)))
            ])
        }
        let plain = ReadableValue.array([.value(.string("a")), .value(.integer(1))])
        #expect(
            try read(written(content(plain))).record.value(of: "content")
                == .transformable(TransformableValue(archive: nil, readable: plain)))
        let error = #expect(throws: DocumentError.self) { try written(content(.array([.value(.date(0))]))) }
        #expect(error?.code == .notRepresentable)
    }
}
