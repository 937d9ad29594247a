/// A dictionary of a property list. It keeps its keys in the order in which they were read, so that a file can be
/// written again byte for byte. Two dictionaries are equal when they have equal values for the same keys, in any order.
public struct PropertyListDictionary: Sendable {
    /// The keys, in order.
    public private(set) var keys: [String]
    /// The values, parallel to ``keys``.
    public private(set) var values: [PropertyListValue]
    /// The index of each key. Empty while a dictionary that grows is small, where a linear search is faster.
    private var positions: [String: Int] = [:]

    static let largestSearchedCount = 24

    /// Creates an empty dictionary.
    public init() {
        keys = []
        values = []
    }

    /// Creates a dictionary of the given pairs, in their order. Of two pairs with the same key the later value is kept.
    public init(_ pairs: some Sequence<(String, PropertyListValue)>) {
        self.init()
        for (key, value) in pairs { self[key] = value }
    }

    /// Creates a dictionary of different keys, the index of each, and their values.
    init(keys: [String], positions: [String: Int], values: [PropertyListValue]) {
        (self.keys, self.positions, self.values) = (keys, positions, values)
    }

    /// Creates a dictionary with its keys sorted, so that equal contents give equal bytes.
    public init(sorted dictionary: [String: PropertyListValue]) {
        self.init(dictionary.sorted { $0.key < $1.key }.map { ($0.key, $0.value) })
    }

    /// The number of keys.
    public var count: Int { keys.count }

    /// Whether the dictionary has no keys.
    public var isEmpty: Bool { keys.isEmpty }

    /// The value of a key. Setting nil removes the key, at a cost proportional to the dictionary's count.
    public subscript(key: String) -> PropertyListValue? {
        get {
            guard let position = position(of: key) else { return nil }
            return values[position]
        }
        set {
            switch (position(of: key), newValue) {
            case (let position?, let value?): values[position] = value
            case (nil, let value?): append(key, value)
            case (let position?, nil):
                keys.remove(at: position)
                values.remove(at: position)
                indexKeys()
            case (nil, nil): break
            }
        }
    }

    /// The same contents as a Swift dictionary.
    public var contents: [String: PropertyListValue] {
        Dictionary(zip(keys, values), uniquingKeysWith: { $1 })
    }

    private func position(of key: String) -> Int? {
        guard positions.isEmpty else { return positions[key] }
        // Most keys differ in length already, which is compared without a call.
        let length = key.utf8.count
        for position in 0..<keys.count where keys[position].utf8.count == length && keys[position] == key {
            return position
        }
        return nil
    }

    private mutating func append(_ key: String, _ value: PropertyListValue) {
        keys.append(key)
        values.append(value)
        if !positions.isEmpty {
            positions[key] = keys.count - 1
        } else if keys.count > Self.largestSearchedCount {
            indexKeys()
        }
    }

    private mutating func indexKeys() {
        positions = [:]
        guard keys.count > Self.largestSearchedCount else { return }
        for (position, key) in keys.enumerated() { positions[key] = position }
    }
}

extension PropertyListDictionary: Hashable {
    public static func == (left: Self, right: Self) -> Bool {
        guard left.count == right.count else { return false }
        if left.keys == right.keys { return left.values == right.values }
        return zip(left.keys, left.values).allSatisfy { right[$0] == $1 }
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(contents)
    }
}

extension PropertyListDictionary: Sequence {
    public func makeIterator() -> Zip2Sequence<[String], [PropertyListValue]>.Iterator {
        zip(keys, values).makeIterator()
    }
}
