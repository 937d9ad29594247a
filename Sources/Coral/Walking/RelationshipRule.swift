/// The rule of a relationship when a graph is walked.
public enum RelationshipRule: String, Sendable, Hashable, CaseIterable {
    /// The related objects belong to the graph: they are walked too, and nested in their owner in the nested layout.
    case embed
    /// The related objects are referenced, and part of the graph only if another relationship embeds them.
    case reference
    /// The relationship is omitted.
    case omit
}
