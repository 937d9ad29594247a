import Foundation

/// A piece of text that is looked for in many others.
///
/// Composed and decomposed characters are the same, as everywhere in Foundation. The common case is decided by bytes:
/// below U+0300 there are no combining marks, so that a character has one form only.
struct TextSearch: Sendable {
    /// Where the piece must stand.
    enum Position: Sendable {
        case whole, start, end, anywhere
    }

    private let piece: String
    private let bytes: [UInt8]
    private let position: Position
    private let isLiteral: Bool
    private let isSimple: Bool

    /// - Parameter isLiteral: composed and decomposed characters differ.
    init(_ piece: String, at position: Position, isLiteral: Bool = false) {
        self.piece = piece
        self.bytes = Array(piece.utf8)
        self.position = position
        self.isLiteral = isLiteral
        self.isSimple = bytes.allSatisfy(TextSearch.isSimple)
    }

    /// Whether the piece stands in `text` where it must. An empty piece stands everywhere.
    func isFound(in text: String) -> Bool {
        // A buffer, because indexing the bytes of a string one by one is several times slower.
        if isSimple || isLiteral,
            let found = text.utf8.withContiguousStorageIfAvailable({ buffer -> Bool? in
                isLiteral || buffer.allSatisfy(TextSearch.isSimple) ? isFound(in: buffer) : nil
            }), let found
        {
            return found
        }
        if bytes.isEmpty, position != .whole { return true }
        switch position {
        case .whole: return text == piece
        case .start: return text.hasPrefix(piece)
        case .end: return text.hasSuffix(piece)
        case .anywhere: return text.range(of: piece) != nil
        }
    }

    /// Whether a byte belongs to a character below U+0300.
    private static func isSimple(_ byte: UInt8) -> Bool {
        byte < 0xCC
    }

    private func isFound(in buffer: UnsafeBufferPointer<UInt8>) -> Bool {
        let difference = buffer.count - bytes.count
        guard difference >= 0 else { return false }
        switch position {
        case .whole: return difference == 0 && stands(at: 0, in: buffer)
        case .start: return stands(at: 0, in: buffer)
        case .end: return stands(at: difference, in: buffer)
        case .anywhere:
            guard let first = bytes.first else { return true }
            for offset in 0...difference where buffer[offset] == first {
                if stands(at: offset, in: buffer) { return true }
            }
            return false
        }
    }

    private func stands(at offset: Int, in buffer: UnsafeBufferPointer<UInt8>) -> Bool {
        for index in bytes.indices where buffer[offset + index] != bytes[index] {
            return false
        }
        return true
    }
}
