/// The code in a Swift file, without comments and strings.
enum SwiftCode {
    /// The lines of a text, with comments and the contents of strings replaced by spaces.
    static func lines(of text: String) -> [[Character]] {
        var scanner = Scanner()
        return text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).map {
            scanner.code(in: Array($0))
        }
    }

    /// Keeps the state at the beginning of a line: inside a comment or a multi-line string.
    private struct Scanner {
        private var commentDepth = 0
        private var isInLongString = false

        mutating func code(in line: [Character]) -> [Character] {
            var code: [Character] = []
            var isInString = false
            var index = 0
            func stands(_ text: String) -> Bool { line[index...].starts(with: text) }
            while index < line.count {
                var length = 1
                var isCode = false
                if isInLongString {
                    if stands("\"\"\"") { (isInLongString, length) = (false, 3) }
                } else if isInString {
                    if line[index] == "\\" { length = 2 } else if line[index] == "\"" { isInString = false }
                } else if commentDepth > 0 {
                    if stands("*/") {
                        (commentDepth, length) = (commentDepth - 1, 2)
                    } else if stands("/*") {
                        (commentDepth, length) = (commentDepth + 1, 2)
                    }
                } else if stands("//") {
                    length = line.count - index
                } else if stands("/*") {
                    (commentDepth, length) = (1, 2)
                } else if stands("\"\"\"") {
                    (isInLongString, length) = (true, 3)
                } else if line[index] == "\"" {
                    isInString = true
                } else {
                    isCode = true
                }
                for position in index..<min(index + length, line.count) { code.append(isCode ? line[position] : " ") }
                index += length
            }
            return code
        }
    }
}
