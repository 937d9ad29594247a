import Foundation
import Testing

@testable import ManagedObjects

@Suite("Numbers of every type become values of an attribute")
struct NumberValueTests {
    private func decimal(_ value: Any) throws -> Decimal? {
        if case .decimal(let number) = try Value(value, kind: .decimal) { number } else { nil }
    }

    @Test("Foundation's decimal of an infinite number stops the program")
    func decimals() throws {
        for number in [Double.infinity, -.infinity, .nan, 1e300] {
            #expect(try decimal(number)?.isNaN == true, "\(number)")
            #expect(try decimal(NSNumber(value: number))?.isNaN == true, "\(number)")
        }
        #expect(try decimal(NSNumber(value: Int64.max)) == Decimal(Int64.max))
        #expect(try decimal(UInt64.max) == Decimal(UInt64.max))
        #expect(try decimal(0.1) == Decimal(string: "0.1"))
        #expect(try decimal(NSNumber(value: Float(0.1))) == Decimal(string: "0.1"))
        #expect(try decimal(CGFloat(2.5)) == 2.5)
        #expect(try decimal(NSDecimalNumber(string: "1.25")) == Decimal(string: "1.25"))
    }

    @Test("A CGFloat is a number, as on Apple's platforms")
    func floats() throws {
        for kind in [EntityLayout.Slot.Kind.integer16, .integer64] {
            guard case .integer(let number) = try Value(CGFloat(2.5), kind: kind) else {
                Issue.record("no integer")
                continue
            }
            #expect(number == 2)
        }
        guard case .real(let number) = try Value(CGFloat(2.5), kind: .double) else {
            Issue.record("no double")
            return
        }
        #expect(number == 2.5)
        #expect(throws: UnacceptableValue.self) { try Value("2.5", kind: .double) }
        #expect(throws: UnacceptableValue.self) { try Value(Date(), kind: .integer32) }
    }
}
