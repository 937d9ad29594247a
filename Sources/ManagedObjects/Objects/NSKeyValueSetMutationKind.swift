/// The kinds of changes of sets, with the names of key-value observing.
public enum NSKeyValueSetMutationKind: UInt, Sendable {
    /// Members are added.
    case union = 1
    /// Members are removed.
    case minus
    /// All but some members are removed.
    case intersect
    /// The members are replaced.
    case set
}
