import Foundation
import PredicateLanguage

/// A value, or a computation of one: a constant, a key path, a function, …
///
/// Foundation's class of this name is not open here, so this class does not inherit from it.
open class NSExpression: NSObject, NSCopying, NSSecureCoding, SelfReplacing {
    /// The content of the expression.
    package final let node: ExpressionNode

    private let ownType: ExpressionType

    package init(stating node: ExpressionNode, type: ExpressionType? = nil) {
        self.node = node
        ownType = type ?? ExpressionType(of: node)
    }

    /// The expression of a node.
    package static func expression(stating node: ExpressionNode) -> NSExpression {
        NSFetchRequestExpression(node) ?? NSExpression(stating: node)
    }

    /// Creates an expression that consists of its kind only: the evaluated object, or any key. Passing another kind is
    /// a programmer error.
    public init(expressionType type: ExpressionType) {
        ownType = type
        switch type {
        case .evaluatedObject: node = .evaluatedObject
        case .anyKey: node = .anyKey
        case .constantValue: node = .constant(value: nil)
        default: preconditionFailure("An expression of the type \(type) cannot be created from its type alone.")
        }
    }

    // MARK: - Formats

    /// Creates an expression from a format, such as `"price * 2"`; of `FETCH(…)` an ``NSFetchRequestExpression``. An invalid format is a
    /// programmer error.
    public convenience init(format expressionFormat: String, _ args: Any?...) {
        self.init(replacedBy: { Self.made(from: Self.required(expressionFormat, args)) })
    }

    /// Creates an expression from a format and an array of arguments. An invalid format is a programmer error.
    public convenience init(format expressionFormat: String, argumentArray arguments: [Any]) {
        self.init(replacedBy: { Self.made(from: Self.required(expressionFormat, arguments)) })
    }

    @available(
        *, unavailable,
        message: "Swift cannot read a C argument list here; pass an array: NSExpression(format:argumentArray:)."
    )
    public convenience init(format expressionFormat: String, arguments argList: CVaListPointer) {
        self.init(stating: .anyKey)
    }

    /// Creates an expression from a format that is not part of the program: an addition to Core Data's API.
    ///
    /// - Throws: An error whose description explains the syntax error and marks its position with a caret.
    public convenience init(parsing expressionFormat: String, arguments: [Any?] = []) throws {
        let node = try PredicateParser.parseExpression(expressionFormat, arguments: NSPredicate.nodes(arguments))
        self.init(replacedBy: { Self.made(from: node) })
    }

    private static func made(from node: ExpressionNode) -> Self {
        guard let expression = expression(stating: node) as? Self else {
            preconditionFailure("The format does not describe a \(Self.self).")
        }
        return expression
    }

    private static func required(_ format: String, _ arguments: [Any?]) -> ExpressionNode {
        do {
            return try PredicateParser.parseExpression(format, arguments: NSPredicate.nodes(arguments))
        } catch {
            preconditionFailure("The expression format is invalid. \(error)")
        }
    }

    // MARK: - Kinds of expressions

    /// A constant.
    public convenience init(forConstantValue obj: Any?) { self.init(stating: .constant(value: obj)) }

    /// The object for which the predicate is evaluated.
    open class func expressionForEvaluatedObject() -> NSExpression { NSExpression(stating: .evaluatedObject) }

    /// A variable, by its name without the dollar sign.
    public convenience init(forVariable string: String) { self.init(stating: .variable(string)) }

    /// Keys read one after the other, such as `folder.title`, or those of a variable: `$item.price` in the predicate of a subquery.
    public convenience init(forKeyPath keyPath: String) { self.init(stating: Self.node(ofKeyPath: keyPath)) }

    private static func node(ofKeyPath text: String) -> ExpressionNode {
        guard text.hasPrefix("$") else { return .keyPath(text) }
        let keys = text.dropFirst().split(separator: ".").map(String.init)
        guard let variable = keys.first, text.dropFirst().hasPrefix(variable) else { return .keyPath(text) }
        return keys.count == 1
            ? .variable(variable) : .keyPath(base: .variable(variable), keys: Array(keys.dropFirst()))
    }

    /// A Swift key path, by its name in ``KeyPathRegistry``. A key path without a name is a programmer error.
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

    /// The union of two collections.
    public convenience init(forUnionSet left: NSExpression, with right: NSExpression) {
        self.init(stating: .setOperation(.union, left.node, right.node))
    }

    /// The intersection of two collections.
    public convenience init(forIntersectSet left: NSExpression, with right: NSExpression) {
        self.init(stating: .setOperation(.intersect, left.node, right.node))
    }

    /// The difference of two collections.
    public convenience init(forMinusSet left: NSExpression, with right: NSExpression) {
        self.init(stating: .setOperation(.minus, left.node, right.node))
    }

    /// The elements of a collection for which a predicate with a variable holds.
    public convenience init(
        forSubquery expression: NSExpression, usingIteratorVariable variable: String, predicate: NSPredicate
    ) {
        self.init(
            stating: .subquery(collection: expression.node, variable: variable, predicate: predicate.embeddedNode))
    }

    /// One of two expressions, depending on a predicate.
    public convenience init(
        forConditional predicate: NSPredicate, trueExpression: NSExpression, falseExpression: NSExpression
    ) {
        self.init(
            stating: .conditional(predicate.embeddedNode, then: trueExpression.node, otherwise: falseExpression.node))
    }

    /// Any key, as in Spotlight queries.
    open class func expressionForAnyKey() -> NSExpression { NSExpression(stating: .anyKey) }

    /// A closure whose parameters are the object, the values of the arguments, and the variables. It cannot be
    /// translated to SQL.
    public convenience init(
        block: @escaping (Any?, [Any], NSMutableDictionary?) -> Any, arguments: [NSExpression]?
    ) {
        self.init(stating: .opaque(BlockExpression(block: block, arguments: (arguments ?? []).map(\.node))))
    }

    private static func nodes(_ values: [Any]) -> [ExpressionNode] {
        values.map { ($0 as? NSExpression)?.node ?? .constant(value: $0) }
    }

    /// The kind of expression.
    open var expressionType: ExpressionType { ownType }

    // MARK: - Evaluation

    /// The value of the expression for an object; the context contains the values of variables.
    ///
    /// An error is a programmer error where Foundation raises an exception. ``value(with:substitutionVariables:)``
    /// throws instead. Where the expression calls a method that is not known here, see ``setFunction(_:_:)``, the value is nil,
    /// and a message is printed on standard error. The value of a key path is that of key-value coding, so that a to-many relationship is
    /// a set.
    open func expressionValue(with object: Any?, context: NSMutableDictionary?) -> Any? {
        if case .keyPath(base: .evaluatedObject, let keys) = node, keys.first?.hasPrefix("@") == false,
            let object = object as? any KeyValueCoded
        {
            return object.value(forKeyPath: keys.joined(separator: "."))
        }
        var variables: [String: Any] = [:]
        for (key, value) in context ?? [:] { if let key = key as? String { variables[key] = value } }
        do {
            return Self.number(try value(with: object, substitutionVariables: variables))
        } catch {
            UnknownMethod.report(error, in: "expression “\(description)”")
            return nil
        }
    }

    /// Sets the method that `FUNCTION(receiver, "selector", …)`, and a custom selector of a comparison, call: an addition to Core
    /// Data's API. On Apple's platforms they call the receiver's method, such as one of an extension of `NSString` with `@objc`; a
    /// method cannot be found by its selector in Swift alone.
    ///
    /// ```swift
    /// NSExpression.setFunction("prefixOfLength:") { text, arguments in
    ///     guard let text = text as? String, let length = arguments.first as? Int64
    ///     else { return nil }
    ///     return String(text.prefix(Int(length)))
    /// }
    /// ```
    ///
    /// - Parameter function: Receives the receiver, which may have any type and is never nil, and the arguments. Texts are `String`,
    ///   integers `Int64`, other numbers `Double` or `Decimal`. It is called in any thread.
    public static func setFunction(
        _ selector: String, _ function: @escaping @Sendable (_ receiver: Any, _ arguments: [Any?]) throws -> Any?
    ) {
        RegisteredMethods.register(selector, function)
    }

    /// A number as an `NSNumber`, so that it can be cast to any number type that it fits.
    internal static func number(_ value: Any?) -> Any? {
        switch value {
        case let number as NSNumber: number
        case let number as Int64: NSNumber(value: number)
        case let number as Int: NSNumber(value: number)
        case let number as Double: NSNumber(value: number)
        case let flag as Bool: NSNumber(value: flag)
        default: value
        }
    }

    /// The value of the expression for an object: an addition to Core Data's API, for expressions from user input.
    ///
    /// - Throws: An error that explains why the expression cannot be evaluated.
    public final func value(with object: Any?, substitutionVariables: [String: Any] = [:]) throws -> Any? {
        try ExpressionEvaluator(node).value(for: object, variables: substitutionVariables)
    }

    /// Does nothing: the evaluation of decoded expressions is always allowed.
    open func allowEvaluation() {}

    // MARK: - Equality and copying

    /// Returns itself: an expression is immutable.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// Two expressions are equal when their contents are equal.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSExpression else { return false }
        return self === other || node == other.node
    }

    // Nil and `NSNull` are equal, and their texts differ.
    open override var hash: Int { node.predicateFormat.replacingOccurrences(of: "<null>", with: "nil").hashValue }

    /// The text of the expression in the format language.
    open override var description: String { node.shortFormat }

    // MARK: - Coding

    public static var supportsSecureCoding: Bool { true }

    /// Reads an expression written by ``encode(with:)``; nil if the archive contains none.
    public required init?(coder: NSCoder) {
        guard let node = Self.node(in: coder) else { return nil }
        self.node = node
        ownType = ExpressionType(of: node)
    }

    /// The content of an archived expression; nil if the archive contains none.
    internal static func node(in coder: NSCoder) -> ExpressionNode? {
        PredicateCoding.format(in: coder).flatMap { try? PredicateParser.parseExpression($0) }
    }

    /// Encodes the expression's format. Fails for an expression that has none, such as a closure or a constant object.
    open func encode(with coder: NSCoder) {
        let format = node.exactFormat
        guard let read = try? PredicateParser.parseExpression(format), read == node else {
            coder.failWithError(PredicateCoding.unarchivable("The expression “\(format)”"))
            return
        }
        PredicateCoding.encode(format, with: coder)
    }
}

/// A closure as an expression.
internal struct BlockExpression: OpaqueExpression, @unchecked Sendable {  // because the caller ensures it
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

/// The type of an ``NSFetchRequestExpression``.
public var NSFetchRequestExpressionType: NSExpression.ExpressionType { .fetchRequest }

/// An expression whose value is the result of a fetch request: `FETCH(request, context, countOnly)` in a format.
///
/// Evaluation in memory executes the fetch: one statement for each evaluated object.
open class NSFetchRequestExpression: NSExpression {
    /// The expression whose value is the fetch request.
    open private(set) var requestExpression: NSExpression

    /// The expression whose value is the context to fetch in.
    open private(set) var contextExpression: NSExpression

    /// Whether the value is the number of objects instead of the objects.
    open private(set) var isCountOnlyRequest: Bool

    /// The expression of a node; nil if the node is not a fetch.
    internal init?(_ node: ExpressionNode) {
        guard case .fetch(let request, let context, let countOnly) = node else { return nil }
        requestExpression = NSExpression.expression(stating: request)
        contextExpression = NSExpression.expression(stating: context)
        isCountOnlyRequest = countOnly
        super.init(stating: node)
    }

    /// Reads an expression written by `encode(with:)`; nil if the archive contains no fetch.
    public required convenience init?(coder: NSCoder) {
        guard let node = Self.node(in: coder) else { return nil }
        self.init(node)
    }

    /// Creates an expression that fetches, or counts.
    open class func expression(
        forFetch fetch: NSExpression, context: NSExpression, countOnly countFlag: Bool
    ) -> NSExpression {
        .expression(stating: .fetch(request: fetch.node, context: context.node, countOnly: countFlag))
    }
}
