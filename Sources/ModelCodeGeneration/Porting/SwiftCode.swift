/// The code in a Swift file, without comments and strings.
enum SwiftCode {
    /// The lines of a text, with comments and the contents of strings replaced by spaces. Code inside a string
    /// (`\(…)`) remains.
    static func lines(of text: String) -> [[Character]] {
        var scanner = Scanner()
        return text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).map {
            scanner.code(in: Array($0))
        }
    }

    /// The words of a line of code with their columns, except the names of members, which follow a dot.
    static func words(of line: [Character]) -> [(column: Int, text: String)] {
        var words: [(column: Int, text: String)] = []
        var index = 0
        while index < line.count {
            let word = line[index...].prefix { $0.isLetter || $0.isNumber || $0 == "_" }
            if !word.isEmpty, index == 0 || line[index - 1] != "." { words.append((index, String(word))) }
            index += max(1, word.count)
        }
        return words
    }

    /// Tracks the constructs that are open at the end of a line: comments, multi-line strings, and code inside strings.
    private struct Scanner {
        private enum Level {
            /// A string that ends with `"` or `"""` and the number of `#`.
            case string(isLong: Bool, pounds: Int)
            /// Code inside a string, with the number of open parentheses.
            case interpolation(parentheses: Int)
        }

        private var commentDepth = 0
        private var levels: [Level] = []

        mutating func code(in line: [Character]) -> [Character] {
            var code: [Character] = []
            code.reserveCapacity(line.count)
            var index = 0
            while index < line.count {
                let (length, isCode) = token(of: line[index...])
                for position in index..<min(index + length, line.count) { code.append(isCode ? line[position] : " ") }
                index += length
            }
            // A string that is not long ends with its line, with the code inside it.
            let short = levels.firstIndex { level in
                if case .string(isLong: false, _) = level { return true }
                return false
            }
            if let short { levels.removeSubrange(short...) }
            return code
        }

        /// The length of the first token in the rest of a line, and whether it is code.
        private mutating func token(of rest: ArraySlice<Character>) -> (length: Int, isCode: Bool) {
            // Most characters begin none of these tokens; comparing the rest of the line with each of them is expensive.
            guard let first = rest.first, "\"#/*()\\".contains(first) else {
                if case .string? = levels.last { return (1, false) }
                return (1, commentDepth == 0)
            }
            if commentDepth > 0 {
                if rest.starts(with: "*/") {
                    commentDepth -= 1
                } else if rest.starts(with: "/*") {
                    commentDepth += 1
                } else {
                    return (1, false)
                }
                return (2, false)
            }
            if case .string(let isLong, let pounds)? = levels.last { return tokenOfString(rest, isLong, pounds) }
            if rest.starts(with: "//") { return (rest.count, false) }
            if rest.starts(with: "/*") {
                commentDepth = 1
                return (2, false)
            }
            let pounds = rest.prefix { $0 == "#" }.count
            let quotes = rest.dropFirst(pounds).prefix(3).prefix { $0 == "\"" }.count
            if quotes > 0 {
                levels.append(.string(isLong: quotes == 3, pounds: pounds))
                return (pounds + (quotes == 3 ? 3 : 1), false)
            }
            if case .interpolation(let parentheses)? = levels.last {
                if rest.first == "(" { levels[levels.count - 1] = .interpolation(parentheses: parentheses + 1) }
                if rest.first == ")" {
                    levels[levels.count - 1] = .interpolation(parentheses: parentheses - 1)
                    if parentheses == 1 { levels.removeLast() }
                }
            }
            return (max(1, pounds), true)
        }

        private mutating func tokenOfString(
            _ rest: ArraySlice<Character>, _ isLong: Bool, _ pounds: Int
        ) -> (length: Int, isCode: Bool) {
            let marks = String(repeating: "#", count: pounds)
            let end = (isLong ? "\"\"\"" : "\"") + marks
            if rest.starts(with: end) {
                levels.removeLast()
                return (end.count, false)
            }
            let escape = "\\" + marks
            guard rest.starts(with: escape) else { return (1, false) }
            if rest.dropFirst(escape.count).first == "(" { levels.append(.interpolation(parentheses: 1)) }
            return (escape.count + 1, false)
        }
    }
}
