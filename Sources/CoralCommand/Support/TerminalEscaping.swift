import Coral

/// Replaces characters that a terminal interprets instead of displaying: the control characters of ASCII and Latin-1,
/// and those that change the text direction. Each is replaced by its escape sequence, such as `\u001B`, which JSON
/// reads as the same character.
///
/// Tabs and line feeds are kept.
enum TerminalEscaping {
    static func escaped(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isControl) else { return text }
        var result = String.UnicodeScalarView()
        var scalars = text.unicodeScalars.makeIterator()
        var next = scalars.next()
        while let scalar = next {
            next = scalars.next()
            // CSV ends its lines with carriage return and line feed.
            if !isControl(scalar) || scalar == "\r" && next == "\n" {
                result.append(scalar)
            } else {
                let digits = String(scalar.value, radix: 16, uppercase: true)
                result += "\\u\(String(repeating: "0", count: 4 - digits.count))\(digits)".unicodeScalars
            }
        }
        return String(result)
    }

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x09, 0x0A: false
        case 0...0x1F, 0x7F...0x9F: true
        // Direction marks, embeddings, overrides and isolates.
        case 0x061C, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069: true
        default: false
        }
    }
}

/// A sink in front of a terminal that escapes text.
final class TerminalSink: ByteSink {
    private let terminal: any ByteSink
    /// The end of a piece that cannot be decoded without the next one: an incomplete character, or a carriage return.
    private var pending: [UInt8] = []

    init(_ terminal: any ByteSink) { self.terminal = terminal }

    func write(_ bytes: UnsafeRawBufferPointer) throws {
        pending += bytes
        let count = pending.count - Self.incompleteCount(pending)
        try write(String(decoding: pending[..<count], as: UTF8.self))
        pending.removeFirst(count)
    }

    func finish() throws {
        try write(String(decoding: pending, as: UTF8.self))
        pending = []
        try terminal.finish()
    }

    private func write(_ text: String) throws {
        // Only results that are written in one piece contain styles; documents do not.
        try Data(Terminal.escaped(text).utf8).withUnsafeBytes { try terminal.write($0) }
    }

    private static func incompleteCount(_ bytes: [UInt8]) -> Int {
        for (back, byte) in bytes.reversed().prefix(3).enumerated() {
            if byte & 0xC0 == 0x80 { continue }
            let length = byte < 0x80 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4
            if length > back + 1 || byte == UInt8(ascii: "\r") && back == 0 { return back + 1 }
            return 0
        }
        return 0
    }
}
