import Foundation

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
