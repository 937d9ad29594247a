/// Lets an initialiser give an object of a subclass, as Core Data's factories do: `NSPredicate(format:)` gives a
/// comparison or a compound predicate. Swift allows that in a protocol's extension only.
internal protocol SelfReplacing {}

extension SelfReplacing {
    /// Takes the object that the closure makes for the one being initialised.
    init(replacedBy make: () -> Self) { self = make() }

    /// The same; nil fails the initialisation.
    init?(replacedBy make: () -> Self?) {
        guard let made = make() else { return nil }
        self = made
    }
}
