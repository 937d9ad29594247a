import Foundation
import PredicateLanguage

/// A condition that an object meets or does not meet.
///
/// `NSPredicate(format:)` gives an `NSComparisonPredicate` or an `NSCompoundPredicate` where the format is one. Foundation's
/// own class is the superclass, so that Foundation's methods take a predicate of this one.
open class NSPredicate: Foundation.NSPredicate, NSSecureCoding, SelfReplacing {
    /// What the predicate states.
    internal final let node: PredicateNode

    private let evaluation: PredicateEvaluation

    internal init(stating node: PredicateNode) {
        self.node = node
        evaluation = PredicateEvaluation(of: node)
        super.init(value: true)
    }

    /// A predicate that is always true, or always false.
    public override convenience init(value: Bool) {
        self.init(stating: .constant(value))
    }

    /// A predicate that asks a closure, with the object and the substitution variables. It cannot become SQL: a fetch
    /// from an SQLite store with it fails.
    public override convenience init(block: @escaping (Any?, [String: Any]?) -> Bool) {
        self.init(stating: .opaque(BlockPredicate(block: block)))
    }

    // MARK: - Formats

    /// The predicate that a format describes.
    ///
    /// It is a programmer error when the format cannot be read; the message shows where. For formats that users type,
    /// take ``init(parsing:arguments:)``.
    ///
    /// - Parameters:
    ///   - predicateFormat: Such as `"title BEGINSWITH[cd] %@ AND rating > %d"`.
    ///   - args: The values of `%@`, `%K`, `%d`, … in their order.
    public convenience init(format predicateFormat: String, _ args: Any?...) {
        self.init(replacedBy: { Self.made(from: Self.required(predicateFormat, args)) })
    }

    /// The predicate that a format and an array of arguments describe.
    ///
    /// It is a programmer error when the format cannot be read; the message shows where.
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

    /// The predicate that a format describes, for formats that are not part of the program: an addition to Core Data's
    /// API.
    ///
    /// - Throws: An error whose description says what is wrong and shows the place with a caret.
    public convenience init(parsing predicateFormat: String, arguments: [Any?] = []) throws {
        let node = try PredicateParser.parse(predicateFormat, arguments: Self.nodes(arguments))
        self.init(replacedBy: { Self.made(from: node) })
    }

    /// Predicates and expressions among arguments stand for what they state.
    internal static func nodes(_ arguments: [Any?]) -> [Any?] {
        arguments.map { argument in
            switch argument {
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
            preconditionFailure("The predicate format cannot be read. \(error)")
        }
    }

    /// The predicate of a node, of the class that fits it.
    internal static func predicate(stating node: PredicateNode) -> NSPredicate {
        switch node {
        case .comparison(let comparison): NSComparisonPredicate(comparison)
        case .and, .or, .not: NSCompoundPredicate(stating: node)
        case .opaque(let opaque as PredicateObject): opaque.predicate
        case .constant, .opaque: NSPredicate(stating: node)
        }
    }

    private static func made(from node: PredicateNode) -> Self {
        guard let predicate = predicate(stating: node) as? Self else {
            preconditionFailure("The format describes no \(Self.self).")
        }
        return predicate
    }

    // MARK: - What it states

    /// The format that describes the predicate.
    open override var predicateFormat: String { node.predicateFormat }

    /// The predicate with its variables replaced; those without a value stay.
    open func withSubstitutionVariables(_ variables: [String: Any]) -> Self {
        let replaced = node.substituting(variables)
        return NSPredicate.predicate(stating: replaced) as? Self ?? self
    }

    // MARK: - Evaluation

    /// Whether the object meets the condition.
    ///
    /// It is a programmer error where Foundation raises an exception: an object without a key of the predicate, values
    /// that cannot be compared. ``evaluation(with:substitutionVariables:)`` throws instead.
    open override func evaluate(with object: Any?) -> Bool {
        evaluate(with: object, substitutionVariables: nil)
    }

    /// Whether the object meets the condition, variables standing for the given values.
    open override func evaluate(with object: Any?, substitutionVariables bindings: [String: Any]?) -> Bool {
        do {
            return try evaluation(with: object, substitutionVariables: bindings)
        } catch {
            preconditionFailure("The predicate “\(predicateFormat)” cannot be evaluated: \(error)")
        }
    }

    /// Whether the object meets the condition: an addition to Core Data's API, for predicates that users type.
    ///
    /// - Throws: An error that says why the predicate has no value for the object.
    public final func evaluation(with object: Any?, substitutionVariables bindings: [String: Any]? = nil) throws -> Bool
    {
        try evaluation.evaluator().evaluate(object, variables: bindings ?? [:])
    }

    /// Does nothing: every predicate may be evaluated here, as archives are not trusted more than other input.
    open func allowEvaluation() {}

    // MARK: - Equality and copying

    /// Itself: a predicate never changes.
    open override func copy(with zone: NSZone? = nil) -> Any { self }

    open override func copy() -> Any { self }

    /// Two predicates are equal when they state the same.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSPredicate else { return false }
        return self === other || node == other.node
    }

    open override var hash: Int { predicateFormat.hashValue }

    open override var description: String { predicateFormat }

    // MARK: - Coding

    public static var supportsSecureCoding: Bool { true }

    /// Reads a predicate that ``encode(with:)`` wrote; nil where the archive holds none.
    public required convenience init?(coder: NSCoder) {
        guard let format = PredicateCoding.format(in: coder), let node = try? PredicateParser.parse(format) else {
            return nil
        }
        self.init(replacedBy: { Self.predicate(stating: node) as? Self })
    }

    /// Writes the predicate's format into the archive. One that no format describes, such as a closure or a constant
    /// object, fails.
    open func encode(with coder: NSCoder) {
        guard let read = try? PredicateParser.parse(predicateFormat), read == node else {
            coder.failWithError(PredicateCoding.unarchivable("The predicate “\(predicateFormat)”"))
            return
        }
        PredicateCoding.encode(predicateFormat, with: coder)
    }
}
