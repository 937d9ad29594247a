import Foundation
import ModelFiles

/// What the source states of a variable's initial value.
struct SourceValue {
    private let tokens: [SourceToken]
    /// The number of array literals that contain the value.
    private let depth: Int
    /// The maximum of ``depth``. The type of a value that is deeper does not follow from the source.
    private static let maximumDepth = 16

    init(_ tokens: [SourceToken]) { self.init(tokens, depth: 0) }

    private init(_ tokens: [SourceToken], depth: Int) { (self.tokens, self.depth) = (tokens, depth) }

    /// The type that the value has; nil if only the compiler knows it.
    ///
    /// - Throws: ``ModelError`` for a name with several meanings.
    func type(in scope: SourceTypes.Scope, _ types: SourceTypes) throws -> SourceTypeName? {
        guard let first = tokens.first else { return nil }
        // `nil as String?`
        if let index = tokens.lastIndex(where: { $0.isWord("as") }), index > 0 {
            let rest = Array(tokens[(index + 1)...])
            return Self.typeName(rest[...]).flatMap { $0.end == rest.count ? $0.type : nil }
        }
        if tokens.count == 1 { return Self.type(ofLiteral: first) }
        if tokens.count == 2, first.isSign("-"), tokens[1].kind == .number { return Self.type(ofLiteral: tokens[1]) }
        if first.isSign("["), let type = try typeOfBrackets(in: scope, types) { return type }
        return try typeOfCall(in: scope, types)
    }

    private static func type(ofLiteral token: SourceToken) -> SourceTypeName? {
        switch token.kind {
        case .string: token.text.isEmpty && !token.isLiteral ? nil : .named(["String"], [])
        case .number: .named([isInteger(token.text) ? "Int" : "Double"], [])
        case .word: token.isWord("true") || token.isWord("false") ? .named(["Bool"], []) : nil
        default: nil
        }
    }

    private static func isInteger(_ number: String) -> Bool {
        number.hasPrefix("0x") ? !number.contains { ".pP".contains($0) } : !number.contains { ".eE".contains($0) }
    }

    /// The type of `[String]()`, `[String: Int]()` and `["a", "b"]`.
    private func typeOfBrackets(in scope: SourceTypes.Scope, _ types: SourceTypes) throws -> SourceTypeName? {
        if let (type, end) = Self.typeName(tokens[...]), end < tokens.count, tokens[end].isSign("("),
            tokens.last?.isSign(")") == true
        {
            return type
        }
        guard tokens.last?.isSign("]") == true, depth < Self.maximumDepth else { return nil }
        let elements = SourceParser.parts(of: Array(tokens.dropFirst().dropLast()))
        let elementTypes = try Set(elements.map { try SourceValue($0, depth: depth + 1).type(in: scope, types) })
        guard elementTypes.count == 1, let element = elementTypes.first ?? nil else { return nil }
        return .array(element)
    }

    /// The type of `UUID()`, `Date.now`, `Set<Int>()` and `Colour.red`.
    private func typeOfCall(in scope: SourceTypes.Scope, _ types: SourceTypes) throws -> SourceTypeName? {
        guard var (type, end) = Self.typeName(tokens[...]) else { return nil }
        guard case .named(var path, let arguments) = type else { return nil }
        var isCalled = false
        if end < tokens.count {
            guard tokens[end].isSign("("), closes(at: end) else { return nil }
            isCalled = true
            end = tokens.count
        }
        if isCalled, path.last == "init", path.count > 1 { path.removeLast() }
        if path.last?.first?.isUppercase == true {
            type = .named(path, arguments)
            return isCalled ? type : nil
        }
        // A member: a case of an enumeration, or a constant of a type that has the type.
        guard path.count > 1, let member = path.last else { return nil }
        let owner = SourceTypeName.named(Array(path.dropLast()), arguments)
        switch try types.resolved(owner, in: scope, line: tokens[0].line) {
        case .declared(let declared, _):
            if declared.cases.contains(where: { $0.name == member && $0.hasPayload == isCalled }) { return owner }
            guard !isCalled, let variable = declared.variables.first(where: { $0.name == member && $0.isStatic }) else {
                return nil
            }
            let inner = SourceTypes.Scope(declared)
            return try variable.type ?? SourceValue(variable.value).typeUnlessMember(in: inner, types)
        case .primitive:
            let constants = ["now", "distantPast", "distantFuture", "zero", "pi", "infinity", "nan", "max", "min"]
            return !isCalled && constants.contains(member) ? owner : nil
        default: return nil
        }
    }

    /// The type of a value that does not refer to another constant, which might refer back.
    private func typeUnlessMember(in scope: SourceTypes.Scope, _ types: SourceTypes) throws -> SourceTypeName? {
        tokens.count == 1 ? try type(in: scope, types) : nil
    }

    /// Whether the parenthesis at a position is closed by the last token.
    private func closes(at start: Int) -> Bool {
        var depth = 0
        for index in start..<tokens.count {
            if tokens[index].kind == .sign, "([{".contains(tokens[index].text) { depth += 1 }
            if tokens[index].kind == .sign, ")]}".contains(tokens[index].text) { depth -= 1 }
            if depth == 0 { return index == tokens.count - 1 }
        }
        return false
    }

    /// The name of a type at the beginning of tokens, and where it ends; nil if there is none.
    private static func typeName(_ tokens: ArraySlice<SourceToken>) -> (type: SourceTypeName, end: Int)? {
        var parser = SourceParser(tokens: Array(tokens))
        guard let type = try? parser.readTypeName() else { return nil }
        return (type, parser.index)
    }

    /// The value of a literal as the default of an attribute; nil if it is none.
    func defaultValue(for type: ModelAttributeType) -> ModelValue? {
        let text = tokens.map(\.text).joined()
        guard let last = tokens.last, tokens.count == 1 || tokens.count == 2 && tokens[0].isSign("-") else {
            return nil
        }
        switch (type, last.kind) {
        case (.string, .string): return last.isLiteral ? .string(last.text) : nil
        case (.boolean, .word):
            return last.isWord("true") ? .boolean(true) : last.isWord("false") ? .boolean(false) : nil
        case (.integer16, .number), (.integer32, .number), (.integer64, .number):
            return Self.integer(text).map(ModelValue.integer)
        case (.double, .number), (.float, .number):
            return (Double(text.filter { $0 != "_" }) ?? Self.integer(text).map { Double($0) }).map(ModelValue.double)
        case (.decimal, .number):
            if let integer = Self.integer(text) { return .decimal(Decimal(integer)) }
            // Decimal(string:) reads only the 0 of 0x10.
            return text.contains { "xob".contains($0) }
                ? nil : Decimal(string: text.filter { $0 != "_" }).map(ModelValue.decimal)
        default: return nil
        }
    }

    /// The value of an integer literal: decimal, hexadecimal, octal or binary.
    static func integer(_ literal: String) -> Int64? {
        let text = literal.filter { $0 != "_" }
        let sign = text.hasPrefix("-") ? "-" : ""
        let digits = text.dropFirst(sign.count)
        for (prefix, radix) in [("0x", 16), ("0o", 8), ("0b", 2)] where digits.hasPrefix(prefix) {
            return Int64(sign + String(digits.dropFirst(2)), radix: radix)
        }
        return Int64(text)
    }
}

extension SourceParser {
    /// A parser of a part of a source.
    init(tokens: [SourceToken]) {
        (self.tokens, file) = (tokens, "")
    }
}
