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
