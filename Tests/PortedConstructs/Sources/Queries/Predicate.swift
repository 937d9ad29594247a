/// A type with a name that Foundation has too.
public struct Predicate {
    public init() {}
}
