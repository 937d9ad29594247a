import Foundation

/// The methods that `FUNCTION(receiver, "selector", …)` and custom selectors may call on plain values. Objects
/// implement their methods through ``PredicateSubject``, and a program registers its own: ``RegisteredMethods``.
enum MethodCall {
    /// The result of a call. A method without arguments is a key.
    static func value(
        of receiver: PredicateValue, calling selector: String, with arguments: [PredicateValue]
    ) throws -> PredicateValue {
        if receiver.isNull { return .null }
        if let method = RegisteredMethods[selector], let value = receiver.value {
            return PredicateValue(try method(value, arguments.map(\.value)))
        }
        switch (selector, arguments.first) {
        case ("isEqual:", let other?), ("isEqualTo:", let other?): return .bool(receiver == other)
        case ("valueForKey:", .string(let key)): return try KeyReading.value(of: receiver, forKey: key)
        case ("valueForKeyPath:", .string(let path)):
            return try KeyReading.value(of: receiver, at: path.split(separator: ".").map(String.init)[...])
        default: break
        }
        if case .object(let subject) = receiver {
            return PredicateValue(try subject.predicateValue(calling: selector, with: arguments.map(\.value)))
        }
        if arguments.isEmpty { return try KeyReading.value(of: receiver, forKey: selector) }
        guard let result = builtIn(receiver, selector, arguments[0]) else {
            throw PredicateEvaluationError(.unknownFunction, "There is no method \(selector) for \(receiver.kind).")
        }
        return result
    }

    private static func builtIn(
        _ receiver: PredicateValue, _ selector: String, _ argument: PredicateValue
    ) -> PredicateValue? {
        switch (receiver, selector, argument) {
        case (.string(let text), "hasPrefix:", .string(let other)): .bool(text.hasPrefix(other))
        case (.string(let text), "hasSuffix:", .string(let other)): .bool(text.hasSuffix(other))
        case (.string(let text), "isEqualToString:", .string(let other)): .bool(text == other)
        case (.string(let text), "containsString:", .string(let other)):
            .bool(TextSearch(other, at: .anywhere).isFound(in: text))
        case (.string(let text), "stringByAppendingString:", .string(let other)): .string(text + other)
        case (.date(let date), "timeIntervalSinceDate:", .date(let other)): .double(date.timeIntervalSince(other))
        case (.date(let date), "dateByAddingTimeInterval:", _):
            (try? Arithmetic.double(argument)).map { .date(date.addingTimeInterval($0)) }
        case (.collection(let elements, _), "containsObject:", _): .bool(elements.contains(argument))
        case (_, "compare:", _): comparison(PredicateValue.order(receiver, argument))
        default: nil
        }
    }

    private static func comparison(_ order: Order?) -> PredicateValue? {
        switch order {
        case .ascending: .integer(-1)
        case .same: .integer(0)
        case .descending: .integer(1)
        case .unordered, nil: nil
        }
    }
}

/// The methods of a program that `FUNCTION(receiver, "selector", …)` and custom selectors call: without Objective-C's runtime a
/// method cannot be found by its selector.
package enum RegisteredMethods {
    /// Receives the receiver and the arguments.
    package typealias Method = @Sendable (_ receiver: Any, _ arguments: [Any?]) throws -> Any?

    private static let methods = LockedMethods()

    /// Sets the method of a selector, for receivers of all types.
    package static func register(_ selector: String, _ method: @escaping Method) { methods[selector] = method }

    static subscript(_ selector: String) -> Method? { methods[selector] }
}

private final class LockedMethods: @unchecked Sendable {  // because a lock guards the dictionary
    private let lock = NSLock()
    private var methods: [String: RegisteredMethods.Method] = [:]

    subscript(_ selector: String) -> RegisteredMethods.Method? {
        get { lock.withLock { methods[selector] } }
        set { lock.withLock { methods[selector] = newValue } }
    }
}
