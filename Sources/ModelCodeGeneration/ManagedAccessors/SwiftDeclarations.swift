/// The declarations of a Swift file that accessors of `@NSManaged` need: types, imports, the properties and functions with the
/// attribute, and the other properties of classes.
///
/// Reads declarations, not expressions. The bodies of functions and accessors are skipped.
struct SwiftDeclarations {
    /// A type of the file.
    struct TypeDeclaration {
        /// `class`, `struct`, `enum`, `protocol`, `actor` or `typealias`.
        let kind: String
        /// The names of the enclosing types, and its own.
        let path: [String]
        /// The text after the name: generic parameters and inherited types, or the target of a type alias.
        let rest: String
        let isFinal: Bool
        let isPrivate: Bool
        /// Whether all properties have keys on Apple's platforms, by `@objcMembers`.
        let exposesMembers: Bool
        /// The attribute of the global actor that isolates the members, such as `@MainActor`, by its name.
        var globalActor: String?
    }

    /// A property that its class implements itself.
    struct OwnProperty {
        /// The names of the class and of the types that enclose it, the outermost first.
        let owner: [String]
        let name: String
        /// Whether the property has a key on Apple's platforms, by `@objc`.
        let isExposed: Bool
    }

    let file: String
    private(set) var types: [TypeDeclaration] = []
    var managed: [ManagedDeclaration] = []
    /// Properties of types without `@NSManaged` that other files can access, except those with other attributes.
    private(set) var ownProperties: [OwnProperty] = []
    /// The imports, with their access levels and the attributes that other files need too.
    private(set) var imports: [String] = []
    var mistakes: [ManagedDeclarationMistake] = []

    let tokens: [SwiftToken]
    private let code: [Character]
    var index = 0
    /// The open blocks.
    var blocks: [Block] = []
    /// The type whose body begins with the next brace.
    private var begun: Block?
    /// The modifiers since the last declaration.
    var modifiers: [String] = []

    struct Block {
        /// The type whose members the block contains; nil for any other block.
        var path: [String]?
        /// The access level of an extension.
        var access: String?
    }

    init(_ text: String, file: String) {
        self.file = file
        (tokens, code) = SwiftToken.tokens(of: text)
        while index < tokens.count { readNext() }
    }

    // MARK: - Tokens

    var token: SwiftToken? { index < tokens.count ? tokens[index] : nil }

    func text(at offset: Int = 0) -> String {
        tokens.indices.contains(index + offset) ? tokens[index + offset].text : ""
    }

    func text(_ range: Range<Int>) -> String {
        let characters = code[range].split(whereSeparator: \.isWhitespace)
        return characters.map { String($0) }.joined(separator: " ")
    }

    /// Skips a part in parentheses, if one begins here.
    mutating func skipParentheses() {
        guard text() == "(" else { return }
        var depth = 0
        while let token {
            index += 1
            if token.text == "(" { depth += 1 }
            if token.text == ")" { depth -= 1 }
            if depth == 0 { return }
        }
    }

    /// The text up to the end of a statement, or up to a sign outside parentheses.
    mutating func statement(until signs: Set<String>) -> String {
        let start = token?.range.lowerBound ?? code.count
        var end = start
        var depth = 0
        while let token, depth > 0 || !signs.contains(token.text) {
            let continues = [".", "?", "!", "&", "-", ">", ",", ":", "<"].contains(token.text)
            if depth == 0, token.beginsLine, end > start, !continues { break }
            if ["(", "[", "<"].contains(token.text) { depth += 1 }
            if [")", "]", ">"].contains(token.text) {
                let isArrow = token.text == ">" && text(at: -1) == "-"
                if !isArrow { depth -= 1 }
                if depth < 0 { break }
            }
            end = token.range.upperBound
            index += 1
        }
        return text(start..<end)
    }

    // MARK: - Declarations

    static let modifierWords: Set<String> = [
        "open", "public", "package", "internal", "fileprivate", "private", "final", "override", "static", "dynamic",
        "weak", "unowned", "nonisolated", "lazy", "indirect", "required", "convenience", "mutating", "nonmutating",
    ]
    static let accessWords: Set<String> = ["open", "public", "package", "internal", "fileprivate", "private"]

    /// Whether the next declaration is a member of a type, or of the file.
    var isOutsideBodies: Bool { blocks.allSatisfy { $0.path != nil } }

    private mutating func readNext() {
        let word = text()
        index += 1
        switch word {
        case "{":
            blocks.append(begun ?? Block())
            begun = nil
            modifiers = []
        case "}":
            _ = blocks.popLast()
            modifiers = []
        case "@": readAttribute()
        case "import" where isOutsideBodies && text(at: -2) != ".": readImport()
        case "class", "struct", "enum", "protocol", "extension", "actor":
            readType(word)
        case "typealias" where isOutsideBodies: readAlias()
        case "var" where isOutsideBodies: readOwnProperty()
        case _ where Self.modifierWords.contains(word):
            // `private(set)` is the level of the setter only.
            if text() == "(" { skipParentheses() } else { modifiers.append(word) }
        default: modifiers = []
        }
    }

    private mutating func readAttribute() {
        let name = text()
        index += 1
        if name == "NSManaged" { return readManaged() }
        modifiers.append("@" + name)
        if text() == "(", tokens[index].range.lowerBound == tokens[index - 1].range.upperBound { skipParentheses() }
    }

    private mutating func readImport() {
        let words = statement(until: [";"])
        let kept = modifiers.filter { ["@testable", "@preconcurrency"].contains($0) || Self.accessWords.contains($0) }
        if !words.isEmpty { imports.append((kept + ["import", words]).joined(separator: " ")) }
        modifiers = []
    }

    /// The names at a position, separated by dots.
    mutating func path() -> [String] {
        var path: [String] = []
        while let token, token.isName {
            path.append(token.text)
            index += 1
            guard text() == "." else { break }
            index += 1
        }
        return path
    }

    private mutating func readType(_ kind: String) {
        // `class func`, `class var`, a protocol's `: class`, and words that are used as names.
        let functions = [
            "func", "var", "let", "subscript", "override", "final", "public", "open", "private", "internal",
        ]
        guard let token, token.isName, !functions.contains(token.text), index < 2 || text(at: -2) != "." else {
            if kind == "class" { modifiers.append("static") }
            return
        }
        let isMember = isOutsideBodies
        let path = (blocks.last?.path ?? []) + path()
        let access = modifiers.first(where: Self.accessWords.contains)
        let isFinal = modifiers.contains("final")
        let exposesMembers = modifiers.contains("@objcMembers")
        let globalActor = modifiers.first { $0.hasPrefix("@") && $0.hasSuffix("Actor") }
        let rest = statementUntilBody()
        modifiers = []
        guard text() == "{" else { return }
        begun = Block(path: isMember ? path : nil, access: kind == "extension" ? access : nil)
        guard isMember, kind != "extension" else { return }
        types.append(
            TypeDeclaration(
                kind: kind, path: path, rest: rest, isFinal: isFinal,
                isPrivate: ["private", "fileprivate"].contains(access), exposesMembers: exposesMembers,
                globalActor: globalActor))
    }

    /// The text between a type's name and its body, on one line or several.
    private mutating func statementUntilBody() -> String {
        let start = token?.range.lowerBound ?? code.count
        var end = start
        while let token, token.text != "{", token.text != "}", token.text != ";" {
            end = token.range.upperBound
            index += 1
        }
        return text(start..<end)
    }

    private mutating func readAlias() {
        let isPrivate = modifiers.contains { ["private", "fileprivate"].contains($0) }
        let path = (blocks.last?.path ?? []) + path()
        let rest = statement(until: [";", "}"])
        modifiers = []
        types.append(
            TypeDeclaration(
                kind: "typealias", path: path, rest: rest, isFinal: false, isPrivate: isPrivate, exposesMembers: false))
    }

    private mutating func readOwnProperty() {
        defer { modifiers = [] }
        let attributes = modifiers.filter { $0.hasPrefix("@") }
        guard let owner = blocks.last?.path, let token, token.isName, !modifiers.contains("static"),
            !["private", "fileprivate"].contains(access), attributes.allSatisfy({ $0 == "@objc" })
        else { return }
        ownProperties.append(OwnProperty(owner: owner, name: token.text, isExposed: !attributes.isEmpty))
    }
}
