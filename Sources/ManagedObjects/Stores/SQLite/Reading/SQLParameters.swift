/// Lists of keys as parameters, in few different lengths, so that few statements are prepared.
enum SQLParameters {
    /// The maximum number of keys in a statement.
    static let limit = 500

    /// The number of parameters for a number of keys: the remaining parameters repeat the last key.
    static func capacity(for count: Int) -> Int { capacities.first { count <= $0 } ?? limit }

    /// The numbers of parameters, ascending.
    static let capacities = [1, 8, 64, limit]

    /// Binds keys to the parameters from an index on; the last key is repeated if there are more parameters.
    static func bind(_ keys: ArraySlice<Int64>, to statement: SQLStatement, from position: Int = 1, capacity: Int) {
        var next = position
        for key in keys {
            statement.bind(key, at: next)
            next += 1
        }
        guard let last = keys.last else { return }
        while next < position + capacity {
            statement.bind(last, at: next)
            next += 1
        }
    }

    /// Calls a block with slices of at most ``limit`` keys.
    static func forEachSlice(of keys: [Int64], _ body: (ArraySlice<Int64>) throws -> Void) rethrows {
        var start = 0
        while start < keys.count {
            let end = min(start + limit, keys.count)
            try body(keys[start..<end])
            start = end
        }
    }
}
