import FoundationAdditions

// Foundation has public classes of these names too. A declaration of the module takes precedence over both imported ones.

/// The condition of a fetch request, and of other parts of this module.
public typealias NSPredicate = FoundationAdditions.NSPredicate
/// A comparison in a condition.
public typealias NSComparisonPredicate = FoundationAdditions.NSComparisonPredicate
/// Joined conditions.
public typealias NSCompoundPredicate = FoundationAdditions.NSCompoundPredicate
/// A computed value in a fetch request or a model.
public typealias NSExpression = FoundationAdditions.NSExpression
/// An order of a fetch request's results.
public typealias NSSortDescriptor = FoundationAdditions.NSSortDescriptor
