/// The properties of a package that are `NSSet`s, to which an array literal cannot be assigned here.
package struct SetProperties {
    /// Whether all declarations of a property are of type `NSSet`, by its name.
    private var names: [String: Bool] = [:]

    /// Searches files of a package for the declarations. A name that is also declared with another type is omitted.
    package init(texts: some Sequence<String>) {
        let texts = Array(texts)
        guard texts.contains(where: { $0.contains("NSSet") }) else { return }
        for line in texts.lazy.filter({ $0.contains("var ") }).flatMap(SwiftCode.lines) {
            let words = SwiftCode.words(of: line)
            guard let keyword = words.firstIndex(where: { $0.text == "var" }), keyword + 1 < words.count else {
                continue
            }
            let name = words[keyword + 1]
            let rest = line[(name.column + name.text.count)...].drop(while: \.isWhitespace)
            guard rest.first == ":" else { continue }
            let isSet = String(rest.dropFirst().drop(while: \.isWhitespace).prefix(while: \.isLetter)) == "NSSet"
            names[name.text] = isSet && names[name.text] ?? true
        }
        names = names.filter { $0.value }
    }

    package func contains(_ name: String) -> Bool { names[name] != nil }

    /// The columns of array literals that are assigned to such a property in a line of code.
    func literals(in line: [Character]) -> [Int] {
        guard !names.isEmpty else { return [] }
        return line.indices.filter { index in
            guard line[index] == "[" else { return false }
            let before = line[..<index].reversed().drop(while: \.isWhitespace)
            guard before.first == "=" else { return false }
            let path = before.dropFirst().drop(while: \.isWhitespace)
            let name = String(path.prefix { $0.isLetter || $0.isNumber || $0 == "_" }.reversed())
            return contains(name) && path.dropFirst(name.count).first == "."
        }
    }
}

/// The calls in a file that wait for XCTest's expectations without a time limit, which is a parameter without a default here.
struct ExpectationWaits {
    /// The beginnings of the calls: the name, and the first argument's label.
    private static let calls = ["wait(for:", "fulfillment(of:"].map(Array.init)

    /// A call whose parenthesis is open.
    private struct Call {
        let line: Int, column: Int
        let name: String
        var depth = 0
        var hasTimeout = false
        /// Whether its arguments are expectations. Functions of the package may have the same name.
        var hasExpectations: Bool
    }

    private var call: Call?

    /// Processes a line of code.
    ///
    /// - Returns: The positions and names of calls that end in the line.
    mutating func take(_ line: [Character], _ number: Int) -> [(line: Int, column: Int, name: String)] {
        var found: [(line: Int, column: Int, name: String)] = []
        for (index, character) in line.enumerated() {
            if call == nil, let start = Self.calls.first(where: { line[index...].starts(with: $0) }),
                index == 0 || !line[index - 1].isLetter,
                !line[..<index].split(separator: " ").contains(Array("func")[...])
            {
                let argument = line[(index + start.count)...].drop(while: \.isWhitespace).first
                call = Call(
                    line: number, column: index, name: String(start.prefix { $0 != "(" }),
                    hasExpectations: argument == nil || argument == "[")
            }
            guard call != nil else { continue }
            switch character {
            case "(": call?.depth += 1
            case ")":
                call?.depth -= 1
                if let ended = call, ended.depth == 0 {
                    if !ended.hasTimeout, ended.hasExpectations { found.append((ended.line, ended.column, ended.name)) }
                    call = nil
                }
            default:
                if line[index...].starts(with: "timeout:") { call?.hasTimeout = true }
                if line[index...].starts(with: "xpectation"), call?.depth == 1 { call?.hasExpectations = true }
            }
        }
        return found
    }
}

/// The blocks that are open at a position of a file, as far as needed to determine whether a declaration is a member of an
/// extension.
struct ExtensionBlocks {
    /// For each open brace, whether it begins the body of an extension.
    private var isExtension: [Bool] = []
    /// The last keyword of a declaration since the last brace.
    private var declaration = ""

    /// Whether the next declaration is a member of an extension.
    var isInExtension: Bool { isExtension.last ?? false }

    /// Processes a line of code.
    ///
    /// - Returns: The columns of the word `override` in members of extensions.
    mutating func take(_ line: [Character]) -> [Int] {
        var columns: [Int] = []
        var index = 0
        while index < line.count {
            let rest = line[index...]
            let word = rest.prefix { $0.isLetter || $0.isNumber || $0 == "_" }
            if !word.isEmpty {
                let text = String(word)
                if text == "override", isInExtension { columns.append(index) }
                if Self.keywords.contains(text) { declaration = text }
                index += word.count
                continue
            }
            if line[index] == "{" {
                isExtension.append(declaration == "extension")
                declaration = ""
            } else if line[index] == "}" {
                _ = isExtension.popLast()
                declaration = ""
            }
            index += 1
        }
        return columns
    }

    private static let keywords: Set<String> = [
        "extension", "class", "struct", "enum", "protocol", "actor", "func", "init", "deinit", "subscript", "var",
        "let",
    ]
}
