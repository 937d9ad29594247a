import Foundation

/// A message of a log: a string whose interpolated values may be private.
public struct OSLogMessage: ExpressibleByStringInterpolation, Sendable {
    let text: String

    public init(stringLiteral value: String) { text = value }
    public init(stringInterpolation: OSLogInterpolation) { text = stringInterpolation.text }
}

/// Whether a value of a message may be read in the log.
public struct OSLogPrivacy: Sendable {
    /// The text that replaces a private value.
    public enum Mask: Sendable {
        /// A hash, so that equal values can be recognised within a process.
        case hash
        /// Nothing but the mark.
        case none
    }

    fileprivate let isHidden: Bool
    fileprivate var mask = Mask.none

    /// The value is written.
    public static let `public` = OSLogPrivacy(isHidden: false)
    /// The value is not written.
    public static let `private` = OSLogPrivacy(isHidden: true)
    /// The value is not written.
    public static let sensitive = OSLogPrivacy(isHidden: true)
    /// The value is written: a log here is that of the program's own operator.
    public static let auto = OSLogPrivacy(isHidden: false)

    /// The value is not written, but its mask.
    public static func `private`(mask: Mask) -> OSLogPrivacy { OSLogPrivacy(isHidden: true, mask: mask) }
    /// The value is not written, but its mask.
    public static func sensitive(mask: Mask) -> OSLogPrivacy { OSLogPrivacy(isHidden: true, mask: mask) }
    /// The value is written.
    public static func auto(mask: Mask) -> OSLogPrivacy { auto }
}

/// The width of a value in a message.
public struct OSLogStringAlignment: Sendable {
    fileprivate let columns: Int
    fileprivate let isRight: Bool
    /// As wide as the value.
    public static let none = OSLogStringAlignment(columns: 0, isRight: false)
    /// Filled with spaces on the left.
    public static func right(columns: Int) -> OSLogStringAlignment { .init(columns: columns, isRight: true) }
    /// Filled with spaces on the right.
    public static func left(columns: Int) -> OSLogStringAlignment { .init(columns: columns, isRight: false) }
}

/// How an integer is written.
public enum OSLogIntegerFormatting: Sendable {
    case decimal, hex, octal
    case padded(Int)
    /// At least some digits.
    public static func decimal(explicitPositiveSign: Bool = false, minDigits: Int) -> OSLogIntegerFormatting {
        .padded(minDigits)
    }

    func text(_ value: some BinaryInteger) -> String {
        switch self {
        case .decimal: return "\(value)"
        case .hex: return String(value, radix: 16)
        case .octal: return String(value, radix: 8)
        case .padded(let digits):
            let text = "\(value.magnitude)"
            return (value < 0 ? "-" : "") + String(repeating: "0", count: max(0, digits - text.count)) + text
        }
    }
}

/// How a floating-point number is written.
public enum OSLogFloatFormatting: Sendable {
    case shortest
    case places(Int)
    /// With six digits after the point.
    public static var fixed: OSLogFloatFormatting { .places(6) }
    /// With some digits after the point.
    public static func fixed(precision: Int, explicitPositiveSign: Bool = false) -> OSLogFloatFormatting {
        .places(precision)
    }

    func text(_ value: Double) -> String {
        switch self {
        case .shortest: "\(value)"
        case .places(let count): String(format: "%.\(max(0, count))f", value)
        }
    }
}

/// The values of a message.
public struct OSLogInterpolation: StringInterpolationProtocol {
    private(set) var text = ""

    public init(literalCapacity: Int, interpolationCount: Int) { text.reserveCapacity(literalCapacity) }

    public mutating func appendLiteral(_ literal: String) { text += literal }

    /// Appends a value of any type.
    public mutating func appendInterpolation<Value>(
        _ value: @autoclosure () -> Value, align: OSLogStringAlignment = .none, privacy: OSLogPrivacy = .auto
    ) {
        append({ Self.description(of: value()) }, align, privacy)
    }

    /// Appends an integer.
    public mutating func appendInterpolation<Value: FixedWidthInteger>(
        _ value: @autoclosure () -> Value, format: OSLogIntegerFormatting, align: OSLogStringAlignment = .none,
        privacy: OSLogPrivacy = .auto
    ) {
        append({ format.text(value()) }, align, privacy)
    }

    /// Appends a floating-point number.
    public mutating func appendInterpolation(
        _ value: @autoclosure () -> Double, format: OSLogFloatFormatting, align: OSLogStringAlignment = .none,
        privacy: OSLogPrivacy = .auto
    ) {
        append({ format.text(value()) }, align, privacy)
    }

    private mutating func append(_ value: () -> String, _ align: OSLogStringAlignment, _ privacy: OSLogPrivacy) {
        guard !privacy.isHidden else {
            if case .hash = privacy.mask {
                text += "<mask.hash: '\(String(UInt(bitPattern: value().hashValue), radix: 16))'>"
            } else {
                text += "<private>"
            }
            return
        }
        let value = value()
        let filling = String(repeating: " ", count: max(0, align.columns - value.count))
        text += align.isRight ? filling + value : value + filling
    }

    /// The text of a value; of an optional one without the word *Optional*.
    static func description(of value: Any) -> String {
        let mirror = Mirror(reflecting: value)
        guard mirror.displayStyle == .optional else { return String(describing: value) }
        return mirror.children.first.map { description(of: $0.value) } ?? "nil"
    }
}
