/// The values of an object before the current event.
enum EventStart {
    /// The object had no values of its own, only those of its row, or its committed values.
    case unchanged
    case values(OwnValues)
}
