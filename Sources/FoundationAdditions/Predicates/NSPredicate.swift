import Foundation
import PredicateLanguage

/// A condition on an object.
///
/// `NSPredicate(format:)` creates an `NSComparisonPredicate` or an `NSCompoundPredicate`, depending on the format.
/// Foundation's class is the superclass, so that Foundation's methods accept a predicate of this class.
open class NSPredicate: Foundation.NSPredicate, NSSecureCoding, SelfReplacing {
    /// The content of the predicate.
    package final let node: PredicateNode

    private let evaluation: PredicateEvaluation

    internal init(stating node: PredicateNode) {
        self.node = node
        evaluation = PredicateEvaluation(of: node)
        super.init(value: true)
    }

    /// A predicate that is always true, for subclasses that override the evaluation.
    public init() {
        node = .constant(true)
        evaluation = PredicateEvaluation(of: node)
        super.init(value: true)
    }

    /// A predicate that is always true, or always false.
    public override init(value: Bool) {
        node = .constant(value)
        evaluation = PredicateEvaluation(of: node)
        super.init(value: value)
    }

    /// Creates a predicate with a closure, which takes the object and the substitution variables. It cannot be
    /// translated to SQL: a fetch from an SQLite store with it fails.
    public override init(block: @escaping (Any?, [String: Any]?) -> Bool) {
        node = .opaque(BlockPredicate(block: block))
        evaluation = PredicateEvaluation(of: node)
        super.init(value: true)
    }

    // MARK: - Formats

    /// Creates a predicate from a format.
    ///
    /// An invalid format is a programmer error; the message shows the position. For formats from user input, use
    /// ``init(parsing:arguments:)``.
    ///
    /// - Parameters:
    ///   - predicateFormat: Such as `"title BEGINSWITH[cd] %@ AND rating > %d"`.
    ///   - args: The values of `%@`, `%K`, `%d`, … in their order.
    public convenience init(format predicateFormat: String, _ args: Any?...) {
        self.init(replacedBy: { Self.made(from: Self.required(predicateFormat, args)) })
    }

    /// Creates a predicate from a format and an array of arguments.
    ///
    /// An invalid format is a programmer error; the message shows the position.
    public convenience init(format predicateFormat: String, argumentArray arguments: [Any]?) {
        self.init(replacedBy: { Self.made(from: Self.required(predicateFormat, arguments ?? [])) })
    }

    @available(
        *, unavailable,
        message: "Swift cannot read a C argument list here; pass an array: NSPredicate(format:argumentArray:)."
    )
    public convenience init(format predicateFormat: String, arguments argList: CVaListPointer) {
        self.init(value: false)
    }

    /// Creates a predicate from a format that is not part of the program: an addition to Core Data's API.
    ///
    /// - Throws: An error whose description explains the syntax error and marks its position with a caret.
    public convenience init(parsing predicateFormat: String, arguments: [Any?] = []) throws {
        let node = try PredicateParser.parse(predicateFormat, arguments: Self.nodes(arguments))
        self.init(replacedBy: { Self.made(from: node) })
    }

    /// Replaces predicates and expressions among arguments by their contents.
    internal static func nodes(_ arguments: [Any?]) -> [Any?] {
        arguments.map { argument in
            // A cast of another value to a class would create an object first: of an array, one with all its elements.
            guard let value = PredicateValue.unwrap(argument), type(of: value) is AnyClass else { return argument }
            return switch value {
            case let predicate as NSPredicate: predicate.node
            case let expression as NSExpression: expression.node
            default: argument
            }
        }
    }

    private static func required(_ format: String, _ arguments: [Any?]) -> PredicateNode {
        do {
            return try PredicateParser.parse(format, arguments: nodes(arguments))
        } catch {
            preconditionFailure("The predicate format is invalid. \(error)")
        }
    }

    /// The predicate of a node, of the matching class.
    package static func predicate(stating node: PredicateNode) -> NSPredicate {
        switch node {
        case .comparison(let comparison): NSComparisonPredicate(comparison)
        case .and, .or, .not: NSCompoundPredicate(stating: node)
        case .opaque(let opaque as PredicateObject): opaque.predicate
        case .constant, .opaque: NSPredicate(stating: node)
        }
    }

    private static func made(from node: PredicateNode) -> Self {
        guard let predicate = predicate(stating: node) as? Self else {
            preconditionFailure("The format does not describe a \(Self.self).")
        }
        return predicate
    }

    // MARK: - Content

    /// The predicate's format.
    open override var predicateFormat: String { node.shortFormat }

    /// The predicate with variables replaced; variables without a value are kept.
    open func withSubstitutionVariables(_ variables: [String: Any]) -> Self {
        let replaced = node.substituting(variables)
        return NSPredicate.predicate(stating: replaced) as? Self ?? self
    }

    // MARK: - Evaluation

    /// Whether the predicate holds for the object.
    ///
    /// An error is a programmer error where Foundation raises an exception: an object without a key of the predicate,
    /// values that cannot be compared. ``evaluation(with:substitutionVariables:)`` throws instead. A predicate that calls a method
    /// which is not known here, see ``NSExpression/setFunction(_:_:)``, does not hold, and a message is printed on standard error.
    open override func evaluate(with object: Any?) -> Bool {
        evaluate(with: object, substitutionVariables: nil)
    }

    /// Whether the predicate holds for the object, with values of variables.
    open override func evaluate(with object: Any?, substitutionVariables bindings: [String: Any]?) -> Bool {
        do {
            return try evaluation.evaluator().evaluate(object, variables: bindings ?? [:])
        } catch {
            UnknownMethod.report(error, in: "predicate “\(predicateFormat)”")
            return false
        }
    }

    /// Whether the predicate holds for the object: an addition to Core Data's API, for predicates from user input, from
    /// models and from stores. A predicate of a program's own class is evaluated by that class's method.
    ///
    /// - Throws: An error that explains why the predicate cannot be evaluated for the object.
    public final func evaluation(with object: Any?, substitutionVariables bindings: [String: Any]? = nil) throws -> Bool
    {
        guard isOfFramework else { return evaluate(with: object, substitutionVariables: bindings) }
        return try evaluation.evaluator().evaluate(object, variables: bindings ?? [:])
    }

    /// The same for an object whose type is known, without casts.
    package final func holds(for object: any PredicateSubject) throws -> Bool {
        guard isOfFramework else { return evaluate(with: object, substitutionVariables: nil) }
        return try evaluation.evaluator().evaluate(object)
    }

    /// Does nothing: the evaluation of decoded predicates is always allowed, because archives contain only a format,
    /// which is validated like any input.
    open func allowEvaluation() {}

    // MARK: - Equality and copying

    /// Returns itself: a predicate is immutable.
    open override func copy(with zone: NSZone? = nil) -> Any { self }

    open override func copy() -> Any { self }

    /// Two predicates are equal when their contents are equal.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSPredicate else { return false }
        return self === other || node == other.node
    }

    // Nil and `NSNull` are equal, and their texts differ.
    open override var hash: Int { node.predicateFormat.replacingOccurrences(of: "<null>", with: "nil").hashValue }

    open override var description: String { predicateFormat }

    // MARK: - Coding

    public static var supportsSecureCoding: Bool { true }

    /// Reads a predicate written by ``encode(with:)``; nil if the archive contains none.
    public required init?(coder: NSCoder) {
        guard let format = PredicateCoding.format(in: coder), let node = try? PredicateParser.parse(format) else {
            return nil
        }
        self.node = node
        evaluation = PredicateEvaluation(of: node)
        super.init(value: true)
    }

    /// Encodes the predicate's format. Fails for a predicate that has none, such as a closure or a constant object.
    open func encode(with coder: NSCoder) {
        let format = node.exactFormat
        guard let read = try? PredicateParser.parse(format), read == node else {
            coder.failWithError(PredicateCoding.unarchivable("The predicate “\(format)”"))
            return
        }
        PredicateCoding.encode(format, with: coder)
    }
}

/// Lets an initialiser return an object of a subclass, as Core Data's factory methods do: `NSPredicate(format:)`
/// returns a comparison or a compound predicate. Swift allows that only in an extension of a protocol.
internal protocol SelfReplacing {}

extension SelfReplacing {
    /// Initialises `self` with the object that the closure creates.
    init(replacedBy make: () -> Self) { self = make() }

    /// The same; nil fails the initialisation.
    init?(replacedBy make: () -> Self?) {
        guard let made = make() else { return nil }
        self = made
    }
}

/// Coding of predicates and expressions in keyed archives, as the text of their format.
internal enum PredicateCoding {
    private static let key = "Format"

    /// The format in an archive.
    static func format(in coder: NSCoder) -> String? {
        coder.decodeObject(of: NSString.self, forKey: key).map { String(describing: $0) }
    }

    static func encode(_ format: String, with coder: NSCoder) {
        coder.encode(NSString(string: format), forKey: key)
    }

    /// The error for an object that cannot be archived.
    static func unarchivable(_ subject: String) -> CocoaError {
        CocoaError(
            .coderInvalidValue, userInfo: [NSLocalizedDescriptionKey: "\(subject) cannot be archived."])
    }
}
