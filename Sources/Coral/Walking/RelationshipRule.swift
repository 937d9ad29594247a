/// What becomes of a relationship when a graph is walked.
public enum RelationshipRule: String, Sendable, Hashable, CaseIterable {
    /// The related objects belong to the graph: they are walked too, and stand inside their owner in the nested shape.
    case embed
    /// The related objects are named, and are part of the graph only if something else brings them in.
    case reference
    /// The relationship is left out.
    case omit
}
