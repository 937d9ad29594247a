import Foundation
import ManagedObjects
import PredicateLanguage

/// The reason why a part of a query cannot be translated to SQL. That part is evaluated in memory.
struct PredicateRefusal: Error, CustomStringConvertible {
    enum Code: String {
        /// A block, a custom subclass, or a fetch as an expression.
        case opaque
        /// A fetched property, the values of a transformable, or data that may be in files.
        case notStored
        /// A to-many relationship where a single value is required.
        case toMany
        /// Values of kinds that are not comparable in a store, such as a text and a number.
        case mixedKinds
        /// A function or an operator without an SQL equivalent.
        case function
        /// A variable that has no value.
        case variable
        /// More constants than a statement allows, or a tree that is too deep.
        case tooLarge
    }

    let code: Code
    /// The text of the expression or comparison.
    let place: String

    init(_ code: Code, _ expression: ExpressionNode) {
        self.code = code
        place = expression.predicateFormat
    }

    init(_ code: Code, _ predicate: PredicateNode) {
        self.code = code
        place = predicate.predicateFormat
    }

    init(_ code: Code, place: String) {
        self.code = code
        self.place = place
    }

    var description: String {
        let reason =
            switch code {
            case .opaque: "calls code of the program"
            case .notStored: "uses a value that the store does not have in this form"
            case .toMany: "has several values where one is required"
            case .mixedKinds: "compares values of different kinds"
            case .function: "uses an operation that SQL does not have"
            case .variable: "uses a variable without a value"
            case .tooLarge: "is too large for a statement"
            }
        return "“\(place)” \(reason), and is evaluated in memory."
    }
}
