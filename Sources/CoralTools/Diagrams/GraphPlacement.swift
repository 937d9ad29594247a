/// The vertical positions of items: near the items that they are connected with, so that lines are nearly horizontal, and
/// without overlap.
struct GraphPlacement {
    /// The upper edge of each item.
    private(set) var tops: [Double]

    private let items: [LayeredItem]
    private let columns: [[Int]]
    private let spacing: Double

    init(_ ordering: GraphOrdering, spacing: Double) {
        items = ordering.items
        columns = ordering.columns
        self.spacing = spacing
        tops = Array(repeating: 0, count: items.count)
        for column in columns {
            var top = 0.0
            for (index, item) in column.enumerated() {
                if index > 0 { top += gap(column[index - 1], item) }
                tops[item] = top
                top += items[item].height
            }
        }
        for round in 0..<20 {
            let goesRight = round.isMultiple(of: 2)
            for layer in goesRight ? Array(columns.indices) : columns.indices.reversed() {
                // The first rounds use neighbours on one side, so that the order propagates; the last ones use both, so
                // that positions converge.
                place(layer, left: goesRight || round > 11, right: !goesRight || round > 11)
            }
        }
        let first = tops.min() ?? 0
        for index in tops.indices { tops[index] -= first }
    }

    private func gap(_ upper: Int, _ lower: Int) -> Double {
        switch (items[upper].node, items[lower].node) {
        case (nil, nil): 10
        case (_?, _?): spacing
        default: 18
        }
    }

    /// Moves each item of a column as near as possible to the position where its lines would be horizontal: minimises the
    /// sum of the squared distances, keeping the order and the minimum spacing, by merging items that would overlap.
    private mutating func place(_ layer: Int, left: Bool, right: Bool) {
        struct Block {
            var count: Int
            var weight: Double
            var sum: Double
            var mean: Double { sum / weight }
        }
        let column = columns[layer]
        var offsets: [Double] = []
        var offset = 0.0
        var blocks: [Block] = []
        for (index, item) in column.enumerated() {
            if index > 0 { offset += items[column[index - 1]].height + gap(column[index - 1], item) }
            offsets.append(offset)
            let links = (left ? items[item].left : []) + (right ? items[item].right : [])
            // Passing lines have the highest weight, so that they are straight.
            let weight = items[item].node == nil ? 4.0 : links.isEmpty ? 0.2 : Double(links.count)
            let wish =
                links.isEmpty
                ? tops[item]
                : links.reduce(0) { $0 + tops[$1.item] + $1.offset - $1.ownOffset } / Double(links.count)
            blocks.append(Block(count: 1, weight: weight, sum: (wish - offset) * weight))
            while blocks.count > 1, blocks[blocks.count - 2].mean > blocks[blocks.count - 1].mean {
                let last = blocks.removeLast()
                blocks[blocks.count - 1].count += last.count
                blocks[blocks.count - 1].weight += last.weight
                blocks[blocks.count - 1].sum += last.sum
            }
        }
        var index = 0
        for block in blocks {
            for _ in 0..<block.count {
                tops[column[index]] = block.mean + offsets[index]
                index += 1
            }
        }
    }
}
