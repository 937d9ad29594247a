/// An item in a column: a box, or a position at which a line passes between boxes.
struct LayeredItem {
    /// The node; nil for a position at which an edge passes.
    var node: Int?
    var height: Double
    var layer: Int
    /// The connections with items in the columns to the left and to the right: the other item, the vertical offset of
    /// the line's end there, and that of its beginning here.
    var left: [Link] = []
    var right: [Link] = []

    struct Link {
        var item: Int
        var offset: Double
        var ownOffset: Double
    }
}

/// The order within columns, chosen to reduce crossings.
struct GraphOrdering {
    let items: [LayeredItem]
    /// The items of each column, from top to bottom.
    private(set) var columns: [[Int]]
    private var position: [Int]

    /// Orders items by the mean position of their neighbours, back and forth, then by exchanging adjacent items; keeps
    /// the best order.
    init(_ items: [LayeredItem], columns: [[Int]]) {
        self.items = items
        self.columns = columns
        position = Array(repeating: 0, count: items.count)
        for column in columns { number(column) }
        var best = columns
        var fewest = crossings
        for round in 0..<24 where fewest > 0 {
            let goesRight = round.isMultiple(of: 2)
            let order = goesRight ? Array(columns.indices) : columns.indices.reversed()
            for layer in order { sort(layer, by: goesRight ? \.left : \.right) }
            if round > 3 { for layer in columns.indices { exchange(layer) } }
            if crossings < fewest {
                fewest = crossings
                best = self.columns
            }
        }
        self.columns = best
        for column in best { number(column) }
    }

    private mutating func number(_ column: [Int]) {
        for (index, item) in column.enumerated() { position[item] = index }
    }

    /// The position of a line's end, as a number that increases downwards.
    private func endPosition(_ link: LayeredItem.Link) -> Double {
        Double(position[link.item]) + link.offset / max(1, items[link.item].height + 1)
    }

    private mutating func sort(_ layer: Int, by side: KeyPath<LayeredItem, [LayeredItem.Link]>) {
        let column = columns[layer]
        var keys: [Int: Double] = [:]
        for (index, item) in column.enumerated() {
            let links = items[item][keyPath: side]
            keys[item] =
                links.isEmpty
                ? Double(index) : links.reduce(0) { $0 + endPosition($1) } / Double(links.count)
        }
        // Items without neighbours on that side approximately keep their position, because equal keys keep their order.
        columns[layer] = column.enumerated().sorted { left, right in
            (keys[left.element] ?? 0, left.offset) < (keys[right.element] ?? 0, right.offset)
        }.map(\.element)
        number(columns[layer])
    }

    /// Exchanges adjacent items in a column as long as that reduces crossings.
    private mutating func exchange(_ layer: Int) {
        var isBetter = true
        var rounds = 0
        while isBetter, rounds < 8 {
            isBetter = false
            rounds += 1
            for index in columns[layer].indices.dropLast() {
                let (upper, lower) = (columns[layer][index], columns[layer][index + 1])
                if crossings(upper, above: lower) > crossings(lower, above: upper) {
                    columns[layer].swapAt(index, index + 1)
                    number(columns[layer])
                    isBetter = true
                }
            }
        }
    }

    private func crossings(_ upper: Int, above lower: Int) -> Int {
        var count = 0
        for side in [\LayeredItem.left, \LayeredItem.right] {
            let others = items[lower][keyPath: side].map(endPosition)
            for link in items[upper][keyPath: side] {
                let end = endPosition(link)
                for other in others where other < end { count += 1 }
            }
        }
        return count
    }

    /// The total number of crossings.
    private var crossings: Int {
        var count = 0
        for column in columns {
            var lines: [(from: Double, to: Double)] = []
            for item in column {
                for link in items[item].right {
                    let from = Double(position[item]) + link.ownOffset / max(1, items[item].height + 1)
                    lines.append((from, endPosition(link)))
                }
            }
            for first in lines.indices {
                for second in lines.indices.dropFirst(first + 1) {
                    let (a, b) = (lines[first], lines[second])
                    if (a.from - b.from) * (a.to - b.to) < 0 { count += 1 }
                }
            }
        }
        return count
    }
}
