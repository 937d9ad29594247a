import Coral
import ModelFiles

/// Replaces attributes' values by meaningless substitutes. Equal values get equal substitutes, so that comparisons for
/// equality have the same results as before.
///
///     var redaction = Redaction(secret: secret)
///     redaction.replace("Customer.name", by: .name)
///     redaction.replace("Customer.email", by: .email)
///
/// Substitutes are computed from the secret and the value alone (HMAC-SHA256), so they are the same in every store and
/// every run. With the secret, a guessed value can be verified; keep it confidential, or use `Redaction()` with a random
/// secret.
public struct Redaction: Sendable {
    /// The substitute of a value. Null stays null, except for `constant`.
    public enum Substitute: Sendable, Hashable {
        /// Text: letters are replaced by letters, digits by digits, other characters are kept. Two short values may get
        /// the same substitute.
        case shape
        /// Text: a name with the same number of words.
        case name
        /// Text: an address at `example.com`.
        case email
        /// Text: sixteen hexadecimal digits.
        case token
        /// A UUID.
        case uuid
        /// A date up to this number of days earlier or later.
        case date(withinDays: Int)
        /// An integer or real number from a range.
        case number(ClosedRange<Int64>)
        /// The same text for every value.
        case constant(String)
        /// Null.
        case null
    }

    private var key: Data
    private(set) var substitutes: [String: Substitute] = [:]

    /// Creates a redaction with a secret. Equal values get equal substitutes in every run. Everybody knows an empty secret:
    /// it is replaced by a random one, as `Redaction()` has.
    public init(secret: String) {
        self.init()
        if !secret.isEmpty { key = SecureHash.sha256(Data(secret.utf8)) }
    }

    /// Creates a redaction with a random secret.
    public init() {
        key = Data((0..<32).map { _ in UInt8.random(in: .min ... .max) })
    }

    /// Replaces an attribute, given with its entity as `Customer.name`, and in entities that inherit it.
    public mutating func replace(_ attribute: String, by substitute: Substitute) {
        substitutes[attribute] = substitute
    }

    /// Replaces an attribute, given as a key path such as `\Customer.name`, and in entities that inherit it.
    public mutating func replace(_ attribute: PartialKeyPath<some NSManagedObject>, by substitute: Substitute) {
        replace(attribute.ruleText, by: substitute)
    }

    /// The substitute for a value of an attribute with a type; nil for null, and if the type does not accept the
    /// substitute.
    public func substitute(for value: Any?, by substitute: Substitute, of type: NSAttributeType) -> Any? {
        guard Redaction.types(of: substitute)?.types.contains(type) == true else { return nil }
        if case .constant(let text) = substitute { return text }
        guard let value, !(value is NSNull) else { return nil }
        var numbers = SubstituteNumbers(key, for: value)
        switch substitute {
        case .shape, .name, .email, .token: return (value as? String).map { numbers.text(substitute, like: $0) }
        case .uuid: return numbers.uuid()
        case .date(let days):
            let seconds = Double(max(days, 0)) * 86400
            return (value as? Date)?.addingTimeInterval(
                Double.random(in: -seconds...seconds, using: &numbers).rounded())
        case .number(let range): return NSNumber(value: Int64.random(in: range, using: &numbers))
        case .constant, .null: return nil
        }
    }

    /// Throws `CopyError` if an attribute's type does not accept the substitute.
    func check(_ substitute: Substitute, fits type: NSAttributeType, at place: String) throws {
        guard let (types, kind) = Redaction.types(of: substitute) else { return }
        guard types.contains(type) else {
            throw CopyError(.wrongValue, "\(place) cannot be replaced by \(kind): it has another type.", at: place)
        }
    }

    /// The types of attributes that accept a substitute, and its description; nil for null, which any optional
    /// attribute accepts.
    private static func types(of substitute: Substitute) -> (types: [NSAttributeType], kind: String)? {
        switch substitute {
        case .null: nil
        case .shape, .name, .email, .token, .constant: ([.stringAttributeType], "text")
        case .uuid: ([.UUIDAttributeType], "a UUID")
        case .date: ([.dateAttributeType], "a date")
        case .number:
            (
                [
                    .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .doubleAttributeType,
                    .floatAttributeType,
                ], "a number"
            )
        }
    }
}

/// Pseudorandom numbers computed from a secret and a value.
private struct SubstituteNumbers: RandomNumberGenerator {
    private let key: Data
    private var block: [UInt8]
    private var offset = 0

    init(_ key: Data, for value: Any) {
        self.key = key
        block = Array(SecureHash.authenticationCode(for: SubstituteNumbers.bytes(of: value), key: key))
    }

    /// The bytes from which the substitute of a value is computed. They do not depend on the attribute, so that equal texts
    /// get equal substitutes in all attributes.
    private static func bytes(of value: Any) -> Data {
        switch value {
        case let value as Data: value
        case let value as Date: Data("\(value.timeIntervalSinceReferenceDate)".utf8)
        default: Data("\(value)".utf8)
        }
    }

    mutating func next() -> UInt64 {
        if offset + 8 > block.count {
            block = Array(SecureHash.authenticationCode(for: Data(block), key: key))
            offset = 0
        }
        defer { offset += 8 }
        return block[offset..<offset + 8].reduce(0) { $0 << 8 | UInt64($1) }
    }

    // MARK: - Text

    private static let letters = Array("abcdefghijklmnopqrstuvwxyz")
    private static let firstNames = [
        "Ada", "Ben", "Clara", "David", "Emma", "Felix", "Grace", "Hugo", "Ida", "Jonas", "Kira", "Leo", "Mara", "Nils",
        "Olga", "Paul", "Rosa", "Simon", "Tara", "Viktor",
    ]
    private static let lastNames = [
        "Adler", "Brook", "Carter", "Dahl", "Ekholm", "Fischer", "Grant", "Hale", "Ivers", "Jensen", "Keller", "Lund",
        "Moreau", "Novak", "Olsen", "Porter", "Reyes", "Sato", "Tanner", "Weiss",
    ]

    mutating func text(_ substitute: Redaction.Substitute, like text: String) -> String {
        switch substitute {
        case .name:
            let isOneWord = !text.contains(" ")
            let first = SubstituteNumbers.firstNames[index(SubstituteNumbers.firstNames.count)]
            return isOneWord
                ? first : first + " " + SubstituteNumbers.lastNames[index(SubstituteNumbers.lastNames.count)]
        case .email: return "user-\(hexadecimal(10))@example.com"
        case .token: return hexadecimal(16)
        default: return String(text.map { shaped($0) })
        }
    }

    private mutating func shaped(_ character: Character) -> Character {
        // Of any script, and anywhere in the character: some signs combine with the digit after them.
        let parts = character.unicodeScalars.lazy.map(\.properties)
        guard parts.contains(where: \.isAlphabetic) else {
            return parts.contains { $0.numericType != nil } ? Character("\(index(10))") : character
        }
        let letter = SubstituteNumbers.letters[index(26)]
        return character.isUppercase ? Character(letter.uppercased()) : letter
    }

    private mutating func index(_ count: Int) -> Int { Int.random(in: 0..<count, using: &self) }

    private mutating func hexadecimal(_ count: Int) -> String {
        String((0..<count).map { _ in Character(String(index(16), radix: 16)) })
    }

    mutating func uuid() -> UUID {
        let (high, low) = (next(), next())
        var bytes = withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) { Array($0) }
        // Sets the bits of a random (version 4) UUID.
        bytes[6] = bytes[6] & 0x0F | 0x40
        bytes[8] = bytes[8] & 0x3F | 0x80
        return bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }
}
