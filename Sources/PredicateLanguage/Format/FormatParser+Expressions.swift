import Foundation

extension FormatParser {
    // MARK: - Operators

    /// Operands and the operators between them that bind at least as tightly as `precedence`.
    mutating func binary(precedence: Int = 1) throws -> FormatTerm {
        var result = try unary()
        while let operation = binaryOperator(), operation.precedence >= precedence {
            advance()
            let left = try expression(in: result)
            let right = try expression(in: binary(precedence: operation.precedence + 1))
            let node = operation.expression(left.node, right.node)
            result = try term(node, above: [left.height, right.height], at: result.offset)
        }
        return result
    }

    private func binaryOperator() -> BinaryOperator? {
        if case .symbol(let text) = token.kind { return BinaryOperator(rawValue: text) }
        return token.keyword.flatMap { BinaryOperator(rawValue: $0.rawValue) }
    }

    private mutating func unary() throws -> FormatTerm {
        if token.isSymbol("-") || token.isSymbol("~") { return try signed() }
        let operand = try primary()
        return token.isSymbol(".") || token.isSymbol("[") ? try postfix(operand) : operand
    }

    private mutating func signed() throws -> FormatTerm {
        let sign = token
        advance()
        if sign.isSymbol("-"), case .number(let value) = token.kind {
            advance()
            return try postfix(term(.constant(value: Arithmetic.negated(value).value), at: sign.offset))
        }
        let function: KnownFunction = sign.isSymbol("-") ? .changeSign : .onesComplement
        let operand = try nested { try $0.expression(in: $0.unary()) }
        return try term(
            .function(function.rawValue, arguments: [operand.node]), above: [operand.height], at: sign.offset)
    }

    // MARK: - Keys and elements

    /// Keys and brackets after an operand.
    private mutating func postfix(_ operand: FormatTerm) throws -> FormatTerm {
        var result = operand
        while true {
            if token.isSymbol(".") {
                advance()
                let base = try expression(in: result)
                let keys = try keys()
                if case .keyPath(let root, let first) = base.node {
                    result.kind = .expression(.keyPath(base: root, keys: first + keys))
                } else {
                    result = try term(.keyPath(base: base.node, keys: keys), above: [base.height], at: result.offset)
                }
            } else if token.isSymbol("[") {
                advance()
                let base = try expression(in: result)
                let (index, height) = try collectionIndex()
                try expect("]")
                result = try term(.element(of: base.node, index), above: [base.height, height], at: result.offset)
            } else {
                return result
            }
        }
    }

    /// The keys after one dot: one key, or those of a `%K` argument.
    private mutating func keys() throws -> [String] {
        let keys: [String]
        switch token.kind {
        case .identifier(let key, _): keys = [key]
        case .keyArgument(let path): keys = path
        default: throw unexpected("a key")
        }
        advance()
        return keys
    }

    private mutating func collectionIndex() throws -> (CollectionIndex, height: Int) {
        let index: CollectionIndex
        switch token.keyword {
        case .first: index = .first
        case .last: index = .last
        case .size: index = .size
        default:
            let expression = try nested { try $0.expression(in: $0.binary()) }
            return (.at(expression.node), expression.height)
        }
        advance()
        return (index, 0)
    }

    // MARK: - Operands

    private mutating func primary() throws -> FormatTerm {
        switch token.kind {
        case .symbol: try enclosed()
        case .identifier, .selector: try named()
        default: try literal()
        }
    }

    private mutating func enclosed() throws -> FormatTerm {
        let offset = token.offset
        if token.isSymbol("(") {
            advance()
            var enclosed = try nested { try $0.disjunction() }
            try expect(")")
            enclosed.offset = offset
            return enclosed
        }
        if token.isSymbol("<"), tokenAfter.keyword == .null { return try nullObject() }
        guard token.isSymbol("{") else { throw unexpected("an expression") }
        let (elements, heights) = try list(from: "{", to: "}")
        return try term(.aggregate(elements), above: heights, at: offset)
    }

    /// `<null>`, as `NSNull` is printed; no expression begins with an operator of comparison.
    private mutating func nullObject() throws -> FormatTerm {
        let offset = token.offset
        advance()
        advance()
        try expect(">")
        return try term(.constant(value: NSNull()), at: offset)
    }

    private mutating func literal() throws -> FormatTerm {
        let start = token
        let node: ExpressionNode
        switch start.kind {
        case .string(let text): node = .constant(value: text)
        case .number(let value): node = .constant(value: value.value)
        case .variable(let name): node = .variable(name)
        case .argument(let value):
            advance()
            return try argument(value, at: start.offset)
        case .keyArgument(let keys):
            // `self` is a key in key-value coding, and can be omitted.
            let isSelf = keys.count == 1 && keys[0].uppercased() == ReservedWord.`self`.rawValue
            node = isSelf ? .evaluatedObject : .keyPath(base: .evaluatedObject, keys: keys)
        default: throw unexpected("an expression")
        }
        advance()
        return try term(node, at: start.offset)
    }

    /// A key, a function, or a construct that begins with a reserved word.
    private mutating func named() throws -> FormatTerm {
        let start = token
        switch start.kind {
        case .selector(let name):
            advance()
            guard token.isSymbol("(") else { throw unexpected("“(” after the function \(name)") }
            return try function(name, at: start.offset)
        case .identifier(let name, let isEscaped):
            if let word = start.keyword {
                return try tokenAfter.isSymbol("(")
                    ? construct(word, at: start.offset) : reserved(word, at: start.offset)
            }
            advance()
            if !isEscaped, token.isSymbol("(") { return try function(name, at: start.offset) }
            return try term(.keyPath(base: .evaluatedObject, keys: [name]), at: start.offset)
        default: throw unexpected("an expression")
        }
    }

    /// A construct whose reserved word is followed by a parenthesis.
    private mutating func construct(_ word: ReservedWord, at offset: Int) throws -> FormatTerm {
        switch word {
        case .subquery: return try subquery(at: offset)
        case .function: return try call(at: offset)
        case .ternary: return try conditional(at: offset)
        case .fetch: return try fetch(at: offset)
        case .cast:
            advance()
            return try function(KnownFunction.cast.rawValue, at: offset)
        default: return try reserved(word, at: offset)
        }
    }

    private mutating func argument(_ value: Any?, at offset: Int) throws -> FormatTerm {
        // The depth of a tree given as an argument is not counted here; the evaluator checks it.
        switch value {
        case let node as ExpressionNode: try term(node, at: offset)
        case let node as PredicateNode: try term(node, above: [], at: offset)
        default: try term(.constant(value: value), at: offset)
        }
    }

    private mutating func reserved(_ word: ReservedWord, at offset: Int) throws -> FormatTerm {
        let node: ExpressionNode
        switch word {
        case .true, .yes: node = .constant(value: true)
        case .false, .no: node = .constant(value: false)
        case .null, .nil: node = .constant(value: nil)
        case .`self`: node = .evaluatedObject
        case .anyKey: node = .anyKey
        case .truePredicate, .falsePredicate:
            advance()
            return try term(PredicateNode.constant(word == .truePredicate), above: [], at: offset)
        // Words that are reserved only in other positions are keys here.
        case .subquery, .cast, .function, .ternary, .fetch, .first, .last, .size, .caseInsensitive,
            .caseInsensitiveShort:
            guard case .identifier(let key, _) = token.kind else { throw unexpected("an expression") }
            node = .keyPath(base: .evaluatedObject, keys: [key])
        default: throw unexpected("an expression")
        }
        advance()
        return try term(node, at: offset)
    }

    /// Expressions in brackets, separated by commas.
    private mutating func list(
        from opening: String, to closing: String
    ) throws -> (elements: [ExpressionNode], heights: [Int]) {
        try expect(opening)
        var elements: [ExpressionNode] = []
        var heights: [Int] = []
        if token.isSymbol(closing) {
            advance()
            return ([], [])
        }
        while true {
            let element = try nested { try $0.expression(in: $0.binary()) }
            elements.append(element.node)
            heights.append(element.height)
            if token.isSymbol(closing) {
                advance()
                return (elements, heights)
            }
            guard token.isSymbol(",") else { throw unexpected("“,” or “\(closing)”") }
            advance()
        }
    }

    // MARK: - Functions

    /// A function of the language; the token is the opening parenthesis.
    private mutating func function(_ name: String, at offset: Int) throws -> FormatTerm {
        let (arguments, heights) = try list(from: "(", to: ")")
        guard let function = KnownFunction(name: name, argumentCount: arguments.count) else {
            let count = arguments.count == 1 ? "one argument" : "\(arguments.count) arguments"
            throw mistake(.unknownFunction, "There is no function “\(name)” of \(count).", at: offset)
        }
        if function == .cast, let value = ConstantCast.value(of: arguments) {
            return try term(.constant(value: value), at: offset)
        }
        if function.takesCollection, arguments.count > 1 {
            let node = ExpressionNode.function(function.rawValue, arguments: [.aggregate(arguments)])
            return try term(node, above: heights.map { $0 + 1 }, at: offset)
        }
        return try term(.function(function.rawValue, arguments: arguments), above: heights, at: offset)
    }

    /// `FUNCTION(receiver, "selector", …)`.
    private mutating func call(at offset: Int) throws -> FormatTerm {
        advance()
        let (arguments, heights) = try list(from: "(", to: ")")
        guard arguments.count >= 2, case .constant(let name) = arguments[1], let selector = name.value as? String else {
            throw mistake(.unknownFunction, "FUNCTION needs a receiver and a selector in quotes.", at: offset)
        }
        let node = ExpressionNode.call(
            receiver: arguments[0], selector: selector, arguments: Array(arguments.dropFirst(2)))
        return try term(node, above: heights, at: offset)
    }

    /// `SUBQUERY(collection, $variable, predicate)`.
    private mutating func subquery(at offset: Int) throws -> FormatTerm {
        advance()
        try expect("(")
        let collection = try nested { try $0.expression(in: $0.binary()) }
        try expect(",")
        guard case .variable(let name) = token.kind else { throw unexpected("a variable such as “$x”") }
        advance()
        try expect(",")
        let predicate = try nested { try $0.predicate(in: $0.disjunction()) }
        try expect(")")
        let node = ExpressionNode.subquery(collection: collection.node, variable: name, predicate: predicate.node)
        return try term(node, above: [collection.height, predicate.height], at: offset)
    }

    /// `FETCH(request, context, countOnly)`, where the last argument is a constant.
    private mutating func fetch(at offset: Int) throws -> FormatTerm {
        advance()
        let (arguments, heights) = try list(from: "(", to: ")")
        let countOnly: Bool
        switch arguments.count == 3 ? arguments[2].constantValue : nil {
        case .bool(let value): countOnly = value
        case .integer(let number): countOnly = number != 0
        default: throw mistake(.unexpectedToken, "FETCH needs a request, a context, and YES or NO.", at: offset)
        }
        let node = ExpressionNode.fetch(request: arguments[0], context: arguments[1], countOnly: countOnly)
        return try term(node, above: heights, at: offset)
    }

    /// `TERNARY(predicate, then, otherwise)`.
    private mutating func conditional(at offset: Int) throws -> FormatTerm {
        advance()
        try expect("(")
        let predicate = try nested { try $0.predicate(in: $0.disjunction()) }
        try expect(",")
        let then = try nested { try $0.expression(in: $0.binary()) }
        try expect(",")
        let otherwise = try nested { try $0.expression(in: $0.binary()) }
        try expect(")")
        let node = ExpressionNode.conditional(predicate.node, then: then.node, otherwise: otherwise.node)
        return try term(node, above: [predicate.height, then.height, otherwise.height], at: offset)
    }
}
