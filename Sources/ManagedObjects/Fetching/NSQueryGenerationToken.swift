import Foundation

/// A state of the stores that a context can be pinned to, so that what it reads does not change under it.
open class NSQueryGenerationToken: NSObject, NSCopying, @unchecked Sendable {  // because it is immutable
    /// Stands for the state at the time when a context is pinned and first reads.
    open class var current: NSQueryGenerationToken { currentToken }

    final let generations: PinnedGenerations?

    init(generations: PinnedGenerations?) {
        self.generations = generations
    }

    public func copy(with zone: NSZone? = nil) -> Any { self }
}

private let currentToken = NSQueryGenerationToken(generations: nil)

/// The generations of a coordinator's stores that belong together.
final class PinnedGenerations {
    private var generations: [(store: UInt16, generation: any StoreGeneration)] = []

    init(stores: [any RowStore]) throws {
        for store in stores {
            generations.append((store.number, try store.pinGeneration()))
        }
    }

    func generation(of store: any RowStore) -> (any StoreGeneration)? {
        generations.first { $0.store == store.number }?.generation
    }
}

extension NSManagedObjectContext {
    /// The state that the context is pinned to; nil while it sees whatever is newest.
    public var queryGenerationToken: NSQueryGenerationToken? {
        pinnedGenerations.map { NSQueryGenerationToken(generations: $0) }
    }

    /// Pins the context to a state of its stores, or lets it see the newest again. Objects already read stay as they are
    /// until they are refreshed. A save, a merge and a reset move a pinned context on to what is newest then.
    ///
    /// - Throws: An error where a store cannot hold a state for reading.
    public func setQueryGenerationFrom(_ generation: NSQueryGenerationToken?) throws {
        checkQueue()
        rowsAhead.removeAll()
        epoch += 1
        guard let generation else {
            pinnedGenerations = nil
            return
        }
        pinnedGenerations = try generation.generations ?? PinnedGenerations(stores: coordinator?.rowStores ?? [])
    }

    /// Moves a pinned context on to the newest state, as a save, a merge and a reset do.
    final func advanceGeneration() {
        guard pinnedGenerations != nil else { return }
        // Where no state can be held any more the context sees the newest, which is where it was to go.
        pinnedGenerations = try? PinnedGenerations(stores: coordinator?.rowStores ?? [])
    }
}
