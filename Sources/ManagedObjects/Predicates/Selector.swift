/// The name of a method. Swift has no `Selector` here; this one carries a name to where Core Data takes one, such as
/// the comparison of a sort descriptor: `"localizedStandardCompare:"`.
public struct Selector: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The name, colons included.
    public let name: String

    /// A method of a name.
    public init(_ name: String) { self.name = name }

    public init(stringLiteral name: String) { self.name = name }

    public var description: String { name }
}

/// The method of a name.
public func NSSelectorFromString(_ name: String) -> Selector { Selector(name) }

/// The name of a method.
public func NSStringFromSelector(_ selector: Selector) -> String { selector.name }
