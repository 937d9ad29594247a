/// The values of an object before the current event.
enum EventStart {
    /// It had no values of its own: those of its row, or its committed values.
    case unchanged
    case values(ContiguousArray<Value>)
}
