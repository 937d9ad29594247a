import Foundation
import ManagedObjects

// The stores whose rows are all in memory. Reading begins here.
//
// `Memory`: the store in memory (`MemoryStore`). Its content is an immutable value (`MemoryContent`), which each save replaces, so that a
// reader needs no lock and a generation is a reference.
// `Atomic`: `NSAtomicStore`, the superclass of stores that read and write a whole file. It keeps a cache node for each object.
// `Files`: what the engine's own stores in one file share; `XML` and `Archive` are their formats, independent of objects.
//
// Predicates, sort descriptors and groups are evaluated by the engine (`ManagedObjects/Stores/RowEvaluation`).

/// The stores of this module, which the engine finds by the name of this class.
package final class MemoryStoreDirectory: StoreDirectory {
    package init() {}

    package var classes: [String: NSPersistentStore.Type] {
        [
            NSInMemoryStoreType: MemoryStore.self, NSXMLStoreType: XMLStore.self,
            NSPersistentStore.StoreType.archive.rawValue: ArchiveStore.self,
        ]
    }
}

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
