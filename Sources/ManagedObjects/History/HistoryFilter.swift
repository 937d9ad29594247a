/// What a reader of a history is interested in: conditions that a store checks before rows are read. An empty set
/// admits nothing, nil everything.
struct HistoryFilter: Sendable {
    /// Authors, nil among them for transactions without one.
    var authors: Set<String?>?
    /// Authors whose transactions are left out.
    var excludedAuthors: Set<String> = []
    /// Positions of entities in the model.
    var entities: Set<Int>?
    /// Changed objects, of this store.
    var objects: Set<ObjectKey>?
    /// Types of changes, as stored.
    var types: Set<Int>?

    var narrowsChanges: Bool { entities != nil || objects != nil || types != nil }
}
