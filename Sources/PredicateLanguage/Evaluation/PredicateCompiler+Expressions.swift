import Foundation

extension PredicateCompiler {
    mutating func compile(_ expression: ExpressionNode) throws -> Read {
        if let value = expression.constantValue { return { _ in value } }
        return try descend { try $0.compileDeeper(expression) }
    }

    private mutating func compileDeeper(_ expression: ExpressionNode) throws -> Read {
        switch expression {
        case .constant(let constant):
            let value = PredicateValue(constant.value)
            return { _ in value }
        case .evaluatedObject: return { $0.subject }
        case .variable(let name): return variable(name)
        case .keyPath(let base, let keys): return try keyPath(base, keys)
        case .element(let base, let index): return try element(base, index)
        case .function(let name, let arguments):
            guard let function = KnownFunction(name: name, argumentCount: arguments.count) else {
                let message = "There is no function “\(name)” of \(arguments.count) arguments."
                throw PredicateEvaluationError(.unknownFunction, message, place: expression.predicateFormat)
            }
            return try compile(function, arguments.map { try compile($0) })
        case .call(let receiver, let selector, let arguments):
            let receiver = try compile(receiver)
            let arguments = try arguments.map { try compile($0) }
            return { scope in
                try MethodCall.value(of: receiver(scope), calling: selector, with: arguments.map { try $0(scope) })
            }
        case .aggregate(let elements):
            let reads = try elements.map { try compile($0) }
            return { scope in .collection(try reads.map { try $0(scope) }, ordered: true) }
        case .subquery(let collection, let variable, let predicate):
            return try subquery(collection, variable, predicate)
        case .setOperation(let operation, let left, let right):
            return try setOperation(operation, compile(left), compile(right))
        case .conditional(let predicate, let then, let otherwise):
            let test = try compile(predicate)
            let then = try compile(then)
            let otherwise = try compile(otherwise)
            return { try test($0) ? then($0) : otherwise($0) }
        case .fetch(let request, let context, let countOnly):
            return fetch(try compile(request), try compile(context), countOnly, expression)
        case .anyKey:
            throw PredicateEvaluationError(.unknownKey, "ANYKEY cannot be evaluated in memory.")
        case .opaque(let expression):
            return { PredicateValue(try expression.value(with: $0.subject.value, variables: $0.plainVariables)) }
        }
    }

    private func fetch(
        _ request: @escaping Read, _ context: @escaping Read, _ countOnly: Bool, _ expression: ExpressionNode
    ) -> Read {
        return { scope in
            guard let context = try context(scope).value as? any FetchingContext else {
                throw PredicateEvaluationError(
                    .typeMismatch, "A fetch expression needs a context as its second argument.",
                    place: expression.predicateFormat)
            }
            return PredicateValue(try context.predicateValue(ofRequest: request(scope).value, countOnly: countOnly))
        }
    }

    private func variable(_ name: String) -> Read {
        return { scope in
            guard let value = scope.variables[name] else {
                throw PredicateEvaluationError(.unboundVariable, "The variable $\(name) has no value.")
            }
            return PredicateValue(value)
        }
    }

    private mutating func keyPath(_ base: ExpressionNode, _ keys: [String]) throws -> Read {
        // Each collection operator reads the rest of the path recursively.
        if keys.count > PredicateEvaluator.depthLimit {
            throw PredicateEvaluationError(
                .tooDeep, "The key path has more than \(PredicateEvaluator.depthLimit) keys.")
        }
        if keys.count == 1, let key = keys.first, !key.hasPrefix("@") {
            if case .evaluatedObject = base {
                let isItself = KeyReading.isItself(key)
                return { scope in
                    // The most frequent expression by far.
                    guard !isItself, case .object(let subject) = scope.subject else {
                        return try KeyReading.value(of: scope.subject, forKey: key)
                    }
                    return try subject.comparableValue(forKey: key)
                }
            }
            let read = try compile(base)
            return { try KeyReading.value(of: read($0), forKey: key) }
        }
        let read = try compile(base)
        return { try KeyReading.value(of: read($0), at: keys[...]) }
    }

    // MARK: - Collections

    private mutating func subquery(
        _ collection: ExpressionNode, _ variable: String, _ predicate: PredicateNode
    ) throws -> Read {
        let read = try compile(collection)
        let test = try compile(predicate)
        return { scope in
            let collection = try read(scope)
            var inner = scope
            let elements = try KeyReading.elements(of: collection, for: "SUBQUERY").filter { element in
                inner.variables[variable] = .some(element)
                return try test(inner)
            }
            if case .collection(_, let ordered) = collection { return .collection(elements, ordered: ordered) }
            return .collection(elements, ordered: true)
        }
    }

    private func setOperation(_ operation: SetOperation, _ left: @escaping Read, _ right: @escaping Read) -> Read {
        return { scope in
            let first = Statistics.distinct(try KeyReading.elements(of: left(scope), for: operation.rawValue))
            let second = try KeyReading.elements(of: right(scope), for: operation.rawValue)
            let lookup = Set(second)
            let result =
                switch operation {
                case .union: Statistics.distinct(first + second)
                case .intersect: first.filter(lookup.contains)
                case .minus: first.filter { !lookup.contains($0) }
                }
            return .collection(result, ordered: false)
        }
    }

    private mutating func element(_ base: ExpressionNode, _ index: CollectionIndex) throws -> Read {
        let read = try compile(base)
        switch index {
        case .first: return { try KeyReading.elements(of: read($0), for: "[FIRST]").first ?? .null }
        case .last: return { try KeyReading.elements(of: read($0), for: "[LAST]").last ?? .null }
        case .size: return { try KeyReading.count(of: read($0)) }
        case .at(let expression):
            let index = try compile(expression)
            return { try PredicateCompiler.element(of: read($0), at: index($0)) }
        }
    }

    private static func element(of value: PredicateValue, at index: PredicateValue) throws -> PredicateValue {
        switch (value, index) {
        case (.null, _): return .null
        case (.object(let subject), .string(let key)): return try subject.comparableValue(forKey: key)
        case (.collection(let elements, _), .integer(let index)):
            if let index = Int(exactly: index), elements.indices.contains(index) { return elements[index] }
            throw PredicateEvaluationError(.typeMismatch, "There is no element \(index) of \(elements.count).")
        default:
            throw PredicateEvaluationError(.typeMismatch, "\(index.kind) is not an index of \(value.kind).")
        }
    }

    // MARK: - Functions

    private func compile(_ function: KnownFunction, _ arguments: [Read]) throws -> Read {
        guard let first = arguments.first else {
            return function == .random ? { _ in .double(.random(in: 0..<1)) } : { _ in .date(Date()) }
        }
        if function.takesCollection { return collectionFunction(function, arguments) }
        guard arguments.count > 1 else { return try numberFunction(function, first) ?? stringFunction(function, first) }
        let second = arguments[1]
        switch function {
        case .cast:
            return { scope in
                guard case .string(let type) = try second(scope) else {
                    throw PredicateEvaluationError(.typeMismatch, "CAST needs the name of a type.")
                }
                return try ValueCast.value(first(scope), as: type)
            }
        case .element: return { try PredicateCompiler.element(of: first($0), at: second($0)) }
        // `indexed:` is a hint for stores.
        case .indexed: return first
        case .distance:
            throw PredicateEvaluationError(.unknownFunction, "distanceToLocation:fromLocation: is not implemented.")
        default: return { try Arithmetic.apply(function, first($0), second($0)) }
        }
    }

    private func collectionFunction(_ function: KnownFunction, _ arguments: [Read]) -> Read {
        let elements: (EvaluationScope) throws -> [PredicateValue] = { scope in
            if arguments.count > 1 { return try arguments.map { try $0(scope) } }
            return try KeyReading.elements(of: arguments[0](scope), for: function.rawValue)
        }
        switch function {
        case .sum: return { try Statistics.sum(elements($0)) }
        case .min: return { try Statistics.minimum(elements($0)) }
        case .max: return { try Statistics.maximum(elements($0)) }
        case .average: return { try Statistics.average(elements($0)) }
        case .median: return { try Statistics.median(elements($0)) }
        case .mode: return { Statistics.mode(try elements($0)) }
        case .standardDeviation: return { try Statistics.standardDeviation(elements($0)) }
        case .distinct: return { .collection(Statistics.distinct(try elements($0)), ordered: true) }
        default: return { .integer(Int64(try elements($0).count)) }
        }
    }

    /// A function of one number; nil for any other function. The function of nil is nil.
    private func numberFunction(_ function: KnownFunction, _ read: @escaping Read) throws -> Read? {
        let calculate: (Double) -> Double
        switch function {
        case .floor: return { try Arithmetic.rounded(read($0), .down, .down) }
        case .ceiling: return { try Arithmetic.rounded(read($0), .up, .up) }
        case .truncate: return { try Arithmetic.truncated(read($0)) }
        case .changeSign: return { Arithmetic.negated(try Arithmetic.checked(read($0))) }
        case .absolute: return { try Arithmetic.absolute(read($0)) }
        case .onesComplement: return { try Arithmetic.apply(.bitwiseXor, read($0), .integer(-1)) }
        case .randomBelow: return { try Arithmetic.random(below: read($0)) }
        case .squareRoot: calculate = { $0.squareRoot() }
        case .logarithm: calculate = { log10($0) }
        case .naturalLogarithm: calculate = { log($0) }
        case .exponential: calculate = { exp($0) }
        default: return nil
        }
        return { scope in
            let value = try read(scope)
            return value.isNull ? .null : .double(calculate(try Arithmetic.double(value)))
        }
    }

    private func stringFunction(_ function: KnownFunction, _ read: @escaping Read) -> Read {
        let change: (String) -> PredicateValue
        switch function {
        case .uppercase: change = { .string($0.uppercased()) }
        case .lowercase: change = { .string($0.lowercased()) }
        case .canonical: change = { .string(StringFolding.canonical($0)) }
        case .length: change = { .integer(Int64($0.utf16.count)) }
        default: return read
        }
        return { scope in
            switch try read(scope) {
            case .null: return .null
            case .string(let text): return change(text)
            case let value:
                throw PredicateEvaluationError(
                    .typeMismatch, "\(function.rawValue) needs a string, found \(value.kind).")
            }
        }
    }
}
