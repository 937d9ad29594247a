import Foundation

/// Writes each state of fetched results into the buffer of an iteration.
final class ResultsFollower<Value: Sendable>: FetchedResultsListener, @unchecked Sendable {
    // because the context's queue guards it

    private let results: FetchedResults
    private let latest: LatestValue<Value>
    private let make: @Sendable (ResultsList, [NSManagedObject]) -> Value
    private let merge: @Sendable (Value, Value) -> Value
    private var following: StoreFollowing?

    init(
        _ results: FetchedResults, _ latest: LatestValue<Value>,
        make: @escaping @Sendable (ResultsList, [NSManagedObject]) -> Value,
        merge: @escaping @Sendable (Value, Value) -> Value
    ) {
        (self.results, self.latest, self.make, self.merge) = (results, latest, make, merge)
        results.listener = self
        following = StoreFollowing(results.context) { [weak results] in results?.refetch() }
        results.context.perform { [weak self] in self?.begin() }
    }

    private func begin() {
        do {
            try results.fetch()
        } catch {
            latest.finish(throwing: error)
        }
    }

    var isListening: Bool { true }

    func didFetch(_ list: ResultsList) { latest.put(make(list, []), merging: merge) }

    func didChange(_ change: ResultsChange) { latest.put(make(change.new, change.changedObjects), merging: merge) }

    func didFail(_ error: any Error) { latest.finish(throwing: error) }

    func indexTitle(forSectionName name: String) -> String? { FetchedResults.initial(of: name) }
}
