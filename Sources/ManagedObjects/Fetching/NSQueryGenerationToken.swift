import Foundation

/// A state of the stores that a context can be pinned to, so that its reads are consistent.
open class NSQueryGenerationToken: NSObject, NSCopying, @unchecked Sendable {  // because it is immutable
    /// Represents the state at the time when a context is pinned.
    open class var current: NSQueryGenerationToken { currentToken }

    /// Represents a state on a standby of a PostgreSQL server, when a context is pinned to it. Reads of the context then do not
    /// burden the primary; it saves to the primary.
    ///
    ///     let token = coordinator.currentPersistentHistoryToken(fromStores: nil)
    ///     try context.setQueryGenerationFrom(.standby(atLeast: token))
    ///
    /// The state contains all transactions up to the token, such as the program's own saves: pinning waits until the standby has
    /// replayed them. If none of the standbys that the store's URL names (`standby=host:port`) can be reached, or the time is over,
    /// the context is pinned to the newest state of the primary, as are stores without a history and those of other types. After
    /// a save, a merge or a reset the context advances to a state that contains all transactions committed before.
    ///
    /// A standby ends a state that hinders its replay: reading then throws `CocoaError.persistentStoreTimeout` (134090).
    ///
    /// - Parameters:
    ///   - token: A point in the history. With nil, it is the last transaction of the primary, which costs one round trip to it.
    ///     With a token the primary is not needed.
    ///   - timeout: The maximum time in seconds that pinning waits for the standby.
    public final class func standby(
        atLeast token: NSPersistentHistoryToken? = nil, timeout: TimeInterval = 1
    ) -> NSQueryGenerationToken {
        NSQueryGenerationToken(generations: nil, source: .standby(atLeast: token, timeout: timeout))
    }

    final let generations: PinnedGenerations?
    /// Where a context without generations is pinned.
    final let source: GenerationSource

    init(generations: PinnedGenerations?, source: GenerationSource = .newest) {
        self.generations = generations
        self.source = source
    }

    public func copy(with zone: NSZone? = nil) -> Any { self }
}

private let currentToken = NSQueryGenerationToken(generations: nil)

/// Where a state of a store is pinned.
package enum GenerationSource {
    case newest
    /// On a standby that has the transactions up to a token, or else all that are committed now.
    case standby(atLeast: NSPersistentHistoryToken?, timeout: TimeInterval)
}

/// Generations of a coordinator's stores, pinned together.
package final class PinnedGenerations {
    private var generations: [(store: UInt16, generation: any StoreGeneration)] = []
    private let source: GenerationSource

    init(stores: [any RowStore], from source: GenerationSource = .newest) throws {
        self.source = source
        for store in stores {
            generations.append((store.number, try store.pinGeneration(from: source)))
        }
    }

    /// Generations that contain all transactions that are committed now.
    func advanced(stores: [any RowStore]) throws -> PinnedGenerations {
        guard case .standby(_, let timeout) = source else { return try PinnedGenerations(stores: stores) }
        return try PinnedGenerations(stores: stores, from: .standby(atLeast: nil, timeout: timeout))
    }

    package func generation(of store: any RowStore) -> (any StoreGeneration)? {
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
        pinnedGenerations =
            try generation.generations
            ?? PinnedGenerations(stores: coordinator?.rowStores ?? [], from: generation.source)
    }

    /// Advances the context to the newest state, after a save, a merge or a reset.
    final func advanceGeneration() {
        guard let pinnedGenerations else { return }
        do {
            self.pinnedGenerations = try pinnedGenerations.advanced(stores: coordinator?.rowStores ?? [])
        } catch {
            // The save or reset before this is complete, so its caller gets no error.
            self.pinnedGenerations = nil
            report("could not pin the newest state, so the context is no longer pinned: \(error)")
        }
    }
}
