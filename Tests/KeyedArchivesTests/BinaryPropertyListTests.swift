import Foundation
import Testing

@testable import KeyedArchives

@Suite("Binary property lists")
struct BinaryPropertyListTests {
    private let everything: PropertyListValue = [
        "null": .null, "yes": true, "no": false, "zero": 0, "minus": -1, "byte": 255, "short": 65535,
        "word": 4_294_967_295,
        "long": .integer(.max), "least": .integer(.min), "unsigned": .unsignedInteger(.max), "real": 1.5,
        "infinity": .real(.infinity), "date": .date(Date(timeIntervalSinceReferenceDate: -1.25)),
        "data": .data(Data(0..<20)), "text": "plain", "wide": "schön 🎈", "uid": .uid(70000),
        "array": [1, ["nested", []], 2], "set": .set(["a", "b"]), "empty": [:],
    ]

    @Test("Written property lists are read back")
    func roundTrip() throws {
        let data = try BinaryPropertyList.write(everything)
        #expect(try BinaryPropertyList.read(data) == everything)
        #expect(try BinaryPropertyList.write(BinaryPropertyList.read(data)) == data)
    }

    @Test("Foundation reads the output, and Foundation's output is read")
    func foundation() throws {
        let value: PropertyListValue = [
            "a": [1, -2, 2.5, true, "x", "ü"], "d": .data(Data([1, 2])),
            "t": .date(Date(timeIntervalSinceReferenceDate: 9)),
        ]
        let data = try BinaryPropertyList.write(value)
        let object = try PropertyListSerialization.propertyList(from: data, format: nil)
        let again = try PropertyListSerialization.data(fromPropertyList: object, format: .binary, options: 0)
        #expect(try BinaryPropertyList.read(again) == value)
        let xml = try PropertyListSerialization.data(fromPropertyList: object, format: .xml, options: 0)
        #expect(try PropertyListValue(propertyList: xml) == value)
    }

    @Test("Equal scalars are written once, and strings with different encodings are not equal")
    func uniquing() throws {
        let once = try BinaryPropertyList.write(.array([.string("abcdefgh")])).count
        #expect(try BinaryPropertyList.write(.array([.string("abcdefgh"), .string("abcdefgh")])).count == once + 1)
        let spellings = PropertyListValue.array([.string("e\u{301}"), .string("\u{E9}")])
        let read = try BinaryPropertyList.read(BinaryPropertyList.write(spellings)).elements?.compactMap(\.string)
        #expect(read?.map(\.unicodeScalars.count) == [2, 1])
    }

    @Test("Many keys and wide references")
    func large() throws {
        let pairs = (0..<70_000).map { ("key \($0)", PropertyListValue.integer(Int64($0))) }
        let value = PropertyListValue.dictionary(PropertyListDictionary(pairs))
        let read = try BinaryPropertyList.read(BinaryPropertyList.write(value))
        #expect(read["key 69999"] == 69999)
        #expect(read == value)
    }

    /// A hand-made property list from objects, each with its offset; references and offsets are one byte wide.
    private func list(_ objects: [[UInt8]]) -> Data {
        var data = Data("bplist00".utf8)
        var offsets: [UInt8] = []
        for object in objects {
            offsets.append(UInt8(data.count))
            data += object
        }
        let table = UInt8(data.count)
        data += offsets
        data += [0, 0, 0, 0, 0, 0, 1, 1]
        for number in [UInt8(objects.count), 0, table] { data += [0, 0, 0, 0, 0, 0, 0, number] }
        return data
    }

    private func code(_ data: Data) -> ArchiveError.Code? {
        do {
            _ = try BinaryPropertyList.read(data)
            return nil
        } catch {
            return (error as? ArchiveError)?.code
        }
    }

    @Test("Of two values of one key the later is read, whether the key is one object or two")
    func repeatedKeys() throws {
        let (key, same, one, two): ([UInt8], [UInt8], [UInt8], [UInt8]) = (
            [0x51, 0x61], [0x51, 0x61], [0x10, 1], [0x10, 2]
        )
        for keys: [UInt8] in [[1, 1], [1, 2]] {
            let value = try BinaryPropertyList.read(list([[0xD2] + keys + [3, 4], key, same, one, two]))
            #expect(value == ["a": 2] && value.dictionary?.count == 1)
        }
    }

    @Test("Dictionaries share key objects, and each has its own values")
    func sharedKeys() throws {
        let objects: [[UInt8]] = [
            [0xA3, 1, 2, 3], [0xD1, 4, 5], [0xD1, 4, 6], [0xD1, 5, 6], [0x51, 0x61], [0x51, 0x62], [0x51, 0x63],
        ]
        var value = try BinaryPropertyList.read(list(objects))
        #expect(value == [["a": "b"], ["a": "c"], ["b": "c"]])
        guard case .array(var dictionaries) = value, case .dictionary(var first) = dictionaries[0] else { return }
        first["z"] = 1
        dictionaries[0] = .dictionary(first)
        value = .array(dictionaries)
        #expect(value == [["a": "b", "z": 1], ["a": "c"], ["b": "c"]])
        first["a"] = nil
        #expect(first["z"] == 1 && first["a"] == nil && first.count == 1)
    }

    @Test("Hostile files are rejected")
    func hostile() {
        #expect(code(list([[0xA1, 0]])) == .cycle)
        #expect(code(list([[0xA1, 1], [0xA1, 0]])) == .cycle)
        #expect(code(list([[0xA1, 9]])) == .outOfRange)
        #expect(code(list([[0x70 | 0x0F, 0x13, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]])) == .outOfRange)
        #expect(code(list([[0xD1, 1, 1], [0x10, 5]])) == .malformed)
        #expect(code(list([[0x0E]])) == .malformed)
        #expect(code(list([[0x15]])) == .malformed)
        #expect(code(Data("bplist00".utf8)) == .outOfRange)
        #expect(code(Data()) == .unknownFormat)
        // Thirty arrays of two references each to the next: a billion values.
        let doubling = (0..<30).map { [0xA2, UInt8($0 + 1), UInt8($0 + 1)] } + [[0x08]]
        #expect(code(list(doubling)) == .tooLarge)
    }

    @Test("Nesting uses no stack, and has a limit")
    func depth() throws {
        var value = PropertyListValue.array([])
        for _ in 0..<500 { value = .array([value]) }
        #expect(try BinaryPropertyList.read(BinaryPropertyList.write(value)) == value)
        for _ in 0..<20 { value = .array([value]) }
        #expect(throws: ArchiveError.self) { try BinaryPropertyList.write(value) }
    }

    @Test("Damaged files are read or rejected")
    func damage() throws {
        let data = try BinaryPropertyList.write(everything)
        for position in data.indices {
            for change in [UInt8(0), 1, 0x7F, 0x80, 0xFF] {
                var damaged = data
                damaged[position] ^= change
                _ = try? BinaryPropertyList.read(damaged)
            }
            #expect(throws: ArchiveError.self) { try BinaryPropertyList.read(data.prefix(position)) }
        }
    }

    @Test("XML with a wrong encoding declaration is rejected")
    func encoding() {
        var text = Data("<?xml version='1.0' encoding='UTF-8'?><plist><string a='".utf8)
        text += [0xFF, 0xFE, 0x80]
        text += Data("'>x</string></plist>".utf8)
        #expect(throws: ArchiveError.self) { try XMLPropertyList.read(text) }
        let latin = Data("<?xml version='1.0' encoding='ISO-8859-1'?><plist><string>ü</string></plist>".utf8)
        #expect((try? XMLPropertyList.read(latin)) == "ü")
        let deep = Data(String(repeating: "<array>", count: 100_000).utf8)
        #expect(throws: ArchiveError.self) { try XMLPropertyList.read(deep) }
    }
}
