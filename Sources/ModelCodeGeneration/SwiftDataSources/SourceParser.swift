import ModelFiles

/// Reads the declarations of a Swift source: types, their variables and cases, and the macros of SwiftData.
///
/// Expressions are kept as tokens, and the bodies of functions are skipped. So the parser needs no grammar of expressions; where
/// an initial value ends follows from brackets, and from whether a line continues the one before.
struct SourceParser {
    var declarations: [SourceDeclaration] = []
    let file: String
    let tokens: [SourceToken]
    var index = 0
    /// The number of types that are open: in bodies, and in names.
    var depth = 0
    private static let maximumDepth = 64

    /// Reads a source.
    ///
    /// - Throws: ``ModelError`` with the line where the source is not Swift.
    init(_ text: String, file: String) throws {
        self.file = file
        tokens = try SourceConditions.resolved(SourceLexer.tokens(of: text, file: file), file: file)
        _ = try readMembers(of: nil, path: [])
    }

    // MARK: - Tokens

    var token: SourceToken? { index < tokens.count ? tokens[index] : nil }
    func token(at offset: Int) -> SourceToken? {
        tokens.indices.contains(index + offset) ? tokens[index + offset] : nil
    }
    func isSign(_ sign: String, at offset: Int = 0) -> Bool { token(at: offset)?.isSign(sign) ?? false }
    func isWord(_ word: String) -> Bool { token?.isWord(word) ?? false }

    func failure(_ message: String, _ line: Int? = nil) -> ModelError {
        ModelError(.malformedFile, message, file: file, line: line ?? token?.line ?? tokens.last?.line)
    }

    /// Counts a level. A source that is nested without end must not exhaust the stack.
    mutating func enter() throws {
        depth += 1
        guard depth <= Self.maximumDepth else {
            depth -= 1
            throw failure("Types are nested more than \(Self.maximumDepth) levels deep.")
        }
    }

    private static let closing = ["(": ")", "[": "]", "{": "}"]

    /// Skips a part in brackets that begins here, and returns the tokens in it.
    mutating func bracketed() throws -> [SourceToken] {
        let start = index
        var open: [String] = []
        while let token {
            index += 1
            guard token.kind == .sign else { continue }
            if let close = Self.closing[token.text] {
                open.append(close)
            } else if token.text == open.last {
                open.removeLast()
                if open.isEmpty { return Array(tokens[start + 1..<index - 1]) }
            } else if [")", "]", "}"].contains(token.text) {
                throw failure("\(token.text) does not fit the bracket that is open.", token.line)
            }
        }
        throw failure("The \(tokens[start].text) that begins here has no end.", tokens[start].line)
    }

    /// Skips a part in angle brackets that begins here.
    mutating func skipAngles() throws -> [SourceToken] {
        let start = index
        var depth = 0
        while let token {
            if token.isSign("<") { depth += 1 }
            if token.isSign(">"), !isSign("-", at: -1) { depth -= 1 }
            if token.isSign("(") || token.isSign("[") {
                _ = try bracketed()
                continue
            }
            if token.isSign("{") || token.isSign("}") { break }
            index += 1
            if depth == 0 { return Array(tokens[start + 1..<index - 1]) }
        }
        throw failure("The < that begins here has no end.", tokens[start].line)
    }

    // MARK: - Members

    private static let modifiers: Set<String> = [
        "open", "public", "package", "internal", "fileprivate", "private", "final", "override", "static", "dynamic",
        "weak", "unowned", "nonisolated", "lazy", "indirect", "required", "convenience", "mutating", "nonmutating",
        "optional", "borrowing", "consuming", "distributed", "prefix", "postfix", "infix", "isolated", "async",
    ]

    /// Reads members up to the closing brace, or the end of the file. Types in them are added to ``declarations``.
    private mutating func readMembers(of declaration: SourceDeclaration?, path: [String]) throws -> SourceDeclaration? {
        try enter()
        defer { depth -= 1 }
        var declaration = declaration
        var attributes: [SourceAttribute] = []
        var modifiers: [String] = []
        while let token {
            if token.isSign("}") {
                guard declaration != nil else { throw failure("There is no { for this }.") }
                index += 1
                return declaration
            }
            if token.kind == .directive {
                declaration?.memberCondition = token.condition
                index += 1
                continue
            }
            if token.isSign("@") {
                attributes.append(try readAttribute())
                continue
            }
            if token.kind == .word, !token.isQuoted {
                if token.text == "class" ? isModifier : Self.modifiers.contains(token.text) {
                    index += 1
                    // `private(set)` is the level of the setter only.
                    if isSign("("), self.token?.followsSpace == false {
                        _ = try bracketed()
                    } else {
                        modifiers.append(token.text)
                    }
                    continue
                }
                try readDeclaration(token, &declaration, attributes, modifiers, path)
            } else if token.isSign("#"), let name = self.token(at: 1), name.kind == .word {
                index += 1
                let macro = try readAttribute()
                if ["Unique", "Index"].contains(name.text) { declaration?.groups.append(macro) }
            } else {
                try skipElement()
            }
            (attributes, modifiers) = ([], [])
        }
        if let declaration {
            throw failure("The body of \(declaration.path.joined(separator: ".")) has no end.", declaration.line)
        }
        return nil
    }

    /// Whether the word `class` here is a modifier, as in `class var`.
    private var isModifier: Bool {
        guard let next = token(at: 1), next.kind == .word, !next.isQuoted else { return false }
        return ["var", "let", "func", "subscript"].contains(next.text) || Self.modifiers.contains(next.text)
    }

    /// Skips one token, or a part in brackets.
    private mutating func skipElement() throws {
        if let token, token.kind == .sign, Self.closing[token.text] != nil {
            _ = try bracketed()
        } else {
            index += 1
        }
    }

    private mutating func readDeclaration(
        _ token: SourceToken, _ declaration: inout SourceDeclaration?, _ attributes: [SourceAttribute],
        _ modifiers: [String], _ path: [String]
    ) throws {
        // `x.class`, `.init(…)` in code at the top level.
        let followsDot = isSign(".", at: -1)
        switch token.text {
        case "class", "struct", "enum", "actor", "protocol", "extension":
            guard !followsDot, let name = self.token(at: 1), name.kind == .word else { return try skipElement() }
            try readType(token, attributes, modifiers, path)
        case "typealias":
            try readAlias(modifiers, path)
        case "var", "let":
            guard !followsDot else { return try skipElement() }
            let variables = try readVariables(attributes, modifiers)
            declaration?.variables += variables
        case "case" where declaration?.keyword == "enum":
            let cases = try readCases()
            declaration?.cases += cases
        case "func", "init", "deinit", "subscript":
            guard declaration != nil || token.text == "func" else { return try skipElement() }
            index += 1
            try skipFunction()
        default: try skipElement()
        }
    }

    /// Skips the signature and the body of a function. Parts in parentheses may contain closures.
    private mutating func skipFunction() throws {
        while let token, !token.isSign("}") {
            if token.isSign("{") {
                _ = try bracketed()
                return
            }
            try skipElement()
        }
    }

    private mutating func readType(
        _ keyword: SourceToken, _ attributes: [SourceAttribute], _ modifiers: [String], _ path: [String]
    ) throws {
        index += 1
        var names: [String] = []
        while let token, token.kind == .word {
            names.append(token.text)
            index += 1
            guard isSign(".") else { break }
            index += 1
        }
        var declaration = SourceDeclaration(
            keyword: keyword.text, path: path + names, file: file, line: keyword.line, condition: keyword.condition)
        (declaration.attributes, declaration.modifiers) = (attributes, modifiers)
        if isSign("<") {
            let words = try skipAngles()
            declaration.parameters = words.indices.compactMap { position in
                let starts = position == 0 || words[position - 1].isSign(",")
                return starts && words[position].kind == .word ? words[position].text : nil
            }
        }
        if isSign(":") {
            repeat {
                index += 1
                declaration.inherited.append(try readTypeName())
            } while isSign(",")
        }
        while let token, !token.isSign("{") {
            guard !token.isSign("}") else { throw failure("\(names.joined(separator: ".")) has no body.") }
            index += 1
        }
        guard token != nil else { throw failure("\(names.joined(separator: ".")) has no body.", keyword.line) }
        if keyword.text == "protocol" {
            _ = try bracketed()
            return
        }
        index += 1
        if let read = try readMembers(of: declaration, path: path + names) { declarations.append(read) }
    }

    private mutating func readAlias(_ modifiers: [String], _ path: [String]) throws {
        index += 1
        guard let name = token, name.kind == .word else { return }
        index += 1
        if isSign("<") { _ = try skipAngles() }
        guard isSign("=") else { return }
        index += 1
        var declaration = SourceDeclaration(
            keyword: "typealias", path: path + [name.text], file: file, line: name.line, condition: name.condition)
        declaration.modifiers = modifiers
        declaration.target = try readTypeName()
        declarations.append(declaration)
    }

    private mutating func readCases() throws -> [SourceCase] {
        var cases: [SourceCase] = []
        repeat {
            index += 1
            guard let name = token, name.kind == .word else { throw failure("A case has no name.") }
            index += 1
            let hasPayload = isSign("(")
            if hasPayload { _ = try bracketed() }
            if isSign("=") {
                index += 1
                _ = try readExpression()
            }
            cases.append(
                SourceCase(name: name.text, hasPayload: hasPayload, line: name.line, condition: name.condition))
        } while isSign(",")
        return cases
    }

    // MARK: - Attributes

    /// Reads an attribute, or a macro, from its `@` or its name.
    mutating func readAttribute() throws -> SourceAttribute {
        let line = token?.line ?? 0
        if isSign("@") { index += 1 }
        var name = ""
        while let token, token.kind == .word {
            name = token.text
            index += 1
            guard isSign(".") else { break }
            index += 1
        }
        if isSign("<") { _ = try skipAngles() }
        var arguments: [SourceArgument] = []
        if isSign("("), token?.followsSpace == false { arguments = Self.arguments(in: try bracketed()) }
        return SourceAttribute(name: name, arguments: arguments, line: line)
    }

    /// Divides the tokens between parentheses into arguments.
    static func arguments(in tokens: [SourceToken]) -> [SourceArgument] {
        parts(of: tokens).map { part in
            guard part.count > 1, part[0].kind == .word, part[1].isSign(":") else {
                return SourceArgument(label: nil, tokens: part)
            }
            return SourceArgument(label: part[0].text, tokens: Array(part.dropFirst(2)))
        }
    }

    /// The parts between commas that are not in brackets.
    static func parts(of tokens: [SourceToken]) -> [[SourceToken]] {
        var parts: [[SourceToken]] = []
        var part: [SourceToken] = []
        var depth = 0
        for token in tokens {
            if token.kind == .sign, "([{".contains(token.text) { depth += 1 }
            if token.kind == .sign, ")]}".contains(token.text) { depth -= 1 }
            if depth == 0, token.isSign(",") {
                parts.append(part)
                part = []
            } else {
                part.append(token)
            }
        }
        return part.isEmpty ? parts : parts + [part]
    }

    // MARK: - Variables

    private mutating func readVariables(
        _ attributes: [SourceAttribute], _ modifiers: [String]
    ) throws -> [SourceVariable] {
        let isConstant = isWord("let")
        var variables: [SourceVariable] = []
        repeat {
            index += 1
            guard let name = token else { throw failure("A variable has no name.") }
            guard name.kind == .word else {
                // A tuple: several names at once.
                guard name.isSign("(") else { throw failure("A variable has no name.") }
                let names = try bracketed()
                variables += names.filter { $0.kind == .word && $0.text != "_" }.map {
                    var variable = SourceVariable(name: $0.text, isConstant: isConstant, line: $0.line)
                    (variable.attributes, variable.modifiers, variable.isShared) = (attributes, modifiers, true)
                    return variable
                }
                if isSign(":") {
                    index += 1
                    _ = try readTypeName()
                }
                if isSign("=") {
                    index += 1
                    _ = try readExpression()
                }
                continue
            }
            index += 1
            var variable = SourceVariable(
                name: name.text, isConstant: isConstant, line: name.line, condition: name.condition)
            (variable.attributes, variable.modifiers) = (attributes, modifiers)
            if isSign(":") {
                index += 1
                variable.type = try readTypeName()
            }
            if isSign("=") {
                index += 1
                variable.value = try readExpression()
            }
            if isSign("{") { variable.body = try bracketed() }
            variables.append(variable)
        } while isSign(",")
        if variables.count > 1 {
            // `var a, b: Int`: a type is that of the names before it, too.
            var type: SourceTypeName?
            for index in variables.indices.reversed() {
                variables[index].isShared = true
                type = variables[index].type ?? (variables[index].value.isEmpty ? type : nil)
                variables[index].type = type
            }
        }
        return variables
    }

    private static let operators: Set<String> = [
        "=", "+", "-", "*", "/", "%", "<", ">", "&", "|", "^", "?", ":", "!", "~",
    ]

    /// The tokens of an expression: up to a comma, the end of the statement, or the block of observers.
    private mutating func readExpression() throws -> [SourceToken] {
        let start = index
        while let token {
            if token.kind == .directive || token.isSign(",") || token.isSign(";") || token.isSign("}")
                || token.isSign(")") || token.isSign("]")
            {
                break
            }
            if token.beginsLine, index > start, !continues(token) { break }
            if token.isSign("{"), index > start, let first = self.token(at: 1),
                first.isWord("didSet") || first.isWord("willSet")
            {
                break
            }
            if token.isSign("<"), !token.followsSpace, let last = self.token(at: -1), last.kind == .word, index > start,
                last.text.first?.isUppercase == true
            {
                // Generic arguments, whose commas do not end the expression, or else a comparison.
                let position = index
                if (try? skipAngles()) != nil { continue }
                index = position
            }
            try skipElement()
        }
        guard index > start else { throw failure("An initial value is missing.") }
        return Array(tokens[start..<index])
    }

    /// Whether a token at the beginning of a line continues the expression of the line before.
    private func continues(_ token: SourceToken) -> Bool {
        if token.isSign(".") { return true }
        if let last = self.token(at: -1), last.kind == .sign {
            if last.text == "." || last.text == "=" { return true }
            // An operator with spaces on both sides; `x!` and `x?` end an expression.
            if Self.operators.contains(last.text), last.followsSpace { return true }
        }
        if token.isWord("as") || token.isWord("is") { return true }
        guard token.kind == .sign, Self.operators.contains(token.text), let next = self.token(at: 1) else {
            return false
        }
        return next.followsSpace || ["?", "&", "|", "=", "."].contains { next.isSign($0) }
    }
}
