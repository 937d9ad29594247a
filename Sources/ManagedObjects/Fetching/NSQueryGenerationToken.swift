import Foundation

/// A state of the stores that a context can be pinned to, so that its reads are consistent.
open class NSQueryGenerationToken: NSObject, NSCopying, @unchecked Sendable {  // because it is immutable
    /// Represents the state at the time when a context is pinned.
    open class var current: NSQueryGenerationToken { currentToken }

    final let generations: PinnedGenerations?

    init(generations: PinnedGenerations?) {
        self.generations = generations
    }

    public func copy(with zone: NSZone? = nil) -> Any { self }
}

private let currentToken = NSQueryGenerationToken(generations: nil)

/// Generations of a coordinator's stores, pinned together.
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
    /// Pins the context to a state of its stores, or lets it read the newest again with nil.
    final func pin(to generation: NSQueryGenerationToken?) throws {
        checkQueue()
        prefetchedRows.removeAll()
        epoch += 1
        guard let generation else {
            pinnedGenerations = nil
            return
        }
        pinnedGenerations = try generation.generations ?? PinnedGenerations(stores: coordinator?.rowStores ?? [])
    }

    /// Advances the context to the newest state, after a save, a merge or a reset.
    final func advanceGeneration() {
        guard pinnedGenerations != nil else { return }
        do {
            pinnedGenerations = try PinnedGenerations(stores: coordinator?.rowStores ?? [])
        } catch {
            // The save or reset before this is complete, so its caller gets no error.
            pinnedGenerations = nil
            report("could not pin the newest state, so the context is no longer pinned: \(error)")
        }
    }
}
