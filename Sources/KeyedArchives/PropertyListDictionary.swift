/// A dictionary of a property list: keys in the order in which they were met, so that what is read can be written again
/// byte for byte. Two dictionaries are equal when they hold the same values under the same keys, in whatever order.
public struct PropertyListDictionary: Sendable {
    /// The keys, in order.
    public private(set) var keys: [String]
    /// The values, parallel to ``keys``.
    public private(set) var values: [PropertyListValue]
    /// Where each key stands. Empty while the dictionary is small: there a linear search is the faster one.
    private var positions: [String: Int] = [:]

    private static let largestSearchedCount = 12

    /// An empty dictionary.
    public init() {
        keys = []
        values = []
    }

    /// A dictionary of the given pairs, in their order. Of two pairs with one key the later value stays.
    public init(_ pairs: some Sequence<(String, PropertyListValue)>) {
        self.init()
        for (key, value) in pairs { self[key] = value }
    }

    /// A dictionary with its keys sorted, so that equal contents give equal bytes.
    public init(sorted dictionary: [String: PropertyListValue]) {
        self.init(dictionary.sorted { $0.key < $1.key }.map { ($0.key, $0.value) })
    }

    /// The number of keys.
    public var count: Int { keys.count }

    /// Whether there is no key.
    public var isEmpty: Bool { keys.isEmpty }

    /// The value of a key. Setting nil takes the key away, at the cost of the dictionary's length.
    public subscript(key: String) -> PropertyListValue? {
        get { position(of: key).map { values[$0] } }
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
        positions.isEmpty ? keys.firstIndex(of: key) : positions[key]
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
