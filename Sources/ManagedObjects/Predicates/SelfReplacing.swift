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
