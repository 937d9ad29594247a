import Foundation
import PredicateLanguage

/// A value, or how one is found: a constant, a key path, a function, …
///
/// Foundation's class of this name cannot be used here, so this one stands alone.
open class NSExpression: NSObject, NSCopying, NSSecureCoding {
    /// What the expression states.
    internal final let node: ExpressionNode

    private let ownType: ExpressionType

    internal init(stating node: ExpressionNode, type: ExpressionType? = nil) {
        self.node = node
        ownType = type ?? ExpressionType(of: node)
    }

    /// The expression of a node.
    internal static func expression(stating node: ExpressionNode) -> NSExpression {
        if case .opaque(let opaque as FetchExpression) = node { return opaque.expression }
        return NSExpression(stating: node)
    }

    /// An expression of a kind that states nothing else: the evaluated object, or any key. It is a programmer error to
    /// ask for another.
    public convenience init(expressionType type: ExpressionType) {
        switch type {
        case .evaluatedObject: self.init(stating: .evaluatedObject)
        case .anyKey: self.init(stating: .anyKey)
        case .constantValue: self.init(stating: .constant(value: nil))
        default: preconditionFailure("An expression of the type \(type) needs more than its type.")
        }
    }

    // MARK: - Formats

    /// The expression that a format describes, such as `"price * 2"`. It is a programmer error when it cannot be read.
    public convenience init(format expressionFormat: String, _ args: Any?...) {
        self.init(stating: Self.required(expressionFormat, args))
    }

    /// The expression that a format and an array of arguments describe. It is a programmer error when it cannot be read.
    public convenience init(format expressionFormat: String, argumentArray arguments: [Any]) {
        self.init(stating: Self.required(expressionFormat, arguments))
    }

    @available(
        *, unavailable,
        message: "Swift cannot read a C argument list here; pass an array: NSExpression(format:argumentArray:)."
    )
    public convenience init(format expressionFormat: String, arguments argList: CVaListPointer) {
        self.init(stating: .anyKey)
    }

    /// The expression that a format describes, for formats that are not part of the program: an addition to Core Data's
    /// API.
    ///
    /// - Throws: An error whose description says what is wrong and shows the place with a caret.
    public convenience init(parsing expressionFormat: String, arguments: [Any?] = []) throws {
        self.init(
            stating: try PredicateParser.parseExpression(expressionFormat, arguments: NSPredicate.nodes(arguments)))
    }

    private static func required(_ format: String, _ arguments: [Any?]) -> ExpressionNode {
        do {
            return try PredicateParser.parseExpression(format, arguments: NSPredicate.nodes(arguments))
        } catch {
            preconditionFailure("The expression format cannot be read. \(error)")
        }
    }

    // MARK: - Kinds of expressions

    /// A value.
    public convenience init(forConstantValue obj: Any?) { self.init(stating: .constant(value: obj)) }

    /// The object that the predicate is evaluated with.
    open class func expressionForEvaluatedObject() -> NSExpression { NSExpression(stating: .evaluatedObject) }

    /// A variable, by its name without the dollar sign.
    public convenience init(forVariable string: String) { self.init(stating: .variable(string)) }

    /// Keys read one after the other, such as `folder.title`.
    public convenience init(forKeyPath keyPath: String) { self.init(stating: .keyPath(keyPath)) }

    /// A key path of Swift, by the name that ``KeyPathRegistry`` has of it. Without one it is a programmer error.
    public convenience init<Root, Value>(forKeyPath keyPath: KeyPath<Root, Value>) {
        self.init(stating: .keyPath(KeyPathRegistry.requiredName(of: keyPath)))
    }

    /// A function of the language, such as `sum:` or `add:to:`, with expressions or values as its arguments.
    public convenience init(forFunction name: String, arguments parameters: [Any]) {
        self.init(stating: .function(name, arguments: Self.nodes(parameters)))
    }

    /// A method of a value.
    public convenience init(forFunction target: NSExpression, selectorName name: String, arguments parameters: [Any]?) {
        self.init(stating: .call(receiver: target.node, selector: name, arguments: Self.nodes(parameters ?? [])))
    }

    /// A list of expressions or values.
    public convenience init(forAggregate subexpressions: [Any]) {
        self.init(stating: .aggregate(Self.nodes(subexpressions)))
    }

    /// The members of either collection.
    public convenience init(forUnionSet left: NSExpression, with right: NSExpression) {
        self.init(stating: .setOperation(.union, left.node, right.node))
    }

    /// The members of both collections.
    public convenience init(forIntersectSet left: NSExpression, with right: NSExpression) {
        self.init(stating: .setOperation(.intersect, left.node, right.node))
    }

    /// The members of the first collection that the second has not.
    public convenience init(forMinusSet left: NSExpression, with right: NSExpression) {
        self.init(stating: .setOperation(.minus, left.node, right.node))
    }

    /// The elements of a collection that meet a predicate about a variable.
    public convenience init(
        forSubquery expression: NSExpression, usingIteratorVariable variable: String, predicate: NSPredicate
    ) {
        self.init(
            stating: .subquery(collection: expression.node, variable: variable, predicate: predicate.embeddedNode))
    }

    /// One of two expressions, as a predicate decides.
    public convenience init(
        forConditional predicate: NSPredicate, trueExpression: NSExpression, falseExpression: NSExpression
    ) {
        self.init(
            stating: .conditional(predicate.embeddedNode, then: trueExpression.node, otherwise: falseExpression.node))
    }

    /// Any key, as Spotlight's queries have it.
    open class func expressionForAnyKey() -> NSExpression { NSExpression(stating: .anyKey) }

    /// A closure that is given the object, the values of the arguments, and the variables. It cannot become SQL.
    public convenience init(
        block: @escaping (Any?, [Any], NSMutableDictionary?) -> Any, arguments: [NSExpression]?
    ) {
        self.init(stating: .opaque(BlockExpression(block: block, arguments: (arguments ?? []).map(\.node))))
    }

    private static func nodes(_ values: [Any]) -> [ExpressionNode] {
        values.map { ($0 as? NSExpression)?.node ?? .constant(value: $0) }
    }

    /// What kind of expression it is.
    open var expressionType: ExpressionType { ownType }

    // MARK: - Evaluation

    /// The value of the expression for an object; the context holds the values of variables.
    ///
    /// It is a programmer error where Foundation raises an exception. ``value(with:substitutionVariables:)`` throws
    /// instead.
    open func expressionValue(with object: Any?, context: NSMutableDictionary?) -> Any? {
        var variables: [String: Any] = [:]
        for (key, value) in context ?? [:] { if let key = key as? String { variables[key] = value } }
        do {
            return Self.number(try value(with: object, substitutionVariables: variables))
        } catch {
            preconditionFailure("The expression “\(description)” cannot be evaluated: \(error)")
        }
    }

    /// A number as Foundation has it, so that it can be cast to whatever type it fits.
    private static func number(_ value: Any?) -> Any? {
        switch value {
        case let number as NSNumber: number
        case let number as Int64: NSNumber(value: number)
        case let number as Int: NSNumber(value: number)
        case let number as Double: NSNumber(value: number)
        case let flag as Bool: NSNumber(value: flag)
        default: value
        }
    }

    /// The value of the expression for an object: an addition to Core Data's API, for expressions that users type.
    ///
    /// - Throws: An error that says why the expression has no value.
    public final func value(with object: Any?, substitutionVariables: [String: Any] = [:]) throws -> Any? {
        try ExpressionEvaluator(node).value(for: object, variables: substitutionVariables)
    }

    /// Does nothing: every expression may be evaluated here.
    open func allowEvaluation() {}

    // MARK: - Equality and copying

    /// Itself: an expression never changes.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// Two expressions are equal when they state the same.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSExpression else { return false }
        return self === other || node == other.node
    }

    open override var hash: Int { description.hashValue }

    /// The text of the expression in the format language.
    open override var description: String { node.predicateFormat }

    // MARK: - Coding

    public static var supportsSecureCoding: Bool { true }

    /// Reads an expression that ``encode(with:)`` wrote; nil where the archive holds none.
    public required convenience init?(coder: NSCoder) {
        guard let format = PredicateCoding.format(in: coder), let node = try? PredicateParser.parseExpression(format)
        else { return nil }
        self.init(stating: node)
    }

    /// Writes the expression's format into the archive. One that no format describes, such as a closure or a constant
    /// object, fails.
    open func encode(with coder: NSCoder) {
        let format = node.predicateFormat
        guard let read = try? PredicateParser.parseExpression(format), read == node else {
            coder.failWithError(PredicateCoding.unarchivable("The expression “\(format)”"))
            return
        }
        PredicateCoding.encode(format, with: coder)
    }
}

/// A closure as an expression.
internal struct BlockExpression: OpaqueExpression, @unchecked Sendable {  // because the closure is the user's care
    private let identity = NSObject()
    let block: (Any?, [Any], NSMutableDictionary?) -> Any
    let arguments: [ExpressionNode]

    init(block: @escaping (Any?, [Any], NSMutableDictionary?) -> Any, arguments: [ExpressionNode]) {
        self.block = block
        self.arguments = arguments
    }

    var predicateFormat: String { "BLOCK(\(arguments.map(\.predicateFormat).joined(separator: ", ")))" }

    func value(with object: Any?, variables: [String: Any?]) throws -> Any? {
        let values = try arguments.map { argument in
            try ExpressionEvaluator(argument).value(for: object, variables: variables) ?? NSNull()
        }
        let context = NSMutableDictionary()
        for (name, value) in variables { context[name] = value ?? NSNull() }
        return block(object, values, context)
    }

    func isEqual(to other: any OpaqueExpression) -> Bool { (other as? BlockExpression)?.identity === identity }
}
