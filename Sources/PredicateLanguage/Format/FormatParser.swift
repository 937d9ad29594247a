/// Parses predicates: compounds, negations and comparisons. Expressions are in an extension.
///
/// One recursive descent parses both kinds, since the kind of a parenthesised part is known only at its end: `(a + b) >
/// 3` begins like `(a > b)`. Each step therefore returns a ``FormatTerm``, and a caller that needs one of the kinds
/// converts it.
struct FormatParser {
    let format: String
    private let tokens: [FormatToken]
    private var index = 0
    private var depth = 0

    /// - Parameter tokens: Those of the format, with arguments.
    init(_ format: String, tokens: [FormatToken]) {
        self.format = format
        self.tokens = tokens
    }

    init(_ format: String, arguments: [Any?]) throws {
        let given = FormatArguments(values: arguments)
        let tokens = try FormatScanner.tokens(of: format).map { token in
            guard case .conversion(let conversion) = token.kind else { return token }
            do {
                return FormatToken(kind: try given.token(for: conversion), offset: token.offset)
            } catch let problem as FormatArguments.Problem {
                throw PredicateSyntaxError(
                    code: problem.code, message: problem.message, format: format, offset: token.offset)
            }
        }
        self.init(format, tokens: tokens)
    }

    mutating func wholePredicate() throws -> PredicateNode {
        let predicate = try predicate(in: disjunction())
        try expectEnd()
        return predicate.node
    }

    mutating func wholeExpression() throws -> ExpressionNode {
        let expression = try expression(in: disjunction())
        try expectEnd()
        return expression.node
    }

    // MARK: - Predicates

    /// Parts between `AND` and `OR`; a single part is returned as it is. One function parses both, because the stack of
    /// this recursion limits the depth of formats.
    mutating func disjunction() throws -> FormatTerm {
        let first = try negation()
        if !isAtConnective { return first }
        var alternatives = Compound(PredicateNode.or)
        var parts = Compound(PredicateNode.and)
        parts.append(try predicate(in: first))
        while isAtConnective {
            if token.keyword == .or || token.isSymbol("||") {
                alternatives.append(parts.whole)
                parts = Compound(PredicateNode.and)
            }
            advance()
            parts.append(try predicate(in: negation()))
        }
        alternatives.append(parts.whole)
        return try term(alternatives.whole.node, above: [alternatives.whole.height - 1], at: first.offset)
    }

    private var isAtConnective: Bool {
        switch token.keyword {
        case .and, .or: true
        default: token.isSymbol("&&", "||")
        }
    }

    /// The parts of a compound and the greatest height among them.
    private struct Compound {
        private let make: ([PredicateNode]) -> PredicateNode
        private var parts: [PredicateNode] = []
        private var height = 0

        init(_ make: @escaping ([PredicateNode]) -> PredicateNode) {
            self.make = make
        }

        mutating func append(_ part: (node: PredicateNode, height: Int)) {
            parts.append(part.node)
            height = max(height, part.height)
        }

        /// The compound; a single part is returned as it is.
        var whole: (node: PredicateNode, height: Int) {
            parts.count == 1 ? (parts[0], height) : (make(parts), height + 1)
        }
    }

    private mutating func negation() throws -> FormatTerm {
        let offset = token.offset
        guard token.keyword == .not || token.isSymbol("!") else { return try comparison() }
        advance()
        return try nested { parser in
            let negated = try parser.predicate(in: parser.negation())
            return try parser.term(.not(negated.node), above: [negated.height], at: offset)
        }
    }

    private mutating func comparison() throws -> FormatTerm {
        let offset = token.offset
        let quantifier = quantifier()
        let first = try binary()
        if quantifier == nil, case .predicate = first.kind { return first }
        guard let operation = comparisonOperator() else {
            if quantifier == nil { return first }
            throw unexpected("a comparison operator")
        }
        let left = try expression(in: first)
        let options = try comparisonOptions()
        let right = try expression(in: binary())
        let modifier: ComparisonModifier =
            switch quantifier {
            case nil: .direct
            case .all: .all
            default: .any
            }
        var node = PredicateNode.comparison(
            ComparisonNode(left.node, operation, right.node, modifier: modifier, options: options))
        if quantifier == ReservedWord.none { node = .not(node) }
        return try term(node, above: [left.height, right.height], at: offset)
    }

    private mutating func quantifier() -> ReservedWord? {
        guard let keyword = token.keyword, [.any, .some, .all, .none].contains(keyword) else { return nil }
        advance()
        return keyword
    }

    private mutating func comparisonOperator() -> ComparisonOperator? {
        let operation: ComparisonOperator?
        switch token.kind {
        case .symbol(let text): operation = ComparisonOperator.named.first { $0.symbol == text }
        case .identifier:
            let keyword = token.keyword?.rawValue
            operation = ComparisonOperator.named.first { $0.symbol == keyword }
        case .selector(let name): operation = .customSelector(name)
        default: operation = nil
        }
        if operation != nil { advance() }
        return operation
    }

    /// The letters in brackets after an operator.
    private mutating func comparisonOptions() throws -> ComparisonOptions {
        guard token.isSymbol("[") else { return [] }
        advance()
        guard case .identifier(let letters, isEscaped: false) = token.kind else {
            throw unexpected("the options c, d, n or l in brackets")
        }
        var options: ComparisonOptions = []
        for letter in letters.lowercased() {
            switch letter {
            case "c": options.insert(.caseInsensitive)
            case "d": options.insert(.diacriticInsensitive)
            case "n": options.insert(.normalized)
            case "l": options.insert(.localeSensitive)
            default: throw unexpected("the options c, d, n or l in brackets")
            }
        }
        advance()
        try expect("]")
        return options
    }

    // MARK: - Tokens

    var token: FormatToken {
        tokens[index]
    }

    var tokenAfter: FormatToken {
        tokens[min(index + 1, tokens.count - 1)]
    }

    mutating func advance() {
        index = min(index + 1, tokens.count - 1)
    }

    mutating func expect(_ symbol: String) throws {
        guard token.isSymbol(symbol) else { throw unexpected("“\(symbol)”") }
        advance()
    }

    private func expectEnd() throws {
        guard case .end = token.kind else { throw unexpected("“AND”, “OR” or the end of the format") }
    }

    // MARK: - Terms

    // The two methods below are mutating because of the order of evaluation: in `predicate(in: negation())`, a method that is
    // not mutating would use a copy of the parser from before the argument was parsed.

    mutating func predicate(in term: FormatTerm) throws -> (node: PredicateNode, height: Int) {
        switch term.kind {
        case .predicate(let node): return (node, term.height)
        // The comparison has no operator; the parser is at the position where it is expected.
        case .expression: throw unexpected("a comparison operator")
        }
    }

    mutating func expression(in term: FormatTerm) throws -> (node: ExpressionNode, height: Int) {
        switch term.kind {
        case .expression(let node): return (node, term.height)
        case .predicate:
            let message = "Expected an expression, but found a predicate."
            throw PredicateSyntaxError(code: .unexpectedToken, message: message, format: format, offset: term.offset)
        }
    }

    func term(_ node: PredicateNode, above heights: [Int], at offset: Int) throws -> FormatTerm {
        FormatTerm(kind: .predicate(node), height: try height(above: heights, at: offset), offset: offset)
    }

    func term(_ node: ExpressionNode, above heights: [Int] = [], at offset: Int) throws -> FormatTerm {
        FormatTerm(kind: .expression(node), height: try height(above: heights, at: offset), offset: offset)
    }

    /// Chains such as `1 + 1 + 1 …` make high trees without nesting, so heights are limited as the nesting depth is.
    private func height(above heights: [Int], at offset: Int) throws -> Int {
        let height = 1 + (heights.max() ?? 0)
        if height > PredicateParser.depthLimit { throw tooDeep(at: offset) }
        return height
    }

    /// Parses a part of the format one level deeper.
    mutating func nested<Result>(_ read: (inout FormatParser) throws -> Result) throws -> Result {
        depth += 1
        defer { depth -= 1 }
        if depth > PredicateParser.depthLimit { throw tooDeep(at: token.offset) }
        return try read(&self)
    }

    // MARK: - Mistakes

    func unexpected(_ expectation: String) -> PredicateSyntaxError {
        mistake(.unexpectedToken, "Expected \(expectation), but found \(token.inWords).")
    }

    func mistake(_ code: PredicateSyntaxError.Code, _ message: String, at offset: Int? = nil) -> PredicateSyntaxError {
        PredicateSyntaxError(code: code, message: message, format: format, offset: offset ?? token.offset)
    }

    private func tooDeep(at offset: Int) -> PredicateSyntaxError {
        mistake(.tooDeep, "The format nests deeper than \(PredicateParser.depthLimit) levels.", at: offset)
    }
}

/// The result of a parsing step.
struct FormatTerm {
    enum Kind {
        case predicate(PredicateNode)
        case expression(ExpressionNode)
    }

    var kind: Kind
    /// The height of the tree.
    var height: Int
    /// The offset of its beginning.
    var offset: Int
}
