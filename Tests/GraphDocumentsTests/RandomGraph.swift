import Foundation

@testable import GraphDocuments

/// The same numbers for the same seed, on every machine.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

/// Graphs with every attribute type, with boundary values.
struct RandomGraph {
    var generator: SeededGenerator

    init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

    static let schema: GraphSchema = {
        let types: [(String, GraphValueType)] = [
            ("flag", .boolean), ("small", .integer16), ("middle", .integer32), ("large", .integer64),
            ("ratio", .double), ("rough", .float), ("price", .decimal), ("title", .string), ("when", .date),
            ("bytes", .binaryData), ("identifier", .uuid), ("link", .uri), ("anything", .undefined),
            ("archived", .transformable),
        ]
        var attributes = types.map { GraphSchema.Attribute(name: $0.0, type: $0.1) }
        let inner = GraphSchema.Attribute(
            name: "inner", type: .composite, elements: [.init(name: "deep", type: .date)])
        attributes.append(
            .init(
                name: "address", type: .composite,
                elements: [.init(name: "street", type: .string), .init(name: "since", type: .date), inner]))
        let things = GraphSchema.Entity(
            name: "Thing", attributes: attributes,
            relationships: [
                .init(name: "parent", destination: "Thing", inverse: "children"),
                .init(name: "children", destination: "Thing", inverse: "parent", isToMany: true),
                .init(name: "steps", destination: "Thing", isToMany: true, isOrdered: true),
            ])
        let special = GraphSchema.Entity(
            name: "SpecialThing", parent: "Thing", attributes: attributes + [.init(name: "extra", type: .string)],
            relationships: things.relationships)
        return GraphSchema(entities: [things, special])
    }()

    mutating func records(count: Int) -> [GraphRecord] {
        var ids: [RecordID] = []
        for number in 0..<count {
            ids.append(.stored(entity: number * 2 < count ? "SpecialThing" : "Thing", primaryKey: Int64(number + 1)))
        }
        return ids.map { id in
            let entity = Self.schema.entity(id.entity ?? "")!
            var record = GraphRecord(id: id, entity: entity.name)
            for attribute in entity.attributes where Int.random(in: 0..<10, using: &generator) > 0 {
                record.attributes.append(.init(name: attribute.name, value: value(of: attribute)))
            }
            for relationship in entity.relationships where Int.random(in: 0..<10, using: &generator) > 0 {
                let target: RelationshipTarget
                if relationship.isToMany {
                    let number = Int.random(in: -1..<4, using: &generator)
                    target =
                        number < 0
                        ? .nullToMany : .toMany((0..<number).map { _ in ids.randomElement(using: &generator)! })
                } else {
                    target = .toOne(Bool.random(using: &generator) ? ids.randomElement(using: &generator) : nil)
                }
                record.relationships.append(
                    .init(name: relationship.name, target: target, isOrdered: relationship.isOrdered))
            }
            record.isDeleted = Int.random(in: 0..<20, using: &generator) == 0
            return record
        }
    }

    mutating func value(of attribute: GraphSchema.Attribute) -> GraphValue {
        if Int.random(in: 0..<8, using: &generator) == 0 { return .null }
        switch attribute.type {
        case .boolean: return .bool(Bool.random(using: &generator))
        case .integer16: return .integer(Int64(Int16.random(in: .min ... .max, using: &generator)))
        case .integer32: return .integer(Int64(Int32.random(in: .min ... .max, using: &generator)))
        case .integer64:
            return .integer(
                [Int64.min, .max, 0, -1, 9_007_199_254_740_993, .random(in: .min ... .max, using: &generator)]
                    .randomElement(using: &generator)!)
        case .double: return .double(double())
        case .float:
            return .float(
                [
                    Float.nan, .infinity, -.infinity, -0.0, 0.1, 16_777_216, .leastNonzeroMagnitude,
                    Float(bitPattern: UInt32.random(in: 0...0x7F00_0000, using: &generator)),
                ].randomElement(using: &generator)!)
        case .decimal: return .decimal(decimal())
        case .string: return .string(string())
        case .date: return .date(date())
        case .binaryData:
            let count = Int.random(in: 0..<40, using: &generator)
            return .data(Data((0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }))
        case .uuid: return .uuid(uuid())
        case .uri, .objectID:
            return .uri(
                ["https://example.org/a b?c=%20#d", "", "x-coredata://A/B/p1"].randomElement(using: &generator)!)
        case .transformable:
            return .transformable(
                .init(
                    archive: Data([1, 2, 3]),
                    readable: .dictionary([
                        .init(
                            name: "$key", value: .array([.value(.string("a")), .value(.date(date())), .value(.null)]))
                    ])))
        case .composite:
            return .composite(attribute.elements.map { .init(name: $0.name, value: value(of: $0)) })
        case .undefined:
            let types: [GraphValueType] = [
                .boolean, .integer64, .double, .float, .decimal, .string, .date, .binaryData, .uuid, .uri,
            ]
            let type = types.randomElement(using: &generator)!
            return value(of: .init(name: attribute.name, type: type))
        }
    }

    mutating func double() -> Double {
        let edges: [Double] = [
            .nan, .infinity, -.infinity, 0, -0.0, 0.1, 1, -1, 1e16, 1e-7, .leastNonzeroMagnitude,
            .greatestFiniteMagnitude, 9_007_199_254_740_992, 123.456, 1e22, 1e23, 0.3, 2.5e-3,
        ]
        if Bool.random(using: &generator) { return edges.randomElement(using: &generator)! }
        let random = Double(bitPattern: UInt64.random(in: .min ... .max, using: &generator))
        return random.isNaN ? .nan : random
    }

    mutating func date() -> Double {
        switch Int.random(in: 0..<8, using: &generator) {
        case 0: return Double(Int64.random(in: -80_000_000_000...270_000_000_000, using: &generator))
        case 1: return Double(Int64.random(in: -900_000_000_000...900_000_000_000, using: &generator)) / 1000
        case 2: return Double(Int64.random(in: -900_000_000_000_000...900_000_000_000_000, using: &generator)) / 1e6
        case 3: return Double.random(in: -1e9...1e9, using: &generator)
        case 4: return Double.random(in: -7e10...3e11, using: &generator)
        case 5: return Double.random(in: -1...1, using: &generator)
        case 6: return [0, -0.0, -0.5, 0.001, -0.001, .infinity, .nan, 1e300].randomElement(using: &generator)!
        default: return double()
        }
    }

    mutating func decimal() -> Decimal {
        let edges = [
            "0", "0.1", "-0.1", "1200", "99999999999999999999999999999999999999",
            "0.00000000000000000000000000000000000001",
            "12345678901234567890.123456789012345678", "1e127", "1e-127", "-79228162514264337593543950335.0001",
        ]
        if Bool.random(using: &generator) { return Decimal(string: edges.randomElement(using: &generator)!)! }
        return Decimal(
            sign: Bool.random(using: &generator) ? .minus : .plus,
            exponent: Int.random(in: -30...30, using: &generator),
            significand: Decimal(UInt64.random(in: 0...UInt64.max, using: &generator)))
    }

    mutating func uuid() -> UUID {
        let bytes = (0..<16).map { _ in UInt8.random(in: 0...255, using: &generator) }
        return bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }

    mutating func string() -> String {
        let pieces = [
            "", "a", "plain text of some length", "\"", "\\", "\n", "\r", "\r\n", "\t", "\u{0}", "\u{1}", "\u{1F}",
            "\u{7F}", "é", "e\u{301}",
            "日本語", "👩‍👩‍👧", "\u{FFFF}", "\u{FFFE}", "\u{2028}", "<&>'", "]]>", "  ", "$id", "null", "\u{85}",
        ]
        return (0..<Int.random(in: 0..<6, using: &generator))
            .map { _ in pieces.randomElement(using: &generator)! }.joined()
    }
}

/// A header with all fields set.
let fullHeader = DocumentHeader(
    idScheme: .stored, storeUUID: "5F1C6A34-9E0B-4C7D-8A55-0E1D2C3B4A59", modelVersionIdentifiers: ["1.0", "beta"],
    entityVersionHashes: ["Thing": Data(repeating: 7, count: 32)],
    metadata: [
        .init(name: "appVersion", value: .value(.string("3.2"))), .init(name: "opened", value: .value(.date(0.5))),
        .init(name: "$odd", value: .array([.value(.integer(1)), .value(.data(Data([1])))])),
    ])
