import CCellWidth
import Foundation

/// The number of cells of a terminal that text occupies: none for combining marks, two for most East Asian characters and
/// emoji. The widths of single characters are those of the system's C library, which follows Unicode.
enum CellWidth {
    /// The width of text without control characters.
    static func of(_ text: String) -> Int {
        if text.utf8.allSatisfy({ $0 < 0x80 }) { return text.utf8.count }
        return inUnicode { text.reduce(0) { $0 + width(of: $1) } }
    }

    /// Text that occupies at most a number of cells. If it is cut, its last cell is `…`.
    static func cut(_ text: String, to limit: Int) -> String {
        // No character is wider than two cells, or has fewer bytes than cells.
        if text.utf8.count <= limit || of(text) <= limit { return text }
        return inUnicode {
            var (result, used) = ("", 0)
            for character in text {
                used += width(of: character)
                if used > limit - 1 { break }
                result.append(character)
            }
            return result + "…"
        }
    }

    /// Text with spaces after or before it, up to a number of cells.
    static func padded(_ text: String, to width: Int, isTrailing: Bool) -> String {
        let missing = width - of(text)
        guard missing > 0 else { return text }
        let spaces = String(repeating: " ", count: missing)
        return isTrailing ? spaces + text : text + spaces
    }

    private static func width(of character: Character) -> Int {
        var width = 0
        for scalar in character.unicodeScalars {
            // The selector of the coloured form, and the second letter of a flag.
            if scalar == "\u{FE0F}" || width == 1 && (0x1F1E6...0x1F1FF).contains(scalar.value) { return 2 }
            // A character that the library does not have yet is displayed as one cell.
            let cells = Int(cell_width(scalar.value))
            width = max(width, cells < 0 ? 1 : cells)
        }
        return width
    }

    /// A locale in which the library knows Unicode, whatever the locale of the user; nil if the system has none.
    ///
    /// Unsafe, because a locale is a pointer; it is never changed.
    private nonisolated(unsafe) static let unicode: locale_t? =
        (["C.UTF-8", "en_US.UTF-8", "UTF-8"] as [String]).lazy.compactMap { newlocale(LC_CTYPE_MASK, $0, nil) }.first

    private static func inUnicode<Result>(_ body: () -> Result) -> Result {
        guard let unicode else { return body() }
        // Of this thread only.
        let previous = uselocale(unicode)
        defer { uselocale(previous) }
        return body()
    }
}
