/// Lists of keys as parameters, in few different lengths, so that few statements are prepared.
enum SQLParameters {
    /// The maximum number of keys in a statement.
    static let limit = 500

    /// The number of parameters for a number of keys: the remaining parameters repeat the last key.
    static func capacity(for count: Int) -> Int {
        switch count {
        case ...1: 1
        case ...8: 8
        case ...64: 64
        default: limit
        }
    }

    static func placeholders(_ count: Int) -> String {
        "?" + String(repeating: ",?", count: max(0, count - 1))
    }

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
