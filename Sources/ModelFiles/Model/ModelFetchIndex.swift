import PredicateLanguage

/// An index of an entity's table.
public struct ModelFetchIndex: Sendable, Equatable {
    /// The index's name.
    public var name: String
    /// What is indexed, in order.
    public var elements: [ModelFetchIndexElement]
    /// Which objects the index holds; nil is all of them.
    public var partialIndexPredicate: PredicateNode?
    /// The index's place in the file that it was read from.
    public var position = ModelPosition()

    /// An index.
    public init(name: String, elements: [ModelFetchIndexElement] = [], partialIndexPredicate: PredicateNode? = nil) {
        self.name = name
        self.elements = elements
        self.partialIndexPredicate = partialIndexPredicate
    }
}

/// One element of an index.
public struct ModelFetchIndexElement: Sendable, Equatable {
    /// What is indexed.
    public var target: Target
    /// How it is indexed.
    public var collation: Collation
    /// Whether small values come first.
    public var isAscending: Bool

    /// An element.
    public init(_ target: Target, collation: Collation = .binary, isAscending: Bool = true) {
        self.target = target
        self.collation = collation
        self.isAscending = isAscending
    }

    /// What an element indexes.
    public enum Target: Sendable, Equatable {
        /// The property of a name.
        case property(String)
        /// The value of an expression, of a type, under a name such as `expression1` (nil in source models).
        case expression(ExpressionNode, type: ModelAttributeType, name: String?)
    }

    /// The kinds of indexes, numbered as files number them.
    public enum Collation: Int, Sendable, Hashable {
        /// An ordinary index.
        case binary = 0
        /// An index of ranges, for coordinates.
        case rTree = 1
    }
}
