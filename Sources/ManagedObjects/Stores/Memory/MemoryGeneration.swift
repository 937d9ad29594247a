import Synchronization

/// A snapshot of the content of a store in memory.
final class MemoryGeneration: StoreGeneration, Sendable {
    private let state: Mutex<MemoryContent>

    init(_ content: MemoryContent) { state = Mutex(content) }

    var content: MemoryContent { state.withLock { $0 } }

    /// Caches an index of members for later reads.
    func keep(_ index: MemberIndex, as name: MemberIndex.Name) {
        state.withLock { $0.memberIndexes[name] = index }
    }
}
