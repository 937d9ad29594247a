import Foundation
import Testing

@testable import KeyedArchives

@Suite("Keyed archives")
struct KeyedArchiveTests {
    private func readable(_ object: NSObject) throws -> ReadableValue {
        try ReadableValue(archive: NSKeyedArchiver.archivedData(withRootObject: object, requiringSecureCoding: false))
    }

    @Test("Foundation's archives can be read without its classes")
    func foundationArchives() throws {
        let uuid = UUID()
        #expect(try readable("text" as NSString) == .string("text"))
        #expect(
            try readable(NSDate(timeIntervalSinceReferenceDate: 5)) == .date(Date(timeIntervalSinceReferenceDate: 5)))
        #expect(try readable(uuid as NSUUID) == .uuid(uuid))
        #expect(try readable(NSArray(array: [1, "a"])) == .array([.integer(1), .string("a")]))
        #expect(try readable(NSDictionary(dictionary: ["k": 2.5])) == .dictionary([.init(.string("k"), .real(2.5))]))
        #expect(try readable(NSSet(array: ["one"])) == .set([.string("one")]))
    }

    @Test("An archive with its keys sorted is always the same, and Foundation reads it")
    func sortedKeys() throws {
        let value =
            ["text", Date(timeIntervalSinceReferenceDate: 5), UUID(), ["k": [1, 2.5, "ü"] as [Any]]] as NSArray
        let archives = try (0..<20).map { _ in
            try KeyedArchive(
                data: NSKeyedArchiver.archivedData(withRootObject: value, requiringSecureCoding: true)
            ).sortedData()
        }
        #expect(Set(archives).count == 1)
        let read = try NSKeyedUnarchiver.unarchivedObject(
            ofClasses: [NSArray.self, NSDictionary.self, NSString.self, NSNumber.self, NSDate.self, NSUUID.self],
            from: archives[0])
        #expect(read as? NSArray == value)
    }

    @Test("Foundation reads the archives")
    func foundationReads() throws {
        let uuid = UUID()
        let value = ReadableValue.dictionary([
            .init(.string("list"), .array([.integer(1), .boolean(true), .string("ü")])),
            .init(.string("id"), .uuid(uuid)),
            .init(.string("when"), .date(Date(timeIntervalSinceReferenceDate: 7))),
        ])
        let classes =
            [
                NSDictionary.self, NSArray.self, NSString.self, NSNumber.self, NSUUID.self, NSDate.self,
            ] as [AnyClass]
        let object = try NSKeyedUnarchiver.unarchivedObject(ofClasses: classes, from: value.archived())
        let dictionary = try #require(object as? NSDictionary)
        #expect((dictionary["list"] as? NSArray)?.count == 3)
        #expect(dictionary["id"] as? UUID == uuid || (dictionary["id"] as? NSUUID)?.uuidString == uuid.uuidString)
    }

    @Test(
        "Every kind of value survives",
        arguments: [
            ReadableValue.null, .boolean(true), .integer(-3), .real(0.1), .string("a"), .data(Data([1])),
            .date(Date(timeIntervalSinceReferenceDate: 1.5)), .url("https://example.org/a?b"),
            .array([.set([.integer(1)]), .orderedSet([.string("b"), .null])]), .dictionary([.init(.integer(1), .null)]),
            .object(
                classChain: ["Module.Cover", "NSObject"],
                fields: [.init("size", .integer(3)), .init("text", .string("x"))]),
        ])
    func roundTrip(_ value: ReadableValue) throws {
        let data = try value.archived()
        #expect(try ReadableValue(archive: data) == value)
        #expect(try value.archived() == data)
    }

    @Test(
        "Decimals keep all their digits",
        arguments: [
            "0", "1", "-12.50", "3.1415926535897932384626433832795028841", "1e100", "-7e-90", "65536",
            "340282366920938463463374607431768211455",
        ])
    func decimals(_ text: String) throws {
        let decimal = try #require(Decimal(string: text))
        #expect(try ReadableValue(archive: ReadableValue.decimal(decimal).archived()) == .decimal(decimal))
    }

    @Test("Cycles become references to ancestors, and are written as cycles again")
    func cycles() throws {
        var builder = KeyedArchiveBuilder()
        let node = builder.reserve()
        let list = builder.add(array: [node, node])
        builder.fill(node, classChain: ["Node", "NSObject"], fields: PropertyListDictionary([("children", list)]))
        let value = try ReadableValue(archive: builder.archive(root: node))
        let expected = ReadableValue.object(
            classChain: ["Node", "NSObject"], fields: [.init("children", .array([.ancestor(2), .ancestor(2)]))])
        #expect(value == expected)
        #expect(try ReadableValue(archive: value.archived()) == expected)
    }

    @Test("An archive that represents a huge tree is rejected")
    func sharing() throws {
        var builder = KeyedArchiveBuilder()
        var reference = builder.add(string: "leaf")
        for _ in 0..<40 { reference = builder.add(array: [reference, reference]) }
        let data = try builder.archive(root: reference)
        var limits = ReadableValue.Limits()
        limits.valueCount = 10_000
        #expect(throws: ArchiveError.self) { try ReadableValue(archive: data, limits: limits) }
        for _ in 0..<200 { reference = builder.add(array: [reference]) }
        let deep = try builder.archive(root: reference)
        #expect(throws: ArchiveError.self) { try ReadableValue(archive: deep) }
    }

    /// Quadratic time would take minutes.
    @Test("A check of many collections costs a step for each", .timeLimit(.minutes(1)))
    func manyCollections() throws {
        var builder = KeyedArchiveBuilder()
        let empty = builder.add(array: [])
        let set = builder.add(set: [])
        // The set is checked last, and is not allowed.
        let root = builder.add(array: [set] + Array(repeating: empty, count: 300_000))
        let data = try builder.archive(root: root)
        #expect(throws: (any Error).self) {
            try KeyedArchive.unarchivedRoot(ofClasses: [NSArray.self], from: data)
        }
    }

    @Test("Dangling references and other property lists are rejected")
    func malformed() throws {
        let archive = try KeyedArchive(
            propertyList: ["$objects": ["$null", ["$class": .uid(9), "f": .uid(7)]], "$top": ["root": .uid(1)]])
        let root = try #require(try archive.root)
        #expect(root.className == nil)
        #expect(throws: ArchiveError.self) { try root.object("f") }
        #expect(throws: ArchiveError.self) { try KeyedArchive(propertyList: ["a": 1]) }
        #expect(throws: ArchiveError.self) { try KeyedArchive(data: Data("no".utf8)) }
    }
}
