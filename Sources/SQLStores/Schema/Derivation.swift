import PredicateLanguage
import SQLStatements

/// The forms of derived attributes that the store can compute.
package enum Derivation: Equatable, Sendable {
    /// The number of members of a to-many relationship.
    case count(relationship: String)
    /// The sum of an attribute over the members of a to-many relationship.
    case sum(relationship: String, attribute: String)
    /// An attribute of the object that a to-one relationship refers to.
    case related(relationship: String, attribute: String)
    /// A text attribute of a to-one relationship's object, without case and diacritics or in another case.
    case relatedText(PredicateFunctions.Name, relationship: String, attribute: String)
    /// Another attribute of the same object.
    case copy(attribute: String)
    /// Another attribute without case and diacritics.
    case canonical(attribute: String)
    case uppercase(attribute: String)
    case lowercase(attribute: String)
    /// The time of the save.
    case now

    /// Nil for a derivation of an unknown form.
    init?(_ node: ExpressionNode) {
        switch node {
        case .keyPath(base: .evaluatedObject, let keys): self.init(keys: keys)
        case .function("now", _): self = .now
        case .function(let name, let arguments):
            guard arguments.count == 1, case .keyPath(base: .evaluatedObject, let keys) = arguments[0] else {
                return nil
            }
            switch (name, keys.count) {
            case ("count:", 1): self = .count(relationship: keys[0])
            case ("sum:", 2): self = .sum(relationship: keys[0], attribute: keys[1])
            case ("canonical:", 1): self = .canonical(attribute: keys[0])
            case ("uppercase:", 1): self = .uppercase(attribute: keys[0])
            case ("lowercase:", 1): self = .lowercase(attribute: keys[0])
            case ("canonical:", 2): self = .relatedText(.canonical, relationship: keys[0], attribute: keys[1])
            case ("uppercase:", 2): self = .relatedText(.uppercase, relationship: keys[0], attribute: keys[1])
            case ("lowercase:", 2): self = .relatedText(.lowercase, relationship: keys[0], attribute: keys[1])
            default: return nil
            }
        default: return nil
        }
    }

    /// The function that is applied to the source text; nil if there is none.
    var textFunction: PredicateFunctions.Name? {
        switch self {
        case .canonical: .canonical
        case .uppercase: .uppercase
        case .lowercase: .lowercase
        case .relatedText(let function, _, _): function
        default: nil
        }
    }

    private init?(keys: [String]) {
        switch keys.count {
        case 1: self = .copy(attribute: keys[0])
        case 2 where keys[1] == "@count": self = .count(relationship: keys[0])
        case 2 where !keys[1].hasPrefix("@"): self = .related(relationship: keys[0], attribute: keys[1])
        case 3 where keys[1] == "@sum": self = .sum(relationship: keys[0], attribute: keys[2])
        case 3 where keys[2] == "@sum": self = .sum(relationship: keys[0], attribute: keys[1])
        default: return nil
        }
    }

    /// Whether the value depends only on the object's own attributes, so that it is computed when the row is written.
    /// Triggers maintain the others.
    var isOwn: Bool {
        switch self {
        case .copy, .canonical, .uppercase, .lowercase, .now: true
        case .count, .sum, .related, .relatedText: false
        }
    }
}
