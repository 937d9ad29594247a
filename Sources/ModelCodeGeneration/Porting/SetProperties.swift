/// The properties of a package that are `NSSet`s, to which an array literal cannot be assigned here.
package struct SetProperties {
    /// Whether all declarations of a property are of type `NSSet`, by its name.
    private var names: [String: Bool] = [:]

    /// Searches files of a package for the declarations. A name that is also declared with another type is omitted.
    package init(texts: some Sequence<String>) {
        let texts = Array(texts)
        guard texts.contains(where: { $0.containsBytes(of: "NSSet") }) else { return }
        for line in texts.lazy.filter({ $0.containsBytes(of: "var ") }).flatMap(SwiftCode.lines) {
            let words = SwiftCode.words(of: line)
            guard let keyword = words.firstIndex(where: { $0.text == "var" }), keyword + 1 < words.count else {
                continue
            }
            let name = words[keyword + 1]
            let rest = line[(name.column + name.text.utf8.count)...].drop(while: SwiftCode.isSpace)
            guard rest.first == UInt8(ascii: ":") else { continue }
            let type = rest.dropFirst().drop(while: SwiftCode.isSpace).prefix(while: SwiftCode.isWord)
            let isSet = type.elementsEqual("NSSet".utf8)
            names[name.text] = isSet && names[name.text] ?? true
        }
        names = names.filter { $0.value }
    }

    package func contains(_ name: String) -> Bool { names[name] != nil }

    /// The columns of array literals that are assigned to such a property in a line of code.
    func literals(in line: [UInt8]) -> [Int] {
        guard !names.isEmpty else { return [] }
        return line.indices.filter { index in
            guard line[index] == UInt8(ascii: "[") else { return false }
            let before = line[..<index].reversed().drop(while: SwiftCode.isSpace)
            guard before.first == UInt8(ascii: "=") else { return false }
            let path = before.dropFirst().drop(while: SwiftCode.isSpace)
            let name = path.prefix(while: SwiftCode.isWord)
            return contains(String(decoding: name.reversed(), as: UTF8.self))
                && path.dropFirst(name.count).first == UInt8(ascii: ".")
        }
    }
}

/// The calls in a file that wait for XCTest's expectations without a time limit, which is a parameter without a default here.
struct ExpectationWaits {
    /// The beginnings of the calls: the name, and the first argument's label.
    private static let calls = ["wait(for:", "fulfillment(of:"].map { Array($0.utf8) }
    private static let timeout = Array("timeout:".utf8), expectation = Array("xpectation".utf8)

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
    mutating func take(_ line: [UInt8], _ number: Int) -> [(line: Int, column: Int, name: String)] {
        var found: [(line: Int, column: Int, name: String)] = []
        for (index, byte) in line.enumerated() {
            if call == nil, let start = Self.call(in: line, at: index) {
                let argument = line[(index + start.count)...].drop(while: SwiftCode.isSpace).first
                call = Call(
                    line: number, column: index,
                    name: String(decoding: start.prefix(while: SwiftCode.isWord), as: UTF8.self),
                    hasExpectations: argument == nil || argument == UInt8(ascii: "["))
            }
            guard call != nil else { continue }
            switch byte {
            case UInt8(ascii: "("): call?.depth += 1
            case UInt8(ascii: ")"):
                call?.depth -= 1
                if let ended = call, ended.depth == 0 {
                    if !ended.hasTimeout, ended.hasExpectations { found.append((ended.line, ended.column, ended.name)) }
                    call = nil
                }
            default:
                if SwiftCode.isText(Self.timeout, in: line, at: index) { call?.hasTimeout = true }
                if call?.depth == 1, SwiftCode.isText(Self.expectation, in: line, at: index) {
                    call?.hasExpectations = true
                }
            }
        }
        return found
    }

    /// The beginning of a call at a position of a line; nil if there is none, or a declaration.
    private static func call(in line: [UInt8], at index: Int) -> [UInt8]? {
        guard let start = calls.first(where: { SwiftCode.isText($0, in: line, at: index) }),
            index == 0 || !SwiftCode.isWord(line[index - 1])
        else { return nil }
        let words = line[..<index].split(separator: UInt8(ascii: " "))
        return words.contains { $0.elementsEqual("func".utf8) } ? nil : start
    }
}

/// The blocks that are open at a position of a file that determine whether a declaration is a member of an
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
    mutating func take(_ line: [UInt8]) -> [Int] {
        var columns: [Int] = []
        var index = 0
        while index < line.count {
            let end = SwiftCode.endOfWord(in: line, at: index)
            if end > index {
                let text = String(decoding: line[index..<end], as: UTF8.self)
                if text == "override", isInExtension { columns.append(index) }
                if Self.keywords.contains(text) { declaration = text }
                index = end
                continue
            }
            if line[index] == UInt8(ascii: "{") {
                isExtension.append(declaration == "extension")
                declaration = ""
            } else if line[index] == UInt8(ascii: "}") {
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
