import Foundation

/// A search text, prepared for searching many other texts.
///
/// Composed and decomposed characters are equal, as everywhere in Foundation. The common case is decided by bytes:
/// below U+0300 there are no combining marks, so that every character has one encoding.
struct TextSearch: Sendable {
    /// The required position of the search text.
    enum Position: Sendable {
        case whole, start, end, anywhere
    }

    private let piece: String
    private let bytes: [UInt8]
    private let position: Position
    private let isLiteral: Bool
    private let isSimple: Bool

    /// - Parameter isLiteral: whether composed and decomposed characters differ.
    init(_ piece: String, at position: Position, isLiteral: Bool = false) {
        self.piece = piece
        self.bytes = Array(piece.utf8)
        self.position = position
        self.isLiteral = isLiteral
        self.isSimple = bytes.allSatisfy(TextSearch.isSimple)
    }

    /// Whether `text` contains the search text at the required position. An empty search text is found everywhere.
    func isFound(in text: String) -> Bool {
        // A buffer is used because indexing the UTF-8 view byte by byte is several times slower.
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

/// Folds strings for comparisons that ignore case, diacritics, or both.
public enum StringFolding {
    /// The folded string: equal for all strings that are equal under these options.
    ///
    /// Cost: none without options, low for ASCII; Unicode folding otherwise, about two microseconds for each string.
    public static func fold(_ text: String, options: ComparisonOptions) -> String {
        let ignoresCase = options.contains(.caseInsensitive)
        let ignoresMarks = options.contains(.diacriticInsensitive)
        guard ignoresCase || ignoresMarks else { return text }
        if text.utf8.allSatisfy({ $0 < 0x80 }) {
            return ignoresCase ? text.lowercased() : text
        }
        var folding: String.CompareOptions = []
        if ignoresCase { folding.insert(.caseInsensitive) }
        if ignoresMarks { folding.insert(.diacriticInsensitive) }
        return text.folding(options: folding, locale: options.contains(.localeSensitive) ? .current : nil)
    }

    /// The form of `canonical:`, without case and diacritics.
    public static func canonical(_ text: String) -> String {
        fold(text, options: [.caseInsensitive, .diacriticInsensitive])
    }

    /// The order of two strings under options.
    static func order(_ left: String, _ right: String, options: ComparisonOptions) -> Order {
        let left = fold(left, options: options)
        let right = fold(right, options: options)
        if options.contains(.localeSensitive) {
            switch left.compare(right, options: [], range: nil, locale: .current) {
            case .orderedAscending: return .ascending
            case .orderedSame: return .same
            case .orderedDescending: return .descending
            }
        }
        return Order(left, right)
    }
}
