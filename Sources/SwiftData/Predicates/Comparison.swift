import CoreData
import Foundation
import ManagedObjects
import ModelFiles
import PredicateLanguage

/// Comparisons of leaves, each with what it is for nil.
enum Comparison {
    static func isNull(_ expression: ExpressionNode) -> PredicateNode {
        .comparison(ComparisonNode(expression, .equalTo, .constant(value: nil)))
    }

    static func isNotNull(_ expression: ExpressionNode) -> PredicateNode {
        .comparison(ComparisonNode(expression, .notEqualTo, .constant(value: nil)))
    }

    /// Whether a leaf is nil.
    static func isNull(_ leaf: Leaf) throws -> PredicateNode {
        switch leaf {
        case .null: .constant(true)
        case .value(let operand): operand.canBeNull ? isNull(operand.expression) : .constant(false)
        case .model(let expression, _, let canBeNull): canBeNull ? isNull(expression) : .constant(false)
        case .composite(let base, let path, let form, let canBeNull):
            canBeNull
                ? .and(try elementPaths(of: form, path).map { isNull(.keyPath(base: base, keys: $0)) })
                : .constant(false)
        default: .constant(false)
        }
    }

    static func isNotNull(_ leaf: Leaf) throws -> PredicateNode {
        switch leaf {
        case .null: .constant(false)
        case .value(let operand): operand.canBeNull ? isNotNull(operand.expression) : .constant(true)
        case .model(let expression, _, let canBeNull): canBeNull ? isNotNull(expression) : .constant(true)
        case .composite(let base, let path, let form, let canBeNull):
            canBeNull
                ? .or(try elementPaths(of: form, path).map { isNotNull(.keyPath(base: base, keys: $0)) })
                : .constant(true)
        default: .constant(true)
        }
    }

    /// The paths of all columns of a composite.
    private static func elementPaths(of form: ValueForm, _ path: [String]) throws -> [[String]] {
        guard let elements = form.elements(named: path.last ?? "", optional: true) else { return [path] }
        return try elements.flatMap { try elementPaths(of: $0.form, path + [$0.name]) }
    }

    // MARK: - Equality

    /// Whether two leaves are equal, or are not.
    static func equal(_ left: Leaf, _ right: Leaf, negated: Bool) throws -> PredicateNode {
        switch (left, right) {
        case (.null, .null): return .constant(!negated)
        case (.null, let other), (let other, .null): return negated ? try isNotNull(other) : try isNull(other)
        case (.constant(let one), .constant(let other)):
            guard let one = one.fixed as? AnyHashable, let other = other.fixed as? AnyHashable else { break }
            return .constant((one == other) != negated)
        case (.value(let operand), .constant(let constant)), (.constant(let constant), .value(let operand)):
            let expression = try constant.expression { try stored($0, form: operand.form) }
            return equal(operand, toStored: expression, negated: negated)
        case (.value(let one), .value(let other)): return equal(one, other, negated: negated)
        case (.condition(let condition, let opposite), .constant(let constant)),
            (.constant(let constant), .condition(let condition, let opposite)):
            guard let value = constant.value as? Bool else { break }
            return value == negated ? opposite : condition
        case (.model(let expression, _, let canBeNull), .constant(let constant)),
            (.constant(let constant), .model(let expression, _, let canBeNull)):
            guard constant.value is any PersistentModel || constant.value is PersistentIdentifier else {
                return .constant(negated)
            }
            return equal(
                Operand(expression: expression, canBeNull: canBeNull),
                toStored: try constant.expression { try stored($0, form: nil) }, negated: negated)
        case (.model(let one, _, let oneNull), .model(let other, _, let otherNull)):
            return equal(
                Operand(expression: one, canBeNull: oneNull), Operand(expression: other, canBeNull: otherNull),
                negated: negated)
        case (.composite(let base, let path, let form, let canBeNull), .constant(let constant)),
            (.constant(let constant), .composite(let base, let path, let form, let canBeNull)):
            return try equalComposite(base, path, form, canBeNull, constant.fixed, negated: negated)
        default: break
        }
        throw Untranslatable(node: "This equality")
    }

    private static func equal(_ operand: Operand, toStored constant: ExpressionNode, negated: Bool) -> PredicateNode {
        let comparison = PredicateNode.comparison(
            ComparisonNode(operand.expression, negated ? .notEqualTo : .equalTo, constant))
        return negated && operand.canBeNull ? .or([isNull(operand.expression), comparison]) : comparison
    }

    private static func equal(_ one: Operand, _ other: Operand, negated: Bool) -> PredicateNode {
        var notNull: [PredicateNode] = []
        if one.canBeNull { notNull.append(isNotNull(one.expression)) }
        if other.canBeNull { notNull.append(isNotNull(other.expression)) }
        let comparison = PredicateNode.comparison(
            ComparisonNode(one.expression, negated ? .notEqualTo : .equalTo, other.expression))
        let whole = notNull.isEmpty ? comparison : .and(notNull + [comparison])
        var alternatives = [whole]
        if negated {
            if one.canBeNull {
                alternatives.append(
                    other.canBeNull
                        ? .and([isNull(one.expression), isNotNull(other.expression)]) : isNull(one.expression))
            }
            if other.canBeNull {
                alternatives.append(
                    one.canBeNull
                        ? .and([isNotNull(one.expression), isNull(other.expression)]) : isNull(other.expression))
            }
        } else if one.canBeNull, other.canBeNull {
            alternatives.append(.and([isNull(one.expression), isNull(other.expression)]))
        }
        return alternatives.count == 1 ? whole : .or(alternatives)
    }

    private static func equalComposite(
        _ base: ExpressionNode, _ path: [String], _ form: ValueForm, _ canBeNull: Bool, _ constant: Any, negated: Bool
    ) throws -> PredicateNode {
        guard case .enumeration = form,
            let stored = try form.stored(constant, named: path.last ?? "") as? [String: Any],
            let (name, value) = stored.first,
            value is String
        else { throw Untranslatable(node: "The equality of a composite") }
        let column = Operand(expression: .keyPath(base: base, keys: path + [name]), canBeNull: true)
        return equal(column, toStored: .constant(value: value), negated: negated)
    }

    // MARK: - Order

    /// Whether one leaf is before or after another.
    static func ordered(
        _ left: Leaf, _ operation: ComparisonOperator, _ right: Leaf, negated: Bool
    ) throws -> PredicateNode {
        if case .constant(let one) = left, case .constant(let other) = right {
            return .comparison(
                ComparisonNode(
                    try one.expression { try stored($0, form: nil) }, negated ? opposite(operation) : operation,
                    try other.expression { try stored($0, form: nil) }))
        }
        if let test = try orderedCases(left, operation, right, negated: negated) { return test }
        let (one, other) = (try operand(left, for: right), try operand(right, for: left))
        let comparison = PredicateNode.comparison(
            ComparisonNode(one.expression, negated ? opposite(operation) : operation, other.expression))
        let nulls = [one, other].filter(\.canBeNull).map { isNull($0.expression) }
        return negated && !nulls.isEmpty ? .or(nulls + [comparison]) : comparison
    }

    private static func opposite(_ operation: ComparisonOperator) -> ComparisonOperator {
        switch operation {
        case .lessThan: .greaterThanOrEqualTo
        case .lessThanOrEqualTo: .greaterThan
        case .greaterThan: .lessThanOrEqualTo
        default: .lessThan
        }
    }

    /// Whether an enumeration with raw values is before or after a constant, by the order of its type, which need not be that of the
    /// raw values: it is one of the cases for which this holds. Nil if neither leaf is such an enumeration.
    private static func orderedCases(
        _ left: Leaf, _ operation: ComparisonOperator, _ right: Leaf, negated: Bool
    ) throws -> PredicateNode? {
        func isEnumeration(_ leaf: Leaf) -> Bool {
            if case .value(let operand) = leaf, case .rawEnumeration? = operand.form { true } else { false }
        }
        switch (left, right) {
        case (.value(let operand), .constant(let bound)) where isEnumeration(left):
            return try isOneOfCases(operand, operation, bound, negated: negated)
        case (.constant(let bound), .value(let operand)) where isEnumeration(right):
            return try isOneOfCases(operand, mirrored(operation), bound, negated: negated)
        default:
            if isEnumeration(left) || isEnumeration(right) { throw Untranslatable(node: "An order of cases") }
            return nil
        }
    }

    private static func isOneOfCases(
        _ operand: Operand, _ operation: ComparisonOperator, _ bound: CapturedValue, negated: Bool
    ) throws -> PredicateNode {
        guard case .rawEnumeration(let enumeration, _)? = operand.form,
            let type = enumeration as? any (CaseIterable & Comparable).Type,
            // A program may leave cases out.
            count(of: type) == EnumerationLayout.cases(of: type)?.count
        else { throw Untranslatable(node: "An order of cases") }
        let form = operand.form
        let values = try bound.expression { bound in
            try cases(of: type, operation, bound, negated: negated).map { try stored($0, form: form) }
        }
        let isIn = PredicateNode.comparison(ComparisonNode(operand.expression, .in, values))
        return negated && operand.canBeNull ? .or([isNull(operand.expression), isIn]) : isIn
    }

    private static func count<C: CaseIterable>(of _: C.Type) -> Int { C.allCases.count }

    /// The cases for which a comparison with one of them holds, or does not.
    private static func cases<C: CaseIterable & Comparable>(
        of _: C.Type, _ operation: ComparisonOperator, _ bound: Any, negated: Bool
    ) throws -> [Any] {
        guard let bound = bound as? C else { throw Untranslatable(node: "A constant of another type") }
        return C.allCases.filter { each in
            let holds =
                switch operation {
                case .lessThan: each < bound
                case .lessThanOrEqualTo: each <= bound
                case .greaterThan: each > bound
                default: each >= bound
                }
            return holds != negated
        }
    }

    /// The comparison with its sides exchanged.
    private static func mirrored(_ operation: ComparisonOperator) -> ComparisonOperator {
        switch operation {
        case .lessThan: .greaterThan
        case .lessThanOrEqualTo: .greaterThanOrEqualTo
        case .greaterThan: .lessThan
        default: .lessThanOrEqualTo
        }
    }

    /// The leaf as an operand; a constant in the form of the other side.
    static func operand(_ leaf: Leaf, for other: Leaf?) throws -> Operand {
        switch leaf {
        case .value(let operand): return operand
        case .constant(let constant):
            var form: ValueForm?
            if case .value(let operand)? = other { form = operand.form }
            return Operand(expression: try constant.expression { try stored($0, form: form) }, canBeNull: false)
        default: throw Untranslatable(node: "This value")
        }
    }

    // MARK: - Constants

    /// A constant as the engine compares it.
    static func stored(_ constant: Any, form: ValueForm?) throws -> Any {
        if StoredPrimitive.of(type(of: constant)) == nil, let id = try objectID(constant) { return id }
        if case .rawEnumeration(_, let raw)? = form, let value = constant as? any RawRepresentable {
            return try stored(raw.stored(value.rawValue, named: ""), form: nil)
        }
        switch constant {
        case is String, is Bool, is Double, is Float, is Decimal, is Date, is UUID, is URL, is Data, is NSNumber:
            return constant
        case let integer as any FixedWidthInteger:
            guard let number = Int64(exactly: integer) else { throw Untranslatable(node: "An integer beyond 64 bits") }
            return number
        case let character as Character: return String(character)
        case let text as Substring: return String(text)
        default: throw Untranslatable(node: "A constant of the type \(type(of: constant))")
        }
    }

    /// The ID of a model or an identifier; nil for other values.
    private static func objectID(_ constant: Any) throws -> Any? {
        if let model = constant as? any PersistentModel {
            return try objectID(model.persistentModelID) ?? NSNull()
        }
        guard let identifier = constant as? PersistentIdentifier else { return nil }
        if let objectID = identifier.objectID { return objectID }
        throw Untranslatable(node: "An identifier of another process")
    }
}
