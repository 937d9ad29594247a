import Foundation
import KeyedArchives
import PredicateLanguage

extension KeyedArchiveBuilder {
    /// Adds a predicate with the class names of Apple's archives. Throws ``ModelError`` for one that has no archived
    /// form.
    mutating func add(predicate: PredicateNode, depth: Int = 0) throws -> PropertyListValue {
        guard depth < 100 else { throw ModelError(.invalidPredicate, "The predicate is nested too deeply.") }
        switch predicate {
        case .constant(let value):
            let name = value ? "NSTruePredicate" : "NSFalsePredicate"
            return add(classChain: [name, "NSPredicate", "NSObject"], fields: PropertyListDictionary())
        case .comparison(let comparison):
            let right = try add(expression: comparison.right, depth: depth + 1)
            let left = try add(expression: comparison.left, depth: depth + 1)
            let operation = add(operator: comparison)
            return add(
                classChain: ["NSComparisonPredicate", "NSPredicate", "NSObject"],
                fields: PropertyListDictionary([
                    ("NSRightExpression", right), ("NSLeftExpression", left), ("NSPredicateOperator", operation),
                ]))
        case .not(let part): return try add(compound: 0, [part], depth: depth)
        case .and(let parts): return try add(compound: 1, parts, depth: depth)
        case .or(let parts): return try add(compound: 2, parts, depth: depth)
        case .opaque(let predicate):
            throw ModelError(.invalidPredicate, "'\(predicate.predicateFormat)' cannot be stored in a model.")
        }
    }

    private mutating func add(
        compound type: Int64, _ parts: [PredicateNode], depth: Int
    ) throws -> PropertyListValue {
        var references: [PropertyListValue] = []
        for part in parts { references.append(try add(predicate: part, depth: depth + 1)) }
        let subpredicates = add(array: references)
        return add(
            classChain: ["NSCompoundPredicate", "NSPredicate", "NSObject"],
            fields: PropertyListDictionary([
                ("NSCompoundPredicateType", .integer(type)), ("NSSubpredicates", subpredicates),
            ]))
    }

    /// Each family of operators has its own class.
    private mutating func add(operator comparison: ComparisonNode) -> PropertyListValue {
        let number = PropertyListValue.integer(Int64(comparison.operation.number))
        let options = PropertyListValue.integer(Int64(comparison.options.rawValue))
        var fields = PropertyListDictionary([
            ("NSModifier", .integer(Int64(comparison.modifier.rawValue))), ("NSOperatorType", number),
        ])
        let names: [String]
        switch comparison.operation {
        case .lessThan, .lessThanOrEqualTo, .greaterThan, .greaterThanOrEqualTo:
            names = ["NSComparisonPredicateOperator"]
            fields["NSVariant"] = number
            fields["NSOptions"] = options
        case .equalTo, .notEqualTo:
            names = ["NSEqualityPredicateOperator"]
            fields["NSNegate"] = .boolean(comparison.operation == .notEqualTo)
            fields["NSOptions"] = options
        case .in, .contains:
            names = ["NSInPredicateOperator"]
            fields["NSFlags"] = options
        case .like:
            names = ["NSLikePredicateOperator", "NSMatchingPredicateOperator", "NSStringPredicateOperator"]
            fields["NSFlags"] = options
        case .matches:
            names = ["NSMatchingPredicateOperator", "NSStringPredicateOperator"]
            fields["NSFlags"] = options
        case .beginsWith, .endsWith:
            names = ["NSSubstringPredicateOperator", "NSStringPredicateOperator"]
            fields["NSFlags"] = options
            fields["NSPosition"] = .integer(comparison.operation == .beginsWith ? 0 : 1)
        case .between:
            names = ["NSBetweenPredicateOperator"]
        case .customSelector(let selector):
            names = ["NSCustomPredicateOperator"]
            fields["NSSelectorName"] = add(string: selector)
        }
        return add(classChain: names + ["NSPredicateOperator", "NSObject"], fields: fields)
    }

    /// Adds an expression with the class names of Apple's archives. Throws ``ModelError`` for one that has no archived
    /// form.
    mutating func add(expression: ExpressionNode, depth: Int = 0) throws -> PropertyListValue {
        guard depth < 100 else { throw ModelError(.invalidPredicate, "The expression is nested too deeply.") }
        switch expression {
        case .constant(let constant):
            let value = try add(try Self.readable(PredicateValue(constant.value)))
            return addExpression(0, ["NSConstantValueExpression"], [("NSConstantValue", value)])
        case .evaluatedObject:
            return addExpression(1, ["NSSelfExpression"], [])
        case .variable(let name):
            return addExpression(2, ["NSVariableExpression"], [("NSVariable", add(string: name))])
        case .keyPath(let base, let keys):
            return try add(keyPath: keys, base: base, depth: depth)
        case .function(let selector, let arguments):
            let library = addExpression(
                0, ["NSConstantValueExpression"],
                [("NSConstantValueClassName", add(string: PredicateArchive.libraryName))])
            return try add(function: selector, receiver: library, arguments, depth: depth)
        case .call(let receiver, let selector, let arguments):
            let receiver = try add(expression: receiver, depth: depth + 1)
            return try add(function: selector, receiver: receiver, arguments, depth: depth)
        case .aggregate(let elements):
            var references: [PropertyListValue] = []
            for element in elements { references.append(try add(expression: element, depth: depth + 1)) }
            let collection = add(array: references)
            return addExpression(14, ["NSAggregateExpression"], [("NSCollection", collection)])
        case .subquery(let collection, let variable, let predicate):
            let collection = try add(expression: collection, depth: depth + 1)
            let predicate = try add(predicate: predicate, depth: depth + 1)
            return addExpression(
                13, ["NSSubqueryExpression"],
                [("NSCollection", collection), ("NSVariable", add(string: variable)), ("NSPredicate", predicate)])
        case .fetch(let request, let context, let countOnly):
            let request = try add(expression: request, depth: depth + 1)
            let context = try add(expression: context, depth: depth + 1)
            return addExpression(
                50, ["NSFetchRequestExpression"],
                [
                    ("NSFRExpression", request), ("NSMOCExpression", context),
                    ("NSCountOnlyFlag", .boolean(countOnly)),
                ])
        case .element, .setOperation, .conditional, .anyKey, .opaque:
            throw ModelError(
                .invalidPredicate, "'\(expression.predicateFormat)' cannot be stored in a model.")
        }
    }

    /// A key path is a call of `valueForKey:` with the path as its argument.
    private mutating func add(keyPath keys: [String], base: ExpressionNode, depth: Int) throws -> PropertyListValue {
        let operand = try add(expression: base, depth: depth + 1)
        let path = add(string: keys.joined(separator: "."))
        let specifier = addExpression(10, ["NSKeyPathSpecifierExpression"], [("NSKeyPath", path)])
        let arguments = add(array: [specifier], isMutable: true)
        // A path that starts at a variable is written as a function, always with the selector for several keys.
        let beginsAtSelf = base == .evaluatedObject
        let selector = beginsAtSelf && keys.count == 1 ? "valueForKey:" : "valueForKeyPath:"
        return addExpression(
            beginsAtSelf ? 3 : 4, ["NSKeyPathExpression", "NSFunctionExpression"],
            [("NSOperand", operand), ("NSSelectorName", add(string: selector)), ("NSArguments", arguments)])
    }

    private mutating func add(
        function selector: String, receiver: PropertyListValue, _ arguments: [ExpressionNode], depth: Int
    ) throws -> PropertyListValue {
        var references: [PropertyListValue] = []
        for argument in arguments { references.append(try add(expression: argument, depth: depth + 1)) }
        let arguments = add(array: references)
        return addExpression(
            4, ["NSFunctionExpression"],
            [("NSOperand", receiver), ("NSSelectorName", add(string: selector)), ("NSArguments", arguments)])
    }

    private mutating func addExpression(
        _ type: Int64, _ classes: [String], _ fields: [(String, PropertyListValue)]
    ) -> PropertyListValue {
        add(
            classChain: classes + ["NSExpression", "NSObject"],
            fields: PropertyListDictionary([("NSExpressionType", .integer(type))] + fields))
    }

    private static func readable(_ value: PredicateValue) throws -> ReadableValue {
        switch value {
        case .null: .null
        case .bool(let value): .boolean(value)
        case .integer(let value): .integer(value)
        case .double(let value): .real(value)
        case .decimal(let value): .decimal(value)
        case .string(let value): .string(value)
        case .data(let value): .data(value)
        case .date(let value): .date(value)
        case .uuid(let value): .uuid(value)
        case .url(let value): .url(value.absoluteString)
        case .collection(let values, let isOrdered):
            isOrdered ? .array(try values.map { try readable($0) }) : .set(try values.map { try readable($0) })
        case .object, .other:
            throw ModelError(.invalidPredicate, "A constant in a predicate cannot be stored in a model.")
        }
    }
}
