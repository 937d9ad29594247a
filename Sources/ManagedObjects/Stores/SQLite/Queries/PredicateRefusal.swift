import Foundation
import PredicateLanguage

/// Why a part of a query cannot be said in SQL. What is refused is finished in memory.
struct PredicateRefusal: Error, CustomStringConvertible {
    enum Code: String {
        /// A block, a subclass of the user's, a fetch as an expression.
        case opaque
        /// A transient property, a fetched property, the values of a transformable, data that may lie in files.
        case notStored
        /// A to-many relationship where one value is wanted.
        case toMany
        /// Values of kinds that a store does not compare, such as a text and a number.
        case mixedKinds
        /// A function or an operator without counterpart.
        case function
        /// A variable that stands for nothing here.
        case variable
        /// More constants than a statement takes, or a tree that is too deep.
        case tooLarge
    }

    let code: Code
    /// The text of the expression or comparison that is refused.
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
            case .opaque: "asks code"
            case .notStored: "names a value that the store does not keep as such"
            case .toMany: "names many values where one is wanted"
            case .mixedKinds: "compares values of different kinds"
            case .function: "uses an operation that SQL does not have"
            case .variable: "names a variable without a value"
            case .tooLarge: "is too large for a statement"
            }
        return "“\(place)” \(reason), and is evaluated in memory."
    }
}
