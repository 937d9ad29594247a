import ArgumentParser
import Coral

/// A change of one property on the command line: `rank=4`, `author=Person/p1`, `tags+=Tag/p2`.
struct Assignment: ExpressibleByArgument {
    /// What happens to the members of a to-many relationship.
    enum Operation: String {
        case replace = "="
        case add = "+="
        case remove = "-="
    }

    /// The argument as it was written.
    let text: String
    let key: String
    let operation: Operation
    /// The value: text, `null`, a string as in JSON, or `@` and the path of a file.
    let value: String

    init?(argument: String) {
        // Scalars: the equals sign and a combining mark at the beginning of the value are one `Character`.
        let scalars = argument.unicodeScalars
        guard let sign = scalars.firstIndex(of: "="), sign > scalars.startIndex else { return nil }
        // A plus or minus before the equals sign is part of the operation, unless it is the whole key.
        let last = scalars.index(before: sign)
        let end = last > scalars.startIndex && ["+", "-"].contains(scalars[last]) ? last : sign
        guard let operation = Operation(rawValue: String(scalars[end...sign])) else { return nil }
        text = argument
        key = String(scalars[..<end])
        self.operation = operation
        value = String(scalars[sign...].dropFirst())
    }
}

extension String {
    /// The text after a prefix; nil if it begins otherwise. `hasPrefix` compares each `Character`, to which a combining mark after the
    /// prefix belongs.
    func text(after prefix: String) -> String? {
        guard utf8.starts(with: prefix.utf8) else { return nil }
        return String(decoding: utf8.dropFirst(prefix.utf8.count), as: UTF8.self)
    }
}

/// The value of an assignment, in the type of the attribute.
struct AssignedValue {
    private let assignment: Assignment
    private let attribute: GraphSchema.Attribute
    private let zone: TimeZone?
    private let readsFiles: Bool

    /// - Parameter readsFiles: Whether the value may be that of a file.
    init(_ assignment: Assignment, _ attribute: GraphSchema.Attribute, _ zone: TimeZone?, readsFiles: Bool) {
        self.assignment = assignment
        self.attribute = attribute
        self.zone = zone
        self.readsFiles = readsFiles
    }

    /// The value. Throws `CommandError` if the text has no value of the attribute's type.
    func object() throws -> Any? {
        if assignment.value == "null" { return nil }
        let text = try plainText()
        switch attribute.type {
        case .string: return text
        case .boolean:
            switch text.lowercased() {
            case "true", "yes", "1": return NSNumber(value: true)
            case "false", "no", "0": return NSNumber(value: false)
            default: throw mistake("is not true or false")
            }
        case .date:
            guard let date = TypedConstants.date(text, in: zone) else {
                throw mistake("is not a date: write 2024-02-29, or 2024-02-29T12:30:00Z")
            }
            return date
        case .binaryData: return try bytes(text)
        case .transformable, .composite, .undefined, .objectID:
            throw CommandError("\(assignment.key) is \(attribute.type.name): its value cannot be written as text.")
        default: break
        }
        let value = TextValue.anyValue(text, as: attribute.type)
        if case .integer(let number) = value, attribute.type.integerRange?.contains(number) == false {
            throw mistake("is out of range")
        }
        guard let object = value?.scalarObject else {
            throw mistake(attribute.type == .uri ? "is not a URL" : "is not a value of the type \(attribute.type.name)")
        }
        return object
    }

    /// The text; if it is a string in JSON, the decoded string.
    private func plainText() throws -> String {
        guard let rest = assignment.value.text(after: "\""), !rest.isEmpty else { return assignment.value }
        guard let decoded = try? JSONDecoder().decode(String.self, from: Data(assignment.value.utf8)) else {
            throw mistake("is not a valid JSON string")
        }
        return decoded
    }

    private func bytes(_ text: String) throws -> Data {
        // What a string of JSON contains is never a path.
        if let path = assignment.value.text(after: "@") {
            guard readsFiles else { throw CommandError("\(assignment.key): files cannot be assigned here.") }
            guard let data = FileManager.default.contents(atPath: path) else {
                throw CommandError("\(assignment.text): the file \(path) cannot be read.")
            }
            return data
        }
        if text.hasPrefix("hex:") {
            guard let data = Self.bytes(hexadecimal: text.dropFirst(4)) else {
                throw mistake("does not have two digits for each byte")
            }
            return data
        }
        guard let data = Data(base64Encoded: text.filter { !$0.isWhitespace }) else {
            throw mistake("is neither Base64, nor hex: followed by digits, nor @ followed by the path of a file")
        }
        return data
    }

    /// The bytes of pairs of hexadecimal digits, which may be separated by white space.
    private static func bytes(hexadecimal text: Substring) -> Data? {
        let digits = text.filter { !$0.isWhitespace }.map(\.hexDigitValue)
        guard digits.count.isMultiple(of: 2), !digits.contains(nil) else { return nil }
        let values = digits.compactMap { $0 }
        let bytes: [UInt8] = stride(from: 0, to: values.count, by: 2).map { UInt8(values[$0] * 16 + values[$0 + 1]) }
        return Data(bytes)
    }

    private func mistake(_ problem: String) -> CommandError {
        CommandError("\(assignment.key): \"\(assignment.value)\" \(problem).")
    }
}
