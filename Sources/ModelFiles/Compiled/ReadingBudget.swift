import KeyedArchives

/// The number of parts that the reading of one archive may still produce: entities and properties, elements of composites
/// and of indexes, parts of predicates, and plain values.
///
/// An archive shares objects, and a model repeats them. With two references to the next level on each level, a file of
/// a thousand bytes would represent more parts than memory can hold; with lists that are shared in lists, the product of
/// their lengths. The number grows with the size of the archive, in which a reference has at least one byte, and nearly all of which
/// the reading of a real model follows once.
final class ReadingBudget {
    private var remaining: Int

    /// - Parameter byteCount: The size of the archive.
    init(byteCount: Int) { remaining = 100_000 + 4 * byteCount }

    /// Counts parts. Throws ``ModelError`` when there are too many.
    func spend(_ count: Int = 1) throws {
        remaining -= count
        guard remaining >= 0 else {
            throw ModelError(.malformedFile, "The file repeats shared objects too often for a model.")
        }
    }

    /// The members of an array or set, which are counted; empty for anything else.
    func members(_ object: ArchivedObject?) throws -> [ArchivedObject?] {
        let members = try object?.members ?? []
        try spend(1 + members.count)
        return members
    }

    /// The pairs of a dictionary, which are counted; empty for anything else.
    func pairs(_ object: ArchivedObject?) throws -> [(key: ArchivedObject?, value: ArchivedObject?)] {
        let pairs = try object?.pairs ?? []
        try spend(1 + pairs.count)
        return pairs
    }

    /// The plain value of an object, the parts of which are counted.
    func value(_ object: ArchivedObject?) throws -> ReadableValue {
        var limits = ReadableValue.Limits()
        limits.valueCount = min(limits.valueCount, remaining)
        let value = try ReadableValue(object, limits: limits)
        try spend(Self.count(value))
        return value
    }

    /// The number of values in a tree. Recursive to its depth, which the reader has limited.
    private static func count(_ value: ReadableValue) -> Int {
        switch value {
        case .array(let values), .set(let values), .orderedSet(let values):
            values.reduce(1) { $0 + count($1) }
        case .dictionary(let pairs): pairs.reduce(1) { $0 + count($1.key) + count($1.value) }
        case .object(_, let fields): fields.reduce(1) { $0 + count($1.value) }
        default: 1
        }
    }
}
