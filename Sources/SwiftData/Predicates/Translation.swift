import CoreData
import Foundation
import ManagedObjects
import PredicateLanguage

// The translation of a Swift predicate into the engine's predicate language. Swift's conditions have two values, SQL's have three:
// so negation moves to the comparisons, and each comparison states what it is for nil.

/// A part of a predicate that has no form in the engine's language. The predicate is then evaluated in memory.
struct Untranslatable: Error, CustomStringConvertible {
    let node: String
    var description: String { "\(node) has no form in SQL" }
}

/// What a part of a predicate is: one leaf, or several, of which conditions select one.
struct Term {
    /// The conditions are exclusive, and one of them holds.
    let cases: [(guards: [PredicateNode], leaf: Leaf)]

    init(_ leaf: Leaf) { cases = [([], leaf)] }
    init(cases: [(guards: [PredicateNode], leaf: Leaf)]) { self.cases = cases }

    /// Replaces each leaf by a term.
    func flatMap(_ transform: (Leaf) throws -> Term) rethrows -> Term {
        Term(
            cases: try cases.flatMap { each in
                try transform(each.leaf).cases.map { (each.guards + $0.guards, $0.leaf) }
            })
    }

    /// The condition that a comparison of the leaf holds; or that it does not.
    func condition(_ test: (Leaf) throws -> PredicateNode) rethrows -> PredicateNode {
        let parts = try cases.map { each in
            let test = try test(each.leaf)
            return each.guards.isEmpty ? test : PredicateNode.and(each.guards + [test])
        }
        return parts.count == 1 ? parts[0] : .or(parts)
    }
}

enum Leaf {
    /// A Boolean, and its negation.
    case condition(PredicateNode, negated: PredicateNode)
    /// A value of an object or a computed one.
    case value(Operand)
    /// A captured or literal value that is not nil.
    case constant(CapturedValue)
    case null
    /// A model: the evaluated one, an element of a relationship, or what a relationship leads to.
    case model(ExpressionNode, ModelClass, canBeNull: Bool)
    /// The objects of a to-many relationship, possibly filtered.
    case models(ExpressionNode, ModelClass)
    /// A composite attribute, by its path.
    case composite(base: ExpressionNode, path: [String], form: ValueForm, canBeNull: Bool)
}

/// A value that the store or the engine computes.
struct Operand {
    let expression: ExpressionNode
    let canBeNull: Bool
    /// The form of enumerations, whose constants are their raw values.
    var form: ValueForm?
    var isText = false
}

/// A node of Foundation's predicates that can be translated. The only protocol that a node is asked for, because the first question
/// for each type is expensive; see `OptionalLayout`.
protocol TranslatableExpression: ShapedExpression {
    func term(_ translation: Translation) throws -> Term
    /// The parts of a conjunction.
    var conjuncts: (left: Any, right: Any)? { get }
    /// Whether the value is the same for every model: a captured value, or a property of one.
    var isCaptured: Bool { get }
    var capturedValue: Any? { get }
    /// The node as a filter over the objects of a relationship.
    var objectFilter: (any ObjectFilter)? { get }
    /// The node as a range that the predicate builds.
    var builtRange: (any BuiltRange)? { get }
}

extension TranslatableExpression {
    var conjuncts: (left: Any, right: Any)? { nil }
    var isCaptured: Bool { false }
    var capturedValue: Any? { nil }
    var objectFilter: (any ObjectFilter)? { nil }
    var builtRange: (any BuiltRange)? { nil }
}

/// A node that is a part of others only.
protocol PartialExpression: TranslatableExpression {}

extension PartialExpression {
    func term(_ translation: Translation) throws -> Term { throw Untranslatable(node: Translation.name(of: self)) }
}

/// The state of one translation: which node is translated, and what each variable stands for.
struct Translation {
    var variables: [PredicateExpressions.VariableID: Term] = [:]
    private(set) var depth = 0
    private var place = NodePlace()
    /// Collects placeholders for captured values; nil puts the values into the translation.
    private let places: CapturedPlaces?

    init(_ places: CapturedPlaces?) { self.places = places }

    /// The translation of a part of the node.
    func part(_ number: Int) -> Translation {
        var inner = self
        inner.place = place.part(number)
        return inner
    }

    /// The translation of the node at a place.
    func at(_ place: NodePlace) -> Translation {
        var inner = self
        inner.place = place
        return inner
    }

    func term(_ expression: Any) throws -> Term {
        guard let node = expression as? any TranslatableExpression else {
            throw Untranslatable(node: Self.name(of: expression))
        }
        return try node.term(self)
    }

    func term(_ expression: Any, _ part: Int) throws -> Term { try self.part(part).term(expression) }

    /// A term for the captured value of the node.
    func captured(_ value: Any?) -> Term {
        places?.note(place)
        return Term(unwrapped(value).map { .constant(CapturedValue($0, at: place, in: places)) } ?? .null)
    }

    /// A term for a truth value that follows from the shape.
    func fixed(_ value: Bool) -> Term { Term(.constant(CapturedValue(value, at: place, in: nil))) }

    /// The condition of a Boolean part, and its negation.
    func test(_ expression: Any, _ part: Int) throws -> (holds: PredicateNode, fails: PredicateNode) {
        let term = try term(expression, part)
        return (try Self.condition(term), try Self.condition(term, negated: true))
    }

    static func condition(_ term: Term, negated: Bool = false) throws -> PredicateNode {
        try term.condition { leaf in try condition(of: leaf, negated: negated) }
    }

    static func condition(of leaf: Leaf, negated: Bool) throws -> PredicateNode {
        switch leaf {
        case .condition(let condition, let opposite): return negated ? opposite : condition
        case .constant(let captured):
            guard let value = captured.value as? Bool else { break }
            return .constant(value != negated)
        case .value(let operand):
            let comparison = PredicateNode.comparison(
                ComparisonNode(operand.expression, .equalTo, .constant(value: !negated)))
            return negated && operand.canBeNull ? .or([Comparison.isNull(operand.expression), comparison]) : comparison
        default: break
        }
        throw Untranslatable(node: "A condition that is not a Boolean")
    }

    /// A translation in which a variable stands for a term.
    func binding(_ variable: PredicateExpressions.VariableID, to term: Term) -> Translation {
        var inner = self
        inner.variables[variable] = term
        inner.depth += 1
        return inner
    }

    /// The name of a variable of a subquery at this depth.
    var elementName: String { "element\(depth)" }

    /// The name of a node, without its generic arguments. Never the description of a predicate: printing one with nodes of another
    /// module stops the program.
    static func name(of expression: Any) -> String {
        String(describing: type(of: expression)).prefix { $0 != "<" }.description
    }
}

/// The translation of a whole predicate.
struct TranslatedPredicate {
    /// A condition that every match fulfils.
    let condition: PredicateNode?
    /// Whether the condition says everything; otherwise its matches must be evaluated in memory.
    let isComplete: Bool
    /// What could not be translated.
    let missing: String?

    /// Translates a predicate.
    ///
    /// - Parameter places: Collects placeholders for captured values; nil puts the values into the translation.
    init<T: PersistentModel>(_ predicate: Predicate<T>, _ places: CapturedPlaces? = nil) {
        var translation = Translation(places)
        translation.variables[predicate.variable.key] = Term(
            .model(.evaluatedObject, ModelClass.of(T.self), canBeNull: false))
        var parts: [PredicateNode] = []
        var missing: String?
        for (conjunct, place) in Self.conjuncts(of: predicate.expression) {
            do {
                parts.append(try Translation.condition(translation.at(place).term(conjunct)))
            } catch {
                missing = (error as? Untranslatable)?.node ?? "\(error)"
            }
        }
        condition = parts.isEmpty ? nil : parts.count == 1 ? parts[0] : .and(parts)
        self.missing = missing
        isComplete = missing == nil
    }

    /// The translation with values for its placeholders.
    func filled(_ value: (String) throws -> Any?) rethrows -> TranslatedPredicate {
        let filled = try condition?.mapExpressions { expression in
            guard case .variable(let name) = expression, let value = try value(name) else { return expression }
            return .constant(value: value)
        }
        return TranslatedPredicate(condition: filled, isComplete: isComplete, missing: missing)
    }

    /// The predicate as one that is evaluated in memory only.
    var inMemory: TranslatedPredicate {
        TranslatedPredicate(
            condition: nil, isComplete: false, missing: missing ?? "A condition on related models with unsaved changes")
    }

    private init(condition: PredicateNode?, isComplete: Bool, missing: String?) {
        (self.condition, self.isComplete, self.missing) = (condition, isComplete, missing)
    }

    /// The parts that must all hold, with their places.
    private static func conjuncts(of expression: Any) -> [(Any, NodePlace)] {
        var found: [(Any, NodePlace)] = []
        var pending = [(expression, NodePlace())]
        while let (next, place) = pending.popLast() {
            if let both = (next as? any TranslatableExpression)?.conjuncts {
                pending.append((both.right, place.part(1)))
                pending.append((both.left, place.part(0)))
            } else {
                found.append((next, place))
            }
        }
        return found
    }
}
