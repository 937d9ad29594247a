/// A regular expression that is a sequence of characters and classes, each of which may be repeated: `Note [0-9]+`, `.*\\.txt`.
///
/// It decides the same as `NSRegularExpression` for a whole ASCII text, in one pass over its bytes. Whether a whole text matches does
/// not depend on how much each repetition takes, so that all ways are followed at once, as bits of one number.
struct PlainExpression: Sendable {
    /// For each byte the steps that accept it.
    private var accepting = [UInt64](repeating: 0, count: 128)
    /// The steps that may be left out, and those that may be repeated.
    private var optional: UInt64 = 0
    private var repeating: UInt64 = 0
    private var count = 0

    private static let countLimit = 63

    /// - Returns: Nil for any other expression.
    init?(_ pattern: String, options: ComparisonOptions) {
        var reader = PlainExpressionReader(pattern, ignoresCase: options.contains(.caseInsensitive))
        while !reader.isAtEnd {
            guard let characters = reader.characters(), let times = reader.repetition() else { return nil }
            let steps = times.most ?? max(times.least, 1)
            guard count + steps <= Self.countLimit else { return nil }
            for step in 0..<steps {
                let bit: UInt64 = 1 << UInt64(count)
                for byte in characters { accepting[Int(byte)] |= bit }
                if step >= times.least { optional |= bit }
                if times.most == nil, step == steps - 1 { repeating |= bit }
                count += 1
            }
        }
    }

    /// Whether the whole text matches; nil for a text that is not ASCII.
    func matches(_ text: String) -> Bool? {
        var text = text
        return text.withUTF8 { matches($0) }
    }

    private func matches(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool? {
        // Bit n: the first n steps have matched the text so far.
        var reached = skipping(1)
        for byte in bytes {
            guard byte < 128 else { return nil }
            let accepted = accepting[Int(byte)]
            let advanced = (reached & accepted) << 1
            // A step is repeated from where it has ended.
            reached = skipping(advanced | (reached & ((accepted & repeating) << 1)))
        }
        return reached >> UInt64(count) & 1 == 1
    }

    /// The states together with those that are reached by leaving out optional steps.
    private func skipping(_ states: UInt64) -> UInt64 {
        var states = states
        while true {
            let more = states | (states & optional) << 1
            if more == states { return states }
            states = more
        }
    }
}

/// Reads the steps of a ``PlainExpression``. Whatever is not certain to have the same meaning in every regular expression is nil.
private struct PlainExpressionReader {
    private let bytes: [UInt8]
    private let ignoresCase: Bool
    private var position = 0

    init(_ pattern: String, ignoresCase: Bool) {
        bytes = Array(pattern.utf8)
        self.ignoresCase = ignoresCase
    }

    var isAtEnd: Bool { position == bytes.count }

    private var next: UInt8? { isAtEnd ? nil : bytes[position] }

    private mutating func skip(_ byte: Unicode.Scalar) -> Bool {
        guard next == UInt8(ascii: byte) else { return false }
        position += 1
        return true
    }

    /// The characters that the next step accepts.
    mutating func characters() -> [UInt8]? {
        guard let byte = next, 0x20..<0x7F ~= byte else { return nil }
        position += 1
        switch Unicode.Scalar(byte) {
        case "^", "$", "|", "(", ")", "*", "+", "?", "{", "}", "]": return nil
        // All but the ends of lines.
        case ".": return (0..<0x80).filter { !(0x0A...0x0D ~= $0) }
        case "[": return members()
        case "\\": return escaped()
        default: return withOtherCase([byte])
        }
    }

    private mutating func escaped() -> [UInt8]? {
        guard let byte = next, 0x21..<0x7F ~= byte else { return nil }
        position += 1
        switch Unicode.Scalar(byte) {
        case "d": return Array(UInt8(ascii: "0")...UInt8(ascii: "9"))
        case "w": return (0..<0x80).filter { Self.isLetterOrDigit($0) || $0 == UInt8(ascii: "_") }
        default: return Self.isLetterOrDigit(byte) ? nil : [byte]
        }
    }

    /// The members of a class, after its bracket.
    private mutating func members() -> [UInt8]? {
        let isComplement = skip("^")
        guard !isComplement || !ignoresCase else { return nil }
        var members: [UInt8] = []
        while let byte = next {
            position += 1
            if byte == UInt8(ascii: "]") {
                guard !members.isEmpty else { return nil }
                return isComplement ? (0..<0x80).filter { !members.contains($0) } : withOtherCase(members)
            }
            if byte == UInt8(ascii: "-"), next == UInt8(ascii: "]"), !members.isEmpty {
                members.append(byte)
                continue
            }
            guard Self.isLetterOrDigit(byte) || Self.plainMembers.contains(byte) else { return nil }
            members.append(byte)
            let isRange = position + 1 < bytes.count && bytes[position + 1] != UInt8(ascii: "]") && skip("-")
            guard isRange else { continue }
            guard let last = next, Self.isLetterOrDigit(byte), Self.isLetterOrDigit(last), byte <= last else {
                return nil
            }
            position += 1
            members += byte...last
        }
        return nil
    }

    /// Characters that have no other meaning in a class.
    private static let plainMembers = Set(" _.,;/@%+!?'\"".utf8)

    /// How often a step is repeated. The number of repetitions that is tried first makes no difference for a whole text.
    mutating func repetition() -> (least: Int, most: Int?)? {
        var times: (least: Int, most: Int?) = (1, 1)
        if skip("*") {
            times = (0, nil)
        } else if skip("+") {
            times = (1, nil)
        } else if skip("?") {
            times = (0, 1)
        } else if skip("{") {
            guard let least = number() else { return nil }
            times = (least, least)
            if skip(",") { times.most = next == UInt8(ascii: "}") ? nil : number() ?? 0 }
            guard skip("}"), times.most ?? 1 > 0, times.most ?? least >= least else { return nil }
        } else {
            return times
        }
        // A repetition that gives nothing back decides differently.
        if next == UInt8(ascii: "+") { return nil }
        _ = skip("?")
        return times
    }

    private mutating func number() -> Int? {
        let start = position
        while let byte = next, UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte { position += 1 }
        guard 1...3 ~= position - start else { return nil }
        return Int(String(decoding: bytes[start..<position], as: UTF8.self))
    }

    private func withOtherCase(_ characters: [UInt8]) -> [UInt8] {
        guard ignoresCase else { return characters }
        return characters + characters.filter(Self.isLetter).map { $0 ^ 0x20 }
    }

    private static func isLetter(_ byte: UInt8) -> Bool { UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20 }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        isLetter(byte) || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
    }
}
