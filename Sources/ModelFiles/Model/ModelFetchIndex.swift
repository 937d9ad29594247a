import PredicateLanguage

/// An index of an entity's table.
public struct ModelFetchIndex: Sendable, Equatable {
    /// The index's name.
    public var name: String
    /// The indexed elements, in order.
    public var elements: [ModelFetchIndexElement]
    /// The predicate that selects the objects in the index; nil means all.
    public var partialIndexPredicate: PredicateNode?
    /// The index's position in the file that it was read from.
    public var position = ModelPosition()

    /// Creates an index.
    public init(name: String, elements: [ModelFetchIndexElement] = [], partialIndexPredicate: PredicateNode? = nil) {
        self.name = name
        self.elements = elements
        self.partialIndexPredicate = partialIndexPredicate
    }
}

/// One element of an index.
public struct ModelFetchIndexElement: Sendable, Equatable {
    /// The indexed property or expression.
    public var target: Target
    /// The kind of index.
    public var collation: Collation
    /// Whether the order is ascending.
    public var isAscending: Bool

    /// Creates an element.
    public init(_ target: Target, collation: Collation = .binary, isAscending: Bool = true) {
        self.target = target
        self.collation = collation
        self.isAscending = isAscending
    }

    /// The property or expression of an element.
    public enum Target: Sendable, Equatable {
        /// A property, by name.
        case property(String)
        /// An expression with its type and a name such as `expression1` (nil in source models).
        case expression(ExpressionNode, type: ModelAttributeType, name: String?)
    }

    /// The kinds of indexes. The raw values are those of files.
    public enum Collation: Int, Sendable, Hashable {
        /// An ordinary index.
        case binary = 0
        /// An R-tree index, for coordinates.
        case rTree = 1
    }
}
