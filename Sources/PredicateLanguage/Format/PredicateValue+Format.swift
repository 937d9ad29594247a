import Foundation

extension PredicateValue {
    /// The text of the value as a constant in a format.
    var predicateFormat: String {
        switch self {
        case .null: "nil"
        case .bool(let value): value ? "1" : "0"
        case .integer(let value): "\(value)"
        case .double(let value): PredicateValue.format(value)
        case .decimal(let value): value.isNaN ? PredicateValue.format(.nan) : value.description
        case .string(let value): PredicateValue.quote(value)
        case .date(let value):
            ConstantCast.text(String(format: "%f", value.timeIntervalSinceReferenceDate), as: "NSDate")
        case .data(let value): ConstantCast.text(PredicateValue.quote(value.base64EncodedString()), as: "NSData")
        case .uuid(let value): ConstantCast.text(PredicateValue.quote(value.uuidString), as: "NSUUID")
        case .url(let value): ConstantCast.text(PredicateValue.quote(value.absoluteString), as: "NSURL")
        case .collection(let elements, let ordered): PredicateValue.format(elements, ordered: ordered)
        case .object(let object): "\(object)"
        case .other(let value): "\(value)"
        }
    }

    /// The text of `NSNull`. Foundation's parser rejects it; this module's parser accepts it.
    static let nullObject = "<null>"

    private static func format(_ value: Double) -> String {
        if !value.isFinite { return ConstantCast.text(quote("\(value)"), as: "NSNumber") }
        let isWhole = value == value.rounded() && value.magnitude < 1e15
        return isWhole ? "\(Int64(value))" : "\(value)"
    }

    /// Sets are printed in the order of their elements' texts, so that equal sets have equal texts. A null element is `NSNull`:
    /// Foundation's collections have no nil.
    private static func format(_ elements: [PredicateValue], ordered: Bool) -> String {
        let texts = elements.map { $0.isNull ? nullObject : $0.predicateFormat }
        return "{\((ordered ? texts : texts.sorted()).joined(separator: ", "))}"
    }

    /// A string between double quotes, with the escapes that it needs.
    static func quote(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case "\n": quoted += "\\n"
            case "\t": quoted += "\\t"
            case "\r": quoted += "\\r"
            default:
                if scalar.value < 0x20 || scalar.value == 0x7F {
                    let digits = String(scalar.value, radix: 16)
                    quoted += "\\x" + (digits.utf8.count == 1 ? "0" : "") + digits
                } else {
                    quoted.unicodeScalars.append(scalar)
                }
            }
        }
        return quoted + "\""
    }
}
