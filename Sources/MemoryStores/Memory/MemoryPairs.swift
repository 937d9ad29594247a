import ManagedObjects

/// The pairs of one relationship with a join table, in memory.
struct MemoryPairs {
    private struct Pair: Hashable {
        let source: Int64
        let destination: Int64
    }

    private struct Positions {
        /// The destination's among the source's members.
        var forward: Int64?
        /// The source's among the destination's members.
        var backward: Int64?
    }

    private var positions: [Pair: Positions] = [:]
    private var destinations: [Int64: Set<Int64>] = [:]
    private var sources: [Int64: Set<Int64>] = [:]

    /// The members of a source, or of a destination, with their positions: by position, then by key.
    func members(of owner: Int64, backward: Bool) -> [(key: Int64, position: Int64?)] {
        let found = (backward ? sources : destinations)[owner] ?? []
        return found.map { other -> (key: Int64, position: Int64?) in
            let pair = backward ? Pair(source: other, destination: owner) : Pair(source: owner, destination: other)
            return (other, backward ? positions[pair]?.backward : positions[pair]?.forward)
        }.sorted { ($0.position ?? .max, $0.key) < ($1.position ?? .max, $1.key) }
    }

    /// Adds a pair, or changes the positions of an existing one; nil leaves a position unchanged.
    mutating func put(source: Int64, destination: Int64, forward: Int64?, backward: Int64?) {
        let pair = Pair(source: source, destination: destination)
        if let known = positions[pair] {
            positions[pair] = Positions(forward: forward ?? known.forward, backward: backward ?? known.backward)
            return
        }
        positions[pair] = Positions(forward: forward, backward: backward)
        destinations[source, default: []].insert(destination)
        sources[destination, default: []].insert(source)
    }

    mutating func remove(source: Int64, destination: Int64) {
        guard positions.removeValue(forKey: Pair(source: source, destination: destination)) != nil else { return }
        destinations[source]?.remove(destination)
        sources[destination]?.remove(source)
    }

    /// Removes all pairs of a source.
    mutating func removeAll(source: Int64) {
        for destination in destinations[source] ?? [] { remove(source: source, destination: destination) }
        destinations[source] = nil
    }

    /// Removes all pairs of a destination.
    mutating func removeAll(destination: Int64) {
        for source in sources[destination] ?? [] { remove(source: source, destination: destination) }
        sources[destination] = nil
    }
}
