import Foundation
import Testing

@testable import GraphDocuments

@Suite struct TextTests {
    private func text(_ longest: Int, _ write: (UnsafeMutablePointer<UInt8>) -> UnsafeMutablePointer<UInt8>) -> String {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: longest) { buffer in
            let base = buffer.baseAddress!
            return String(decoding: UnsafeBufferPointer(start: base, count: write(base) - base), as: UTF8.self)
        }
    }

    private func bytes<Result>(_ text: String, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        Array(text.utf8).withUnsafeBytes(body)
    }

    @Test func doublesAreWrittenAsSwiftDescribesThem() {
        var graph = RandomGraph(seed: 1)
        var numbers = (0..<20_000).map { _ in graph.double() }.filter(\.isFinite)
        numbers += (0..<20_000).map { Double($0) / 100 } + (0..<20_000).map { -Double($0) * 1.001 }
        numbers += (0..<64).flatMap { [Double(sign: .plus, exponent: $0, significand: 1), pow(10, Double($0 - 20))] }
        for number in numbers {
            let written = text(64) { FloatingText.write(number, at: $0) }
            #expect(written == number.description)
            if case .double(let back)? = TextValue.anyValue(written, as: .double) {
                #expect(back.bitPattern == number.bitPattern)
            } else {
                Issue.record("\(written) is not a number")
            }
        }
    }

    @Test func integersKeepEveryDigit() {
        for number in [Int64.min, .max, 0, -1, 9, 10, 99, 100, 9999, 10000, 9_007_199_254_740_993] {
            let written = text(24) { IntegerText.write(number, at: $0) }
            #expect(written == String(number))
            #expect(bytes(written) { NumberScan.scan(text: $0)?.integer } == number)
        }
        #expect(bytes("9223372036854775808") { NumberScan.scan(text: $0)?.integer } == nil)
        #expect(bytes("-9223372036854775808") { NumberScan.scan(text: $0)?.integer } == .min)
        #expect(bytes("12e2") { NumberScan.scan(text: $0)?.integer } == 1200)
        #expect(bytes("1200.00") { NumberScan.scan(text: $0)?.integer } == 1200)
        #expect(bytes("1.5") { NumberScan.scan(text: $0)?.integer } == nil)
    }

    @Test func decimalsKeepEveryDigit() {
        var graph = RandomGraph(seed: 2)
        for _ in 0..<5000 {
            let decimal = graph.decimal()
            let written = DecimalText.text(decimal)
            #expect(bytes(written) { DecimalText.decimal($0) } == decimal, "\(written)")
            #expect(Decimal(string: written) == decimal)
        }
        #expect(DecimalText.text(Decimal(string: "1.50")!) == "1.5")
        #expect(DecimalText.text(Decimal(string: "-0.001")!) == "-0.001")
        // Not rounded silently.
        #expect(bytes("0.1234567890123456789012345678901234567890123456789") { DecimalText.decimal($0) } == nil)
        #expect(bytes("1e400") { DecimalText.decimal($0) } == nil)
        // Exact or nothing, and never a number that is not one.
        for text in ["1000e127", "10e127", "1e130", "100000e125", "1e165", "99e127"] {
            let value = bytes(text) { DecimalText.decimal($0) }
            #expect(value?.isNaN != true, "\(text)")
            if let value { #expect(value == Decimal(string: text), "\(text)") }
        }
        #expect(bytes("1e99999999999999999999") { DecimalText.decimal($0) } == nil)
    }

    @Test func datesRoundTripExactly() {
        var graph = RandomGraph(seed: 3)
        for _ in 0..<50_000 {
            let seconds = graph.date()
            let written = DateText.text(seconds)
            let back = bytes(written) { DateText.seconds($0) }
            #expect(
                back.map { $0.bitPattern == seconds.bitPattern || ($0.isNaN && seconds.isNaN) } == true, "\(written)")
        }
    }

    @Test(arguments: [
        (0.0, "2001-01-01T00:00:00.000Z"), (-0.5, "2000-12-31T23:59:59.500Z"), (-1.0, "2000-12-31T23:59:59.000Z"),
        (730_902_600.125, "2024-02-29T12:30:00.125Z"),
        (Date.distantPast.timeIntervalSinceReferenceDate, "0001-01-01T00:00:00.000Z"),
        (Date.distantPast.timeIntervalSinceReferenceDate - 1, "@-63114076801.0"),
        (-13_197_600_000.0, "1582-10-15T00:00:00.000Z"), (-13_197_600_001.0, "1582-10-04T23:59:59.000Z"),
        (-0.0, "@-0.0"), (-Double.infinity, "@-Infinity"), (Double.nan, "@NaN"), (1e15, "@1000000000000000.0"),
        (1e300, "@1e+300"),
        (252_423_993_599.0, "9999-12-31T23:59:59.000Z"), (252_423_993_600.0, "@252423993600.0"),
        (700_000_000.123_456, "2023-03-08T20:26:40.123456Z"), (1e-300, "@1e-300"), (Double.infinity, "@Infinity"),
    ])
    func datesAreISO8601(seconds: Double, expected: String) {
        #expect(DateText.text(seconds) == expected)
    }

    @Test func `the calendar is that of Foundation's formatters, also before 1582`() throws {
        let formatter = ISO8601DateFormatter()
        // Each 100th day and a bit, from year 1 to 3000.
        for seconds in stride(from: -63_114_076_800.0, to: 31_556_952_000, by: 8_640_777) {
            let date = Date(timeIntervalSinceReferenceDate: seconds)
            let text = formatter.string(from: date)
            #expect(DateText.text(seconds) == text.dropLast() + ".000Z")
            #expect(bytes(text) { DateText.seconds($0) } == seconds, "\(text)")
        }
        for text in [
            "0001-01-01T00:00:00Z", "0100-02-29T00:00:00Z", "1500-02-29T00:00:00Z", "1582-10-04T23:59:59Z",
            "1582-10-05T00:00:00Z", "1582-10-14T00:00:00Z", "1582-10-15T00:00:00Z", "1600-02-29T00:00:00Z",
        ] {
            let date = try #require(formatter.date(from: text))
            #expect(bytes(text) { DateText.seconds($0) } == date.timeIntervalSinceReferenceDate, "\(text)")
        }
    }

    @Test func otherDateFormatsAreRead() {
        let noon: Double = 730_900_800
        for text in [
            "2024-02-29T12:00:00Z", "2024-02-29T12:00:00.0Z", "2024-02-29t12:00:00z", "2024-02-29 12:00:00Z",
            "2024-02-29T14:00:00+02:00", "2024-02-29T07:00:00-0500", "2024-02-29T12:00:00,000000000000000000Z",
        ] {
            #expect(bytes(text) { DateText.seconds($0) } == noon, "\(text)")
        }
        for text in [
            "", "@", "@x", "2024-02-30T12:00:00Z", "2023-02-29T12:00:00Z", "2024-13-01T00:00:00Z", "2024-01-01",
            "2024-01-01T00:00:00", "2024-01-01T24:00:00Z", "2024-01-01T00:00:00.Z", "2024-01-01T00:00:00Zx",
            "-001-01-01T00:00:00Z", "0000-12-31T00:00:00Z", "1700-02-29T00:00:00Z", "2024-01-01T00:00:00+1",
            "２０２４-01-01T00:00:00Z",
        ] {
            #expect(bytes(text) { DateText.seconds($0) } == nil, "\(text)")
        }
    }

    @Test func base64GivesBackEveryLength() throws {
        for count in Array(0..<70) + [3071, 3072, 3073, 12288, 100_001] {
            let data = Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) })
            let sink = MemorySink()
            let output = ByteOutput(to: sink)
            try data.withUnsafeBytes { try Base64.write($0, to: output) }
            try output.finish()
            #expect(sink.data == Data(data.base64EncodedString().utf8))
            #expect(sink.data.withUnsafeBytes { Base64.decode($0) } == data)
        }
        #expect(bytes("QU JD\n") { Base64.decode($0) } == Data("ABC".utf8))
        for text in ["Q", "QQ", "QQ=", "Q===", "QQ==QQ==", "QUJD=", "Q*==", "===="] {
            #expect(bytes(text) { Base64.decode($0) } == nil, "\(text)")
        }
    }

    @Test func idsContainTheirSource() {
        #expect(RecordID.stored(entity: "Note", primaryKey: 12).text == "Note/p12")
        #expect(RecordID("Note/p12").primaryKey == 12)
        #expect(RecordID("Note/p12").entity == "Note")
        for text in ["Note/p", "Note/p=a", "Note/p1x", "Note/p-1", "Note", "/p1", "Note/=p1", "x-coredata://a/Note/p1"]
        {
            #expect(RecordID(text).primaryKey == nil, "\(text)")
        }
        #expect(RecordID("Tag/p3=home/p4").primaryKey == 3)
        #expect(RecordID("Tag/p9223372036854775808").primaryKey == nil)
        for key in [Int64.max, 0, 7, 1_234_567_890] {
            let id = RecordID.stored(entity: "A_long_name_of_an_entity", primaryKey: key)
            #expect(id.primaryKey == key && id.text == "A_long_name_of_an_entity/p\(key)")
        }
        #expect(RecordID.stored(entity: "Note", primaryKey: -3).text == "Note/p-3")
        #expect(RecordID("/p1").entity == nil)
        for values in [["home"], ["a,b", "c\\d", ""], [""], ["p12"], ["e\u{301},\\"]] {
            let id = RecordID.key(entity: "Tag", values: values)
            #expect(id.keyValues == values)
            #expect(id.entity == "Tag")
        }
        #expect(RecordID.key(entity: "Tag", values: ["a,b"]) != .key(entity: "Tag", values: ["a", "b"]))
    }
}
