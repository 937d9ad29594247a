import Foundation

/// A kind of values that are compared with each other.
package enum ValueKind {
    case number, text, date, uuid, url, data
    /// Objects, which are compared with objects and object IDs.
    case object

    /// The kind, for messages.
    package var name: String {
        switch self {
        case .number: "numbers"
        case .text: "text"
        case .date: "dates"
        case .uuid: "UUIDs"
        case .url: "URLs"
        case .data: "data"
        case .object: "objects"
        }
    }

    /// Whether a value has the kind, or is nil.
    package func contains(_ value: PredicateValue) -> Bool {
        switch (self, value) {
        case (_, .null), (.number, .bool), (.number, .integer), (.number, .double), (.number, .decimal),
            (.text, .string), (.date, .date), (.uuid, .uuid), (.url, .url), (.data, .data), (.object, .object),
            (.object, .other):
            true
        default: false
        }
    }

    /// A value of another kind, converted as SQLite converts it for a column: numbers and texts to each other; nil for all others.
    package func converting(_ value: PredicateValue) -> PredicateValue? {
        switch (self, value) {
        case (.number, .string(let text)): Self.number(text)
        case (.text, .bool(let value)): .string(value ? "1" : "0")
        case (.text, .integer(let number)): .string(String(number))
        case (.text, .double(let number)): .string("\(number)")
        case (.text, .decimal(let number)): .string("\(number)")
        default: nil
        }
    }

    /// The number that a text contains and nothing else but white space, as for a column with numeric affinity.
    private static func number(_ text: String) -> PredicateValue? {
        let digits = text.trimmingCharacters(in: .whitespacesAndNewlines)
        guard digits.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 || "+-.eE".utf8.contains($0) })
        else { return nil }
        return Int64(digits).map(PredicateValue.integer) ?? Double(digits).map(PredicateValue.double)
    }
}
