import Foundation
import ManagedObjects

/// The rows of a store that keeps all of them in memory: queries evaluate each row.
protocol WholeRowGraph: RowGraph {
    associatedtype Subjects: Sequence<RowSubject>

    /// The rows of an entity, sorted by key.
    func subjects(of entity: NSEntityDescription, includingSubentities: Bool) -> Subjects
    /// The rows among which the predicate of a query selects, sorted by key: all of the entity, unless an index finds fewer.
    func candidates(for query: RowQuery) -> Subjects
}

extension WholeRowGraph {
    func candidates(for query: RowQuery) -> Subjects {
        subjects(of: query.entity, includingSubentities: query.includesSubentities)
    }

    /// The keys of a query's rows, in its order.
    func keys(matching query: RowQuery) throws -> [ObjectKey] {
        try withExtendedLifetime(self) {
            try RowSelection(query).select(from: candidates(for: query)).map(\.key)
        }
    }

    /// Dictionaries of columns and expressions.
    func dictionaries(matching query: ValueQuery) throws -> [NSDictionary] {
        try withExtendedLifetime(self) {
            try ValueSelection(query).dictionaries(
                of: Array(subjects(of: query.query.entity, includingSubentities: query.query.includesSubentities)))
        }
    }
}
