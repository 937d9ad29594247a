extension ReadableValue {
    /// Whether two values are equal without regard to the order of pairs, of fields and of a set's members. Cost: a
    /// step for each value. Recursive to the nesting depth of the values, which their reader has limited.
    public func isSame(as other: ReadableValue) -> Bool {
        switch (self, other) {
        case (.array(let one), .array(let two)), (.orderedSet(let one), .orderedSet(let two)):
            return one.count == two.count && zip(one, two).allSatisfy { $0.isSame(as: $1) }
        case (.set(let one), .set(let two)):
            return ReadableValue.counted(one) == ReadableValue.counted(two)
        case (.dictionary(let one), .dictionary(let two)):
            guard one.count == two.count else { return false }
            let values = Dictionary(two.map { ($0.key, $0.value) }, uniquingKeysWith: { first, _ in first })
            return one.allSatisfy { pair in values[pair.key].map { pair.value.isSame(as: $0) } ?? false }
        case (.object(let chain, let one), .object(let otherChain, let two)):
            guard chain == otherChain, one.count == two.count else { return false }
            let values = Dictionary(two.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
            return one.allSatisfy { field in values[field.name].map { field.value.isSame(as: $0) } ?? false }
        default: return self == other
        }
    }

    private static func counted(_ members: [ReadableValue]) -> [ReadableValue: Int] {
        Dictionary(members.map { ($0, 1) }, uniquingKeysWith: +)
    }
}
