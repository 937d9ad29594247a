/// The rows of a store that has all of them in memory: queries are answered by looking at each.
protocol WholeRowGraph: RowGraph {
    /// The rows of an entity, in the order of their keys.
    func subjects(of entity: NSEntityDescription, includingSubentities: Bool) throws -> [RowSubject]
}

extension WholeRowGraph {
    /// The keys of a query's rows, in its order.
    func keys(matching query: RowQuery) throws -> [ObjectKey] {
        try withExtendedLifetime(self) {
            try RowSelection(query).select(
                from: subjects(of: query.entity, includingSubentities: query.includesSubentities)
            ).map(\.key)
        }
    }

    /// Dictionaries of columns and expressions.
    func values(matching query: ValueQuery) throws -> [[Any?]] {
        try withExtendedLifetime(self) {
            try ValueSelection(query).values(
                of: subjects(of: query.query.entity, includingSubentities: query.query.includesSubentities))
        }
    }
}
