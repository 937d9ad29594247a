/// Identifies the queries that differ only in constants, as a text that is composed of many small parts.
struct QueryKey {
    // As bytes, because appending a character to a string costs ten times as much.
    private var bytes: [UInt8] = []

    init() { bytes.reserveCapacity(128) }

    /// The text, to compare it with others.
    var text: String { String(decoding: bytes, as: UTF8.self) }

    /// Appends an ASCII character.
    static func += (key: inout QueryKey, character: Unicode.Scalar) {
        key.bytes.append(UInt8(truncatingIfNeeded: character.value))
    }

    /// Appends a name with its length, because names in a predicate may contain any character.
    mutating func append(_ name: String) {
        append(name.utf8.count)
        self += ":"
        bytes.append(contentsOf: name.utf8)
    }

    /// Appends a number, which ends with the next character that is not a digit.
    mutating func append(_ number: Int) {
        if (0..<10).contains(number) {
            bytes.append(UInt8(ascii: "0") + UInt8(number))
        } else {
            bytes.append(contentsOf: String(number).utf8)
        }
    }
}
