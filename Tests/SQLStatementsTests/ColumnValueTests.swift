import Foundation
import PredicateLanguage
import SQLStatements
import Testing

@Suite struct ColumnValueTests {
    @Test func `values are equal as SQL compares them`() {
        #expect(ColumnValue.integer(3) == .real(3) && ColumnValue.real(3) == .integer(3))
        #expect(ColumnValue.integer(3) != .real(3.5) && ColumnValue.integer(.max) != .real(0x1p63))
        #expect(ColumnValue.text("1") != .integer(1) && ColumnValue.text("a") != .blob(Data("a".utf8)))
        #expect(ColumnValue.null == .null && ColumnValue(nil) == .null && ColumnValue.null != .integer(0))
    }

    @Test func `a conversion loses the fraction of a number and nothing else`() {
        #expect(ColumnValue.real(-2.5).integerValue == -2 && ColumnValue.real(.infinity).integerValue == nil)
        #expect(ColumnValue.real(.nan).integerValue == nil && ColumnValue.real(0x1p63).integerValue == nil)
        #expect(ColumnValue.integer(.min).realValue == -0x1p63)
        #expect(ColumnValue.text("12").integerValue == nil && ColumnValue.integer(12).textValue == nil)
        #expect(
            ColumnValue.blob(Data([0xC3, 0xA9])).textValue == "é" && ColumnValue.blob(Data([0xFF])).textValue == nil)
        #expect(ColumnValue.text("é").blobValue == Data([0xC3, 0xA9]))
    }

    @Test func `a UUID is read from its bytes, at any position in memory, and from its text`() throws {
        let uuid = UUID()
        guard case .blob(let bytes) = ColumnValue(uuid) else { throw CocoaError(.coderInvalidValue) }
        #expect(ColumnValue.blob((Data([0]) + bytes).dropFirst()).uuidValue == uuid)
        #expect(ColumnValue.text(uuid.uuidString).uuidValue == uuid)
        #expect(ColumnValue.blob(bytes.dropLast()).uuidValue == nil)
    }

    @Test func `constants become the values by which a store represents them`() {
        func value(_ conversion: SQLConversion, _ constant: PredicateValue) -> ColumnValue {
            conversion.value(of: constant) { _ in 7 }
        }
        #expect(value(.plain, .bool(true)) == .integer(1))
        #expect(value(.plain, .date(Date(timeIntervalSinceReferenceDate: 2.5))) == .real(2.5))
        #expect(value(.key, .null) == .integer(7))
        #expect(value(.composed, .string("e\u{301}")) == .text("\u{E9}"))
        #expect(value(.foldedPattern([]), .string("a*b?c%")) == .text("a%b_c\\%"))
        #expect(value(.endOfPrefix, .string("az")) == .text("a{"))
        // After the last scalar before the surrogates, and after the last of all.
        #expect(value(.endOfPrefix, .string("a\u{D7FF}")) == .text("a\u{E000}"))
        #expect(value(.endOfPrefix, .string("a\u{10FFFF}")) == .text("b"))
        #expect(value(.endOfPrefix, .string("\u{10FFFF}")) == .blob(Data()))
    }
}
