/// The treatment of a relationship when a graph is copied.
///
/// Whatever the rule, a reference to an object that is copied becomes a reference to its copy.
public enum CopyRule: String, Sendable, Hashable, CaseIterable {
    /// The related objects are copied too.
    case copy
    /// The copy refers to the same objects as its original.
    ///
    /// If that would remove them from the original, because the inverse is to-one, the links are omitted or the
    /// objects copied, according to `CopyRules.exclusiveLinks`.
    case link
    /// The relationship is not followed. Its inverse may still refer to the copy.
    case leaveOut
}
