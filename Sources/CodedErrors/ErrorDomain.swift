/// The errors of a module: what ``CodedError`` requires of them.
public protocol ErrorDomain: Sendable {
    /// Where an error is: a text such as `Entity.property`, unless a domain has a type of its own for it.
    associatedtype Place: Sendable, Hashable, CustomStringConvertible = String

    /// The text of an error. By default the sentence, followed by the place in parentheses.
    static func description(of message: String, at place: Place?) -> String
}

extension ErrorDomain {
    public static func description(of message: String, at place: Place?) -> String {
        place.map { "\(message) (\($0))" } ?? message
    }
}
