import Coral
import CoralPlainObjects
import Foundation
import Testing

/// Keys of dictionaries are data: they are written and read unchanged.
@Suite struct PlainDictionaryTests {
    private struct Place: Codable, Hashable {
        var row: Int
        var column: Int
    }

    private enum Mood: String, Codable { case calm, cross }

    private struct Board: Codable, Equatable {
        var cellValues: [String: Int]
        var byPlace: [Place: String]
        var byRatio: [Double: [Mood: Int]]
    }

    private static let board = Board(
        cellValues: ["firstCell": 1, "second_cell": 2, "$id": 3],
        byPlace: [Place(row: 1, column: 2): "a", Place(row: 3, column: 4): "b"], byRatio: [0.5: [.calm: 1], 2: [:]])

    @Test(arguments: GraphFormat.allCases.filter { $0 != .jsonLines })
    func `a key strategy applies to properties only`(format: GraphFormat) throws {
        var exporter = PlainExporter(format: format)
        exporter.keys = .snakeCase
        let data = try exporter.encoded(Self.board)
        var importer = PlainImporter()
        importer.options.keys = .snakeCase
        #expect(try importer.make(Board.self, from: data) == Self.board)
    }

    @Test func `keys are those of the dictionary, in a value and by reflection`() throws {
        var exporter = PlainExporter()
        exporter.keys = .snakeCase
        let nested: [String: [String: Int]] = ["outerKey": ["innerKey": 1]]
        #expect(try String(decoding: exporter.encoded(nested), as: UTF8.self).contains(#""innerKey""#))
        let json = try String(decoding: exporter.encoded(Self.board), as: UTF8.self)
        #expect(json.contains(#""cell_values""#) && json.contains(#""firstCell""#))
        struct Plain {
            var cellValues = ["firstCell": Inner()]
            struct Inner { var someValue = 1 }
        }
        let reflected = try String(decoding: exporter.encoded(reflecting: Plain()), as: UTF8.self)
        for key in ["cell_values", "firstCell", "some_value"] { #expect(reflected.contains("\"\(key)\""), "\(key)") }
    }

    @Test func `a list of keys and values of odd length is an error`() throws {
        let json = Data(#"{"cellValues": {}, "byPlace": [{"row": 1, "column": 2}], "byRatio": []}"#.utf8)
        let error = #expect(throws: PlainObjectError.self) { try PlainImporter().make(Board.self, from: json) }
        #expect(error?.code == .wrongType)
    }

    /// Quadratic time would take minutes.
    @Test(.timeLimit(.minutes(1))) func `many keys are written in linear time`() throws {
        let many = Dictionary(uniqueKeysWithValues: (0..<100_000).map { ("key \($0)", $0) })
        let data = try PlainExporter().encoded(many)
        #expect(try PlainImporter().make([String: Int].self, from: data) == many)
    }
}

/// Instances that only a computed property creates are different objects, whatever their addresses are.
@Suite struct PlainInstanceTests {
    private final class Leaf: Mapped {
        var number = 0
        init() {}
        class var mappedProperties: [MappedProperty] { [MappedProperty("number", \Leaf.number)] }
    }

    private final class Tree: Mapped {
        var number = 0
        /// A new instance each time.
        var leaf: Leaf {
            get {
                let leaf = Leaf()
                leaf.number = number
                return leaf
            }
            set { number = newValue.number }
        }
        init() {}
        class var mappedProperties: [MappedProperty] { [MappedProperty("leaf", \Tree.leaf)] }
    }

    @Test func `short-lived instances are written in full`() throws {
        let trees = (0..<50).map { number in
            let tree = Tree()
            tree.number = number
            return tree
        }
        let json = try String(decoding: PlainExporter().encoded(reflecting: trees), as: UTF8.self)
        #expect(!json.contains("$ref") && !json.contains("$id"))
        #expect(json.components(separatedBy: "\"number\"").count == 51)
    }

    @Test func `an instance that occurs at several depths is written once`() throws {
        let leaf = Leaf()
        let value: [Any] = [[[[leaf]]], leaf, ["key": leaf]]
        let json = try String(decoding: PlainExporter().encoded(reflecting: value), as: UTF8.self)
        #expect(json.components(separatedBy: "$ref").count == 3)
        #expect(json.components(separatedBy: "$id").count == 2)
    }

    @Test func `a property that always returns a new instance ends with an error`() {
        final class Endless: Mapped {
            var next: Endless? {
                get { Endless() }
                set { _ = newValue }
            }
            init() {}
            class var mappedProperties: [MappedProperty] { [MappedProperty("next", \Endless.next)] }
        }
        let error = #expect(throws: PlainObjectError.self) { try PlainExporter().encoded(reflecting: Endless()) }
        #expect(error?.code == .limit)
    }
}
