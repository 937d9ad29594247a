/// The name of a type as a source writes it.
indirect enum SourceTypeName: Hashable, Sendable {
    /// A name with the names that enclose it, and generic arguments. Arrays and dictionaries have their long names.
    case named([String], [SourceTypeName])
    case optional(SourceTypeName)
    /// A type that is not a name: a function, a tuple, a type of protocols. The text is as in the source.
    case other(String)

    static func array(_ element: SourceTypeName) -> Self { .named(["Array"], [element]) }
    static func dictionary(_ key: SourceTypeName, _ value: SourceTypeName) -> Self {
        .named(["Dictionary"], [key, value])
    }

    /// The type without `Optional`, in whatever way it is written.
    var unwrapped: SourceTypeName {
        switch self {
        case .optional(let wrapped): wrapped.unwrapped
        case .named(let path, let arguments) where path.last == "Optional" && arguments.count == 1:
            arguments[0].unwrapped
        default: self
        }
    }

    var isOptional: Bool { unwrapped != self }

    /// The name as Swift prints it: without enclosing names.
    var printed: String {
        switch self {
        case .named(let path, let arguments):
            (path.last ?? "")
                + (arguments.isEmpty ? "" : "<\(arguments.map(\.printed).joined(separator: ", "))>")
        case .optional(let wrapped): "Optional<\(wrapped.printed)>"
        case .other(let text): text
        }
    }

    /// Whether the name has at most so many parts. A shared argument is counted each time, as it is printed each time.
    func hasParts(atMost limit: Int) -> Bool {
        var remaining = limit
        return countParts(&remaining)
    }

    private func countParts(_ remaining: inout Int) -> Bool {
        remaining -= 1
        guard remaining >= 0 else { return false }
        switch self {
        case .named(_, let arguments):
            for argument in arguments {
                guard argument.countParts(&remaining) else { return false }
            }
            return true
        case .optional(let wrapped): return wrapped.countParts(&remaining)
        case .other: return true
        }
    }

    /// The name with generic parameters replaced.
    func replacing(_ parameters: [String: SourceTypeName]) -> SourceTypeName {
        switch self {
        case .named(let path, let arguments):
            if path.count == 1, arguments.isEmpty, let argument = parameters[path[0]] { return argument }
            return .named(path, arguments.map { $0.replacing(parameters) })
        case .optional(let wrapped): return .optional(wrapped.replacing(parameters))
        case .other: return self
        }
    }
}

/// An attribute of a declaration, such as `@Attribute(.unique)`.
struct SourceAttribute: Sendable {
    /// The name, without `SwiftData.`.
    let name: String
    let arguments: [SourceArgument]
    let line: Int
}

/// An argument of a macro.
struct SourceArgument: Sendable {
    let label: String?
    let tokens: [SourceToken]

    /// The source's text without spaces, for comparisons and messages.
    var text: String { tokens.map { $0.kind == .string ? "\"\($0.text)\"" : $0.text }.joined() }
    /// The value of a string literal.
    var string: String? {
        guard tokens.count == 1, tokens[0].kind == .string, tokens[0].isLiteral else { return nil }
        return tokens[0].text
    }
    /// The value of an integer.
    var integer: Int? { SourceValue.integer(text).flatMap { Int(exactly: $0) } }
    /// The name of a member such as `.unique` or `Schema.Attribute.Option.unique`.
    var member: String? {
        guard let last = tokens.last, last.kind == .word, tokens.allSatisfy({ $0.kind == .word || $0.isSign(".") })
        else { return nil }
        return last.text
    }
}

/// A variable of a type.
struct SourceVariable: Sendable {
    let name: String
    var type: SourceTypeName?
    /// The tokens of the initial value.
    var value: [SourceToken] = []
    /// The tokens of the body, if there is one.
    var body: [SourceToken] = []
    var isConstant: Bool
    var modifiers: [String] = []
    var attributes: [SourceAttribute] = []
    let line: Int
    var condition: Int?
    /// Whether the declaration has several variables.
    var isShared = false

    /// Whether the variable has accessors of its own, so that it is not stored. Observers are none.
    var isComputed: Bool {
        guard let first = body.first else { return false }
        return !(first.isWord("willSet") || first.isWord("didSet"))
    }
    var isStatic: Bool { modifiers.contains("static") || modifiers.contains("class") }
    var hasObservers: Bool { !body.isEmpty && !isComputed }
}

struct SourceCase: Sendable {
    let name: String
    let hasPayload: Bool
    let line: Int
    var condition: Int?
}

/// A type of a source, with what its extensions add.
final class SourceType: Sendable {
    enum Kind: String, Sendable { case structure = "struct", enumeration = "enum", classType = "class", other }

    let kind: Kind
    /// The enclosing types, and the own name.
    let path: [String]
    let file: String
    let line: Int
    let condition: Int?
    let isPrivate: Bool
    let attributes: [SourceAttribute]
    let parameters: [String]
    let inherited: [SourceTypeName]
    let variables: [SourceVariable]
    let cases: [SourceCase]
    /// `#Unique` and `#Index`.
    let groups: [SourceAttribute]
    /// The target of a type alias.
    let target: SourceTypeName?
    /// The line of a condition that the members depend on.
    let memberCondition: Int?

    init(_ declaration: SourceDeclaration) {
        kind = Kind(rawValue: declaration.keyword) ?? .other
        (path, file, line, condition) = (declaration.path, declaration.file, declaration.line, declaration.condition)
        isPrivate = declaration.modifiers.contains { ["private", "fileprivate"].contains($0) }
        (attributes, parameters, inherited) = (declaration.attributes, declaration.parameters, declaration.inherited)
        (variables, cases, groups) = (declaration.variables, declaration.cases, declaration.groups)
        (target, memberCondition) = (declaration.target, declaration.memberCondition)
    }

    var name: String { path.last ?? "" }
    var isModel: Bool { kind == .classType && attributes.contains { $0.name == "Model" } }
    func inherits(_ name: String) -> Bool {
        inherited.contains { if case .named(let path, _) = $0 { path.last == name } else { false } }
    }
}

/// A type or an extension as the parser reads it.
struct SourceDeclaration {
    let keyword: String
    var path: [String]
    let file: String
    let line: Int
    var condition: Int?
    var modifiers: [String] = []
    var attributes: [SourceAttribute] = []
    var parameters: [String] = []
    var inherited: [SourceTypeName] = []
    var variables: [SourceVariable] = []
    var cases: [SourceCase] = []
    var groups: [SourceAttribute] = []
    var target: SourceTypeName?
    var memberCondition: Int?
}
