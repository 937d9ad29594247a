import Coral

/// The topic of magazines. The class is written by hand, because its code generation in the model is "category": only the
/// properties are generated.
#if canImport(ObjectiveC)
    @objc(Topic)
#endif
public final class Topic: NSManagedObject {
    /// A label on the shelf.
    public struct Label: Codable, Equatable {
        public var colour = "white"
        public var words: [String] = []
    }

    /// The label, stored as JSON in the attribute `label`. The property has another name than the generated one.
    @Tracked("label", coder: .json) public var shelfLabel = Label()
}
