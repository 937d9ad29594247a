/// The name of a method. Swift has no `Selector` here; this type represents a name where Core Data takes a selector,
/// such as the comparison of a sort descriptor: `"localizedStandardCompare:"`.
public struct Selector: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The name, colons included.
    public let name: String

    /// Creates the selector of a name.
    public init(_ name: String) { self.name = name }

    public init(stringLiteral name: String) { self.name = name }

    public var description: String { name }
}

/// The selector of a name.
public func NSSelectorFromString(_ name: String) -> Selector { Selector(name) }

/// The name of a selector.
public func NSStringFromSelector(_ selector: Selector) -> String { selector.name }
