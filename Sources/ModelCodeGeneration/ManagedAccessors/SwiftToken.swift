/// A word or a sign in the code of a Swift file that is compiled outside Apple's platforms.
struct SwiftToken {
    /// A word (a name, a keyword or a number), a name in backticks without them, or one character.
    let text: String
    /// The line, starting at 1.
    let line: Int
    /// The position in the code.
    let range: Range<Int>
    /// Whether the token is the first of its line.
    let beginsLine: Bool
    /// Whether the token can be a name.
    let isName: Bool

    /// The tokens of a text, and its code: without comments, strings and what is compiled on Apple's platforms only. A line
    /// that contains only the attribute `@objc` is included, even in a condition that holds on Apple's platforms only.
    static func tokens(of text: String) -> (tokens: [SwiftToken], code: [Character]) {
        var conditions = ConditionStack()
        var tokens: [SwiftToken] = []
        var code: [Character] = []
        for (index, line) in SwiftCode.lines(of: text).enumerated() {
            if conditions.take(line) { continue }
            let line = Array(String(decoding: line, as: UTF8.self))
            if !conditions.isCompiled, !isObjectiveCAttribute(line) { continue }
            append(line, number: index + 1, to: &tokens, &code)
        }
        return (tokens, code)
    }

    private static func append(
        _ line: [Character], number: Int, to tokens: inout [SwiftToken], _ code: inout [Character]
    ) {
        let start = code.count
        var column = 0
        var beginsLine = true
        while column < line.count {
            let character = line[column]
            if character.isWhitespace {
                column += 1
                continue
            }
            var end = column + 1
            var name: ArraySlice<Character> = line[column..<end]
            var isName = false
            if character == "`", let close = line[end...].firstIndex(of: "`") {
                name = line[end..<close]
                end = close + 1
                isName = true
            } else if isWord(character) {
                while end < line.count, isWord(line[end]) { end += 1 }
                name = line[column..<end]
                isName = !character.isNumber
            }
            tokens.append(
                SwiftToken(
                    text: String(name), line: number, range: start + column..<start + end, beginsLine: beginsLine,
                    isName: isName))
            beginsLine = false
            column = end
        }
        code += line
        code.append("\n")
    }

    private static func isObjectiveCAttribute(_ line: [Character]) -> Bool {
        let words = line.split(whereSeparator: \.isWhitespace).map { String($0) }
        return [["@objc"], ["@objcMembers"], ["@objc", "dynamic"]].contains(words)
    }

    private static func isWord(_ character: Character) -> Bool {
        character.isLetter || character.isNumber || character == "_"
    }
}
