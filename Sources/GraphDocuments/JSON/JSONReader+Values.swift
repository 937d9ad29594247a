import Foundation

extension JSONReader: TokenSource {
    @inline(__always)
    mutating func textIs(_ other: [UInt8]) -> Bool {
        text.count == other.count
            && other.withUnsafeBytes { other in
                guard let left = text.baseAddress, let right = other.baseAddress else { return true }
                return memcmp(left, right, other.count) == 0
            }
    }

    mutating func tokenText() -> String { String(decoding: text, as: UTF8.self) }

    mutating func value(_ token: DocumentToken, as type: GraphValueType) throws -> GraphValue {
        switch token {
        case .null: return .null
        case .true: return .bool(true)
        case .false: return .bool(false)
        case .number: return numberValue(as: type)
        default: return TextValue.value(text, as: type) ?? .string(string())
        }
    }

    private mutating func numberValue(as type: GraphValueType) -> GraphValue {
        switch type {
        case .double: if let double { return .double(double) }
        case .float: if let float { return .float(float) }
        case .decimal: if let decimal { return .decimal(decimal) }
        case .integer16, .integer32, .integer64: if let integer { return .integer(integer) }
        default: break
        }
        // The number's type without a declaration: an integer if it is written as one and fits, a decimal if a
        // double would lose digits of an integer, else a double.
        if number.isInteger {
            if let integer { return integer == 0 && number.isNegative ? .double(-0.0) : .integer(integer) }
            if let decimal { return .decimal(decimal) }
        }
        if let double { return .double(double) }
        return decimal.map { .decimal($0) } ?? .string(string())
    }
}
