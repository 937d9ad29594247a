import Foundation
import KeyedArchives
import PredicateLanguage

/// Reads predicates and expressions from a compiled model.
struct PredicateArchiveReader {
    /// The maximum nesting depth of predicates and expressions.
    private static let depthLimit = 100
    /// What the reading may still produce: a part that a predicate shares is read once for each reference to it.
    let budget: ReadingBudget

    func predicate(_ object: ArchivedObject, depth: Int = 0) throws -> PredicateNode {
        guard depth < Self.depthLimit else { throw Self.error("The predicate is nested too deeply.") }
        try budget.spend()
        switch object.className {
        case "NSTruePredicate": return .constant(true)
        case "NSFalsePredicate": return .constant(false)
        default: break
        }
        if object.isKind(of: "NSComparisonPredicate") {
            return .comparison(try comparison(object, depth: depth + 1))
        }
        if object.isKind(of: "NSCompoundPredicate") {
            let parts = try budget.members(object.object("NSSubpredicates")).compactMap { $0 }
                .map { try predicate($0, depth: depth + 1) }
            switch try object.integer("NSCompoundPredicateType") ?? 1 {
            case 0:
                guard let part = parts.first else { throw Self.error("A NOT predicate has no subpredicate.") }
                return .not(part)
            case 1: return .and(parts)
            case 2: return .or(parts)
            default: break
            }
        }
        throw Self.error("A predicate of class \(object.className ?? "?") is unknown.")
    }

    private func comparison(_ object: ArchivedObject, depth: Int) throws -> ComparisonNode {
        guard let left = try object.object("NSLeftExpression"), let right = try object.object("NSRightExpression"),
            let operatorObject = try object.object("NSPredicateOperator"),
            let number = try operatorObject.integer("NSOperatorType").flatMap(UInt.init(exactly:)),
            let operation = ComparisonOperator(number: number, selector: try operatorObject.string("NSSelectorName"))
        else { throw Self.error("A comparison has no left side, right side or operator.") }
        let modifier = try operatorObject.integer("NSModifier").flatMap(UInt.init(exactly:)) ?? 0
        let options = try operatorObject.integer("NSOptions") ?? operatorObject.integer("NSFlags") ?? 0
        return ComparisonNode(
            try expression(left, depth: depth), operation, try expression(right, depth: depth),
            modifier: ComparisonModifier(rawValue: modifier) ?? .direct,
            options: ComparisonOptions(rawValue: UInt(truncatingIfNeeded: options)))
    }

    func expression(_ object: ArchivedObject, depth: Int = 0) throws -> ExpressionNode {
        guard depth < Self.depthLimit else { throw Self.error("The expression is nested too deeply.") }
        try budget.spend()
        if object.isKind(of: "NSConstantValueExpression") {
            return .constant(value: try Self.value(try budget.value(try object.object("NSConstantValue"))))
        }
        if object.isKind(of: "NSSelfExpression") { return .evaluatedObject }
        if object.isKind(of: "NSVariableExpression") || object.isKind(of: "NSVariableAssignmentExpression") {
            return .variable(try object.string("NSVariable") ?? "")
        }
        if object.isKind(of: "NSKeyPathSpecifierExpression") {
            return .keyPath(try object.string("NSKeyPath") ?? "")
        }
        if object.isKind(of: "NSFunctionExpression") { return try function(object, depth: depth + 1) }
        if object.isKind(of: "NSAggregateExpression") {
            let elements = try budget.members(object.object("NSCollection")).compactMap { $0 }
            return .aggregate(try elements.map { try expression($0, depth: depth + 1) })
        }
        if object.isKind(of: "NSSubqueryExpression"), let collection = try object.object("NSCollection"),
            let filter = try object.object("NSPredicate")
        {
            return .subquery(
                collection: try expression(collection, depth: depth + 1),
                variable: try object.string("NSVariable") ?? "", predicate: try predicate(filter, depth: depth + 1))
        }
        if object.isKind(of: "NSFetchRequestExpression"), let request = try object.object("NSFRExpression"),
            let context = try object.object("NSMOCExpression")
        {
            return .fetch(
                request: try expression(request, depth: depth + 1), context: try expression(context, depth: depth + 1),
                countOnly: try object.flag("NSCountOnlyFlag"))
        }
        throw Self.error("An expression of class \(object.className ?? "?") is unknown.")
    }

    /// A key path or a function: both are method calls, of `valueForKey:` or of a function of the language.
    private func function(_ object: ArchivedObject, depth: Int) throws -> ExpressionNode {
        guard let operand = try object.object("NSOperand"), let selector = try object.string("NSSelectorName") else {
            throw Self.error("A function has no receiver or selector.")
        }
        let arguments = try budget.members(object.object("NSArguments")).compactMap { $0 }
        if object.isKind(of: "NSKeyPathExpression") || selector.hasPrefix("valueForKey"), arguments.count == 1,
            arguments[0].isKind(of: "NSKeyPathSpecifierExpression")
        {
            let keys = try (arguments[0].string("NSKeyPath") ?? "").split(separator: ".").map(String.init)
            try budget.spend(keys.count)
            return .keyPath(base: try expression(operand, depth: depth), keys: keys)
        }
        let values = try arguments.map { try expression($0, depth: depth) }
        if try operand.string("NSConstantValueClassName") == PredicateArchive.libraryName {
            return .function(selector, arguments: values)
        }
        return .call(receiver: try expression(operand, depth: depth), selector: selector, arguments: values)
    }

    /// A constant as a Foundation value.
    private static func value(_ value: ReadableValue) throws -> Any? {
        switch value {
        case .null: nil
        case .boolean(let value): value
        case .integer(let value): value
        case .unsignedInteger(let value): value
        case .real(let value): value
        case .decimal(let value): value
        case .string(let value): value
        case .data(let value): value
        case .date(let value): value
        case .uuid(let value): value
        case .url(let value): URL(string: value)
        case .array(let values), .orderedSet(let values), .set(let values): try values.map { try Self.value($0) }
        case .dictionary, .object, .ancestor: throw error("A constant in a predicate has an unknown class.")
        }
    }

    private static func error(_ message: String) -> ModelError {
        ModelError(.invalidPredicate, message)
    }
}

/// Names that archives of predicates use.
enum PredicateArchive {
    /// The class whose methods are the functions of the language.
    static let libraryName = "_NSPredicateUtilities"
}
