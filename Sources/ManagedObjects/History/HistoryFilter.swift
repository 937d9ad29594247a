/// The conditions by which a history is filtered; a store checks them before rows are read. An empty set matches
/// nothing, nil matches everything.
struct HistoryFilter: Sendable {
    /// Authors; nil among them stands for transactions without an author.
    var authors: Set<String?>?
    /// Authors whose transactions are excluded.
    var excludedAuthors: Set<String> = []
    /// Indexes of entities in the model.
    var entities: Set<Int>?
    /// Changed objects of this store.
    var objects: Set<ObjectKey>?
    /// Types of changes, as stored.
    var types: Set<Int>?

    var narrowsChanges: Bool { entities != nil || objects != nil || types != nil }
}
