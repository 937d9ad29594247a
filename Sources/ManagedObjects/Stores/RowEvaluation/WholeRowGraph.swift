/// The rows of a store that keeps all of them in memory: queries evaluate each row.
protocol WholeRowGraph: RowGraph {
    /// The rows of an entity, sorted by key.
    func subjects(of entity: NSEntityDescription, includingSubentities: Bool) -> AnySequence<RowSubject>
    /// The rows among which the predicate of a query selects, sorted by key: all of the entity, unless an index finds fewer.
    func candidates(for query: RowQuery) -> AnySequence<RowSubject>
}

extension WholeRowGraph {
    func candidates(for query: RowQuery) -> AnySequence<RowSubject> {
        subjects(of: query.entity, includingSubentities: query.includesSubentities)
    }

    /// The keys of a query's rows, in its order.
    func keys(matching query: RowQuery) throws -> [ObjectKey] {
        try withExtendedLifetime(self) {
            try RowSelection(query).select(from: candidates(for: query)).map(\.key)
        }
    }

    /// Dictionaries of columns and expressions.
    func values(matching query: ValueQuery) throws -> [[Any?]] {
        try withExtendedLifetime(self) {
            try ValueSelection(query).values(
                of: Array(subjects(of: query.query.entity, includingSubentities: query.query.includesSubentities)))
        }
    }
}
