import Foundation

/// An error of one of this package's modules: its kind, a sentence, and the place to which it refers.
///
/// The domain is the type whose work fails. A module declares its codes, and a name for the type:
///
///     extension GraphCopier: ErrorDomain {}
///     public typealias CopyError = CodedError<GraphCopier>
///
///     extension CopyError.Code {
///         /// A value that must be unique cannot be made unique.
///         public static let notUnique = Self(rawValue: "notUnique")
///     }
public struct CodedError<Domain: ErrorDomain>: Error, Sendable, Hashable {
    /// The kinds of errors of the domain. A struct, so that adding one does not break a `switch`.
    public struct Code: RawRepresentable, Sendable, Hashable {
        /// The name of the kind.
        public let rawValue: String
        /// The kind with a name.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// The kind of error.
    public var code: Code
    /// A description of the error, and of its remedy if there is one, in sentences.
    public var message: String
    /// Where the error is; nil if the error has no single place, or if only the message states it.
    public var place: Domain.Place?
    /// The other errors, if several stopped the work; this error is the first. Not more than the limit of the work.
    package var others: [CodedError<Domain>] = []
    /// The number of other errors, including those that are not kept.
    package var otherCount = 0

    /// Creates an error of a kind, with a sentence and its place.
    public init(_ code: Code, _ message: String, at place: Domain.Place? = nil) {
        self.code = code
        self.message = message
        self.place = place
    }
}

extension CodedError: CustomStringConvertible, LocalizedError {
    public var description: String {
        let text = Domain._description(of: message, at: place)
        return switch max(otherCount, others.count) {
        case 0: text
        case 1: "\(text) One more error was found."
        case let count: "\(text) \(count) more errors were found."
        }
    }
    public var errorDescription: String? { description }
}

/// The errors of a module: what ``CodedError`` requires of them.
public protocol ErrorDomain {
    /// Where an error is: a text such as `Entity.property`, unless a domain has a type of its own for it.
    associatedtype Place: Sendable, Hashable, CustomStringConvertible = String

    /// The text of an error. By default the sentence, followed by the place in parentheses.
    static func _description(of message: String, at place: Place?) -> String
}

extension ErrorDomain {
    public static func _description(of message: String, at place: Place?) -> String {
        place.map { "\(message) (\($0))" } ?? message
    }
}
