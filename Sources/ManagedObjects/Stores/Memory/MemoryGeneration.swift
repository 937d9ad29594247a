import Synchronization

/// The content of a store in memory at one moment.
final class MemoryGeneration: StoreGeneration, Sendable {
    private let state: Mutex<MemoryContent>

    init(_ content: MemoryContent) { state = Mutex(content) }

    var content: MemoryContent { state.withLock { $0 } }

    /// Keeps an index of members for the next reading.
    func keep(_ index: MemberIndex, as name: MemberIndex.Name) {
        state.withLock { $0.memberIndexes[name] = index }
    }
}
