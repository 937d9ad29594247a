/// What becomes of a relationship when a graph is copied.
///
/// Whatever the rule, a reference to an object that is copied leads to its copy.
public enum CopyRule: String, Sendable, Hashable, CaseIterable {
    /// The related objects are copied too.
    case copy
    /// The copy is related to the very objects that its original is related to.
    ///
    /// Where that would take them away from the original, because the way back is to one, they are left out or
    /// copied, as `CopyRules.exclusiveLinks` says.
    case link
    /// Nothing is followed from here. The other side of the relationship may still lead to the copy.
    case leaveOut
}
