/// The rows of a store that keeps all of them in memory: queries evaluate each row.
protocol WholeRowGraph: RowGraph {
    /// The rows of an entity, sorted by key.
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
