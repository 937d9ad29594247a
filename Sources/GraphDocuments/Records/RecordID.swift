/// The identifier of one record in its document.
///
/// This library uses three forms, distinguished by their text: `Note/p12` (entity and primary key in the store),
/// `Tag/=home` (entity and natural key; parts of a compound key are separated by commas), `#12` (the number in the
/// walk). Other documents may use any text that does not begin with `$`.
public struct RecordID: Sendable, Hashable {
    /// The text of the id in the document.
    public let text: String

    /// Creates an id of any form.
    public init(_ text: String) {
        self.text = text
    }

    /// The id of a stored object: `Note/p12`.
    public static func stored(entity: String, primaryKey: Int64) -> RecordID {
        RecordID("\(entity)/p\(primaryKey)")
    }

    /// The id of an object by its natural key: `Tag/=home`. In a part, `,` and `\` are escaped by a `\`.
    public static func key(entity: String, values: [String]) -> RecordID {
        if values.count == 1, let value = values.first, !value.utf8.contains(where: isSpecial) {
            return RecordID("\(entity)/=\(value)")
        }
        var text = "\(entity)/="
        for (index, value) in values.enumerated() {
            if index > 0 { text.append(",") }
            guard value.utf8.contains(where: isSpecial) else {
                text += value
                continue
            }
            for scalar in value.unicodeScalars {
                if scalar == "," || scalar == "\\" { text.append("\\") }
                text.unicodeScalars.append(scalar)
            }
        }
        return RecordID(text)
    }

    /// The id of the object with this number in the walk.
    public static func number(_ number: Int) -> RecordID {
        RecordID("#\(number)")
    }

    /// The entity in the id, for the forms that contain one.
    public var entity: String? {
        guard let slash = text.utf8.firstIndex(of: UInt8(ascii: "/")), slash > text.startIndex else { return nil }
        let mark = text.utf8.index(after: slash)
        guard mark < text.endIndex else { return nil }
        if text.utf8[mark] == UInt8(ascii: "=") { return String(text[..<slash]) }
        return primaryKey == nil ? nil : String(text[..<slash])
    }

    /// The primary key of an id of the form `Note/p12`.
    public var primaryKey: Int64? {
        guard let slash = text.utf8.firstIndex(of: UInt8(ascii: "/")), slash > text.startIndex else { return nil }
        let rest = text.utf8[text.utf8.index(after: slash)...]
        guard rest.first == UInt8(ascii: "p"), let digits = Substring(rest.dropFirst()).nilIfEmpty,
            digits.utf8.allSatisfy({ (48...57).contains($0) })
        else { return nil }
        return Int64(digits)
    }

    /// The parts of an id of the form `Tag/=home`.
    public var keyValues: [String]? {
        guard let slash = text.utf8.firstIndex(of: UInt8(ascii: "/")), slash > text.startIndex else { return nil }
        let rest = text.utf8[text.utf8.index(after: slash)...]
        guard rest.first == UInt8(ascii: "=") else { return nil }
        if !rest.contains(where: RecordID.isSpecial) { return [String(Substring(rest.dropFirst()))] }
        if !rest.contains(UInt8(ascii: "\\")) {
            return rest.dropFirst().split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
                .map { String(Substring($0)) }
        }
        var values = [""]
        var isEscaped = false
        for scalar in Substring(rest.dropFirst()).unicodeScalars {
            if !isEscaped, scalar == "\\" {
                isEscaped = true
            } else if !isEscaped, scalar == "," {
                values.append("")
            } else {
                values[values.count - 1].unicodeScalars.append(scalar)
                isEscaped = false
            }
        }
        return values
    }

    private static func isSpecial(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: ",") || byte == UInt8(ascii: "\\")
    }
}

extension RecordID: CustomStringConvertible {
    public var description: String { text }
}

extension RecordID: ExpressibleByStringLiteral {
    public init(stringLiteral value: String) {
        self.init(value)
    }
}

extension Substring {
    fileprivate var nilIfEmpty: Substring? { isEmpty ? nil : self }
}
