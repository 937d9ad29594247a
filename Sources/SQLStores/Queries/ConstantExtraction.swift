import Foundation
import ManagedObjects
import PredicateLanguage

/// The separation of a predicate from its constants. Predicates that differ only in constants produce the same statement with
/// other parameters, so that the statement is generated and prepared once.
struct ConstantExtraction {
    /// The number of the store and the roots of its entities, which distinguish objects among the constants.
    private let store: UInt16
    /// Whether trees without constants are returned, or only read.
    private let extracts: Bool
    /// Identifies the predicate without its constants.
    private(set) var key = QueryKey()
    /// The constants in the order in which the tree is read.
    private(set) var constants: [PredicateValue] = []
    private var depth = 0
    /// The reason why no store can evaluate the predicate, computed when it is needed; nil if there is none.
    private(set) var refusal: (() -> PredicateRefusal)?

    /// - Parameter extracts: False if only ``key`` and ``constants`` are needed: the methods then return trees unchanged.
    init(store: UInt16, extracts: Bool = true) {
        self.store = store
        self.extracts = extracts
    }

    // A character that a variable's name in a format string cannot contain.
    private static let mark: Character = "\u{1}"

    /// The index of the constant that a variable replaces; nil for a variable of the predicate itself.
    static func position(ofConstant variable: String) -> Int? {
        variable.first == mark ? Int(variable.dropFirst()) : nil
    }

    /// Replaces the constants of a predicate by variables. Sets ``refusal`` for a tree that is too deep, and for expressions
    /// that no store can evaluate.
    mutating func extract(_ node: PredicateNode) -> PredicateNode {
        depth += 1
        defer { depth -= 1 }
        guard depth < SQLWriter.depthLimit else {
            return refuse(node) { PredicateRefusal(.tooLarge, place: "a very deep predicate") }
        }
        switch node {
        case .constant(let value):
            key += value ? "T" : "F"
            return node
        case .comparison(var comparison):
            key += "("
            key.append(comparison.operation.symbol)
            if comparison.modifier != .direct { key += comparison.modifier == .any ? "\u{4}" : "\u{5}" }
            if !comparison.options.isEmpty {
                key += "["
                key.append(Int(comparison.options.rawValue))
                key += "]"
            }
            let (left, right) = (extract(comparison.left), extract(comparison.right))
            key += ")"
            guard extracts else { return node }
            (comparison.left, comparison.right) = (left, right)
            return .comparison(comparison)
        case .and(let parts):
            let extracted = extract(parts, "&")
            return extracts ? .and(extracted) : node
        case .or(let parts):
            let extracted = extract(parts, "|")
            return extracts ? .or(extracted) : node
        case .not(let part): return .not(extract([part], "!")[0])
        case .opaque: return refuse(node) { PredicateRefusal(.opaque, node) }
        }
    }

    /// Replaces the constants of a predicate that is evaluated in memory, and that the store need not be able to evaluate.
    mutating func extract(expectation node: PredicateNode) -> PredicateNode {
        let former = refusal
        defer { refusal = former }
        key += "~"
        return extract(node)
    }

    /// The key of an expression that is always refused needs no details.
    private mutating func refuse<Node>(_ node: Node, _ reason: @escaping () -> PredicateRefusal) -> Node {
        key += "\u{3}"
        if refusal == nil { refusal = reason }
        return node
    }

    private mutating func extract(_ parts: [PredicateNode], _ word: Unicode.Scalar) -> [PredicateNode] {
        key += word
        key += "("
        let extracted = extract(parts) { $0.extract($1) }
        key += ")"
        return extracted
    }

    private mutating func extract<Node>(
        _ nodes: [Node], _ extract: (inout ConstantExtraction, Node) -> Node
    ) -> [Node] {
        if extracts { return nodes.map { extract(&self, $0) } }
        for node in nodes { _ = extract(&self, node) }
        return nodes
    }

    /// Replaces the constants of an expression by variables.
    mutating func extract(_ node: ExpressionNode) -> ExpressionNode {
        depth += 1
        defer { depth -= 1 }
        guard depth < SQLWriter.depthLimit else {
            return refuse(node) { PredicateRefusal(.tooLarge, place: "a very deep expression") }
        }
        switch node {
        case .constant(let constant):
            let value = PredicateValue(constant.value)
            add(kindOf: value)
            constants.append(value)
            return extracts ? .variable("\(Self.mark)\(constants.count - 1)") : node
        case .evaluatedObject:
            key += "@"
            return node
        case .variable(let name):
            key += "$"
            key.append(name)
            key += ";"
            return node
        case .keyPath(let base, let keys):
            let base = extract(base)
            for name in keys {
                key += "."
                key.append(name)
            }
            key += ";"
            return extracts ? .keyPath(base: base, keys: keys) : node
        case .element(let collection, .size):
            key += "#"
            return .element(of: extract(collection), .size)
        case .function(let name, let arguments):
            key.append(name)
            return .function(name, arguments: extract(arguments))
        case .aggregate(let elements): return .aggregate(extract(elements))
        case .subquery(let collection, let variable, let predicate):
            key += "\u{6}"
            key.append(variable)
            key += ":"
            let collection = extract(collection)
            return .subquery(collection: collection, variable: variable, predicate: extract(predicate))
        case .conditional(let test, let then, let otherwise):
            key += "?"
            let test = extract(test)
            let then = extract(then)
            return .conditional(test, then: then, otherwise: extract(otherwise))
        case .element, .call, .setOperation, .fetch, .anyKey:
            return refuse(node) { PredicateRefusal(.function, node) }
        case .opaque: return refuse(node) { PredicateRefusal(.opaque, node) }
        }
    }

    private mutating func extract(_ nodes: [ExpressionNode]) -> [ExpressionNode] {
        key += "{"
        let extracted = extract(nodes) { $0.extract($1) }
        key += "}"
        return extracted
    }

    /// Adds every property of a constant on which the text of a statement depends.
    private mutating func add(kindOf value: PredicateValue) {
        switch value {
        case .null: key += "n"
        case .bool: key += "b"
        // Zero and one are distinguished from other numbers, because of division by zero and because a count compared
        // with them becomes a test for existence.
        case .integer(let number): key += number == 0 ? "0" : number == 1 ? "1" : "i"
        case .double(let number): key += number.isNaN ? "N" : number == 0 ? "R" : "r"
        case .decimal(let number): key += number.isZero ? "D" : "d"
        case .string(let text): key += text.isEmpty ? "e" : text.utf8.allSatisfy { $0 < 0x80 } ? "s" : "S"
        case .date: key += "t"
        case .data: key += "x"
        case .uuid: key += "u"
        case .url: key += "l"
        case .collection: key += "c"
        case .object, .other:
            guard let (id, hierarchy) = value.storedObject, !id.isTemporary, id.number != 0, id.store == store else {
                key += "o"
                return
            }
            key += "k"
            key.append(hierarchy)
            key += ";"
        }
    }
}
