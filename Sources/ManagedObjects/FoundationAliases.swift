import FoundationAdditions

// Foundation has public classes of these names too. A declaration of the module takes precedence over both imported ones. The
// documentation describes the classes.

/// The condition of a fetch request, and of other parts of this module.
@_documentation(visibility: internal) public typealias NSPredicate = FoundationAdditions.NSPredicate
/// A comparison in a condition.
@_documentation(visibility: internal) public typealias NSComparisonPredicate = FoundationAdditions.NSComparisonPredicate
/// Joined conditions.
@_documentation(visibility: internal) public typealias NSCompoundPredicate = FoundationAdditions.NSCompoundPredicate
/// A computed value in a fetch request or a model.
@_documentation(visibility: internal) public typealias NSExpression = FoundationAdditions.NSExpression
/// An order of a fetch request's results.
@_documentation(visibility: internal) public typealias NSSortDescriptor = FoundationAdditions.NSSortDescriptor
