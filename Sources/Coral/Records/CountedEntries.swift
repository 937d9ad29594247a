/// What a plan or a result lists, such as conflicts: all entries are counted, the first are kept.
public struct CountedEntries<Entry> {
    /// The number of entries.
    public private(set) var count = 0
    /// The first entries: up to 100,000 of an import, a hundred of an export or a copy.
    public private(set) var kept: [Entry] = []
    private let limit: Int

    package init(limit: Int = 100) { self.limit = limit }

    /// Whether there are no entries.
    public var isEmpty: Bool { count == 0 }

    /// Adds an entry; the entry is built only if it is kept.
    package mutating func add(_ entry: @autoclosure () -> Entry) {
        count += 1
        if kept.count < limit { kept.append(entry()) }
    }

    /// Adds the entries of another list.
    package mutating func add(_ others: CountedEntries) {
        count += others.count
        kept += others.kept.prefix(Swift.max(0, limit - kept.count))
    }

    /// Counts entries that are not kept.
    package mutating func count(_ number: Int) { count += number }

    /// Changes each kept entry.
    package mutating func change(_ body: (inout Entry) -> Void) {
        for index in kept.indices { body(&kept[index]) }
    }

    /// Whether the next entry would be kept.
    package var keepsNext: Bool { kept.count < limit }
}

extension CountedEntries: Sequence {
    public func makeIterator() -> IndexingIterator<[Entry]> { kept.makeIterator() }
}

extension CountedEntries where Entry == ImportError {
    /// The first error, with the others; nil if there is none.
    package var combined: ImportError? {
        guard var error = kept.first else { return nil }
        error.others = Array(kept.dropFirst())
        error.otherCount = count - 1
        return error
    }
}

extension CountedEntries: Sendable where Entry: Sendable {}
extension CountedEntries: Equatable where Entry: Equatable {}
extension CountedEntries: Hashable where Entry: Hashable {}
