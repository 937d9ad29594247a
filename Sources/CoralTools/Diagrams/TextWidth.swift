/// Estimates the width of text without a font, for a sans serif typeface of usual proportions. The estimate tends to be
/// too wide.
enum TextWidth {
    /// The width of a text at a size, both in points.
    static func width(_ text: String, size: Double, isBold: Bool = false) -> Double {
        let sum = text.unicodeScalars.reduce(0) { $0 + ems($1) }
        return sum * size * (isBold ? 1.1 : 1)
    }

    private static func ems(_ scalar: Unicode.Scalar) -> Double {
        switch scalar {
        case "i", "j", "l", "I", "|", "'", ".", ",", ":", ";": 0.32
        case "f", "t", "r", "(", ")", "[", "]", " ", "-", "/": 0.41
        case "m", "w", "M", "W", "@": 0.95
        case "A"..."Z", "<", ">", "+", "=": 0.72
        // Characters of these scripts count as full-width, although some, such as combining marks, are narrower.
        case "\u{1100}"..."\u{11FF}", "\u{2E80}"..."\u{D7FF}", "\u{F900}"..."\u{FAFF}", "\u{1F000}"..."\u{3FFFF}": 1.05
        default: 0.62
        }
    }
}
