/// Lays out boxes and lines in columns. Lines start and end at the sides of boxes and run between columns; where a line
/// passes a column, a gap between boxes is reserved for it, so that no line crosses a box.
///
/// Cost: several passes over all lines; crossings are counted pairwise within the gap between two columns.
struct GraphLayout {
    private let graph: LayeredGraph
    private static let spacing = 30.0
    /// The target ratio of width to height.
    private static let proportion = 1.5

    /// The drawing of a graph: its components side by side, the largest first.
    static func drawing(of graph: LayeredGraph) -> GraphDrawing {
        let parts = graph.components.map { members -> (members: [Int], edges: [Int], drawing: GraphDrawing) in
            let part = graph.part(members)
            return (members, part.edges, GraphLayout(graph: part.graph).drawing())
        }
        return pack(parts.sorted { $0.drawing.width * $0.drawing.height > $1.drawing.width * $1.drawing.height }, graph)
    }

    /// Arranges the components in horizontal strips: side by side as long as there is room, lower ones stacked beside a
    /// higher one.
    private static func pack(
        _ parts: [(members: [Int], edges: [Int], drawing: GraphDrawing)], _ graph: LayeredGraph
    ) -> GraphDrawing {
        let gap = 48.0
        let area = parts.reduce(0) { $0 + ($1.drawing.width + gap) * ($1.drawing.height + gap) }
        let limit = max(parts.map(\.drawing.width).max() ?? 0, (area * proportion).squareRoot())
        var whole = GraphDrawing(
            frames: Array(repeating: .init(x: 0, y: 0, width: 0, height: 0), count: graph.nodes.count),
            paths: Array(repeating: [], count: graph.edges.count))
        var shelf = (top: 0.0, height: 0.0)
        var columns: [(left: Double, width: Double, bottom: Double)] = []
        for part in parts {
            let drawing = part.drawing
            let below = columns.firstIndex { column in
                drawing.width <= column.width && column.bottom + drawing.height <= shelf.top + shelf.height
            }
            if below == nil {
                let left = columns.last.map { $0.left + $0.width + gap } ?? 0
                if !columns.isEmpty, left + drawing.width > limit {
                    shelf = (shelf.top + shelf.height + gap, 0)
                    columns = [(0, drawing.width, shelf.top)]
                } else {
                    columns.append((left, drawing.width, shelf.top))
                }
            }
            let column = below ?? columns.count - 1
            let (x, y) = (columns[column].left, columns[column].bottom)
            for (member, frame) in zip(part.members, drawing.frames) {
                whole.frames[member] = .init(
                    x: frame.x + x, y: frame.y + y, width: frame.width, height: frame.height)
            }
            for (edge, path) in zip(part.edges, drawing.paths) {
                whole.paths[edge] = path.map { .init(x: $0.x + x, y: $0.y + y) }
            }
            columns[column].bottom += drawing.height + gap
            shelf.height = max(shelf.height, columns[column].bottom - gap - shelf.top)
            whole.width = max(whole.width, x + drawing.width)
            whole.height = max(whole.height, y + drawing.height)
        }
        return whole
    }

    // MARK: - One component

    private func drawing() -> GraphDrawing {
        let area = graph.nodes.reduce(0) { $0 + ($1.width + 110) * ($1.height + Self.spacing) }
        let tallest = graph.nodes.map(\.height).max() ?? 0
        let layering = GraphLayering(
            graph, height: max(tallest, (area / Self.proportion).squareRoot()), spacing: Self.spacing)
        let (items, columns, ways) = items(layering)
        let ordering = GraphOrdering(items, columns: columns)
        let placement = GraphPlacement(ordering, spacing: Self.spacing)
        return drawing(ordering, placement, ways, layering)
    }

    /// The items in the columns, and for each edge the items that it passes from left to right, including its ends.
    private func items(_ layering: GraphLayering) -> ([LayeredItem], [[Int]], [[Int]]) {
        var items = graph.nodes.indices.map {
            LayeredItem(node: $0, height: graph.nodes[$0].height, layer: layering.layers[$0])
        }
        var columns = [[Int]](repeating: [], count: (layering.layers.max() ?? 0) + 1)
        for node in graph.nodes.indices { columns[layering.layers[node]].append(node) }
        var ways: [[Int]] = []
        for (index, edge) in graph.edges.enumerated() {
            guard edge.from != edge.to else {
                ways.append([])
                continue
            }
            let ends = layering.isReversed[index] ? (edge.to, edge.from) : (edge.from, edge.to)
            let offsets =
                layering.isReversed[index] ? (edge.toOffset, edge.fromOffset) : (edge.fromOffset, edge.toOffset)
            var way = [ends.0]
            for layer in (layering.layers[ends.0] + 1)..<layering.layers[ends.1] {
                items.append(LayeredItem(node: nil, height: 0, layer: layer))
                columns[layer].append(items.count - 1)
                way.append(items.count - 1)
            }
            way.append(ends.1)
            for step in way.indices.dropLast() {
                let from = step == 0 ? offsets.0 : 0
                let to = step + 1 == way.count - 1 ? offsets.1 : 0
                items[way[step]].right.append(.init(item: way[step + 1], offset: to, ownOffset: from))
                items[way[step + 1]].left.append(.init(item: way[step], offset: from, ownOffset: to))
            }
            ways.append(way)
        }
        return (items, columns, ways)
    }

    private func drawing(
        _ ordering: GraphOrdering, _ placement: GraphPlacement, _ ways: [[Int]], _ layering: GraphLayering
    ) -> GraphDrawing {
        let columns = ordering.columns
        let widths = columns.map { column in
            column.compactMap { ordering.items[$0].node.map { graph.nodes[$0].width } }.max() ?? 0
        }
        var lefts: [Double] = []
        var x = 0.0
        for (layer, column) in columns.enumerated() {
            lefts.append(x)
            let lines = column.reduce(0) { $0 + ordering.items[$1].right.count }
            x += widths[layer] + (layer + 1 < columns.count ? min(240, 84 + 5 * Double(lines)) : 0)
        }
        var drawing = GraphDrawing(
            frames: graph.nodes.indices.map { node in
                .init(
                    x: lefts[layering.layers[node]], y: placement.tops[node], width: widths[layering.layers[node]],
                    height: graph.nodes[node].height)
            }, paths: [])
        var right = x
        for (index, way) in ways.enumerated() {
            let edge = graph.edges[index]
            guard let first = way.first, let last = way.last else {
                let frame = drawing.frames[edge.from]
                let side = frame.x + frame.width
                right = max(right, side + 44)
                drawing.paths.append([
                    .init(x: side, y: frame.y + edge.fromOffset), .init(x: side, y: frame.y + edge.toOffset),
                ])
                continue
            }
            let isReversed = layering.isReversed[index]
            var points: [GraphDrawing.Point] = []
            for item in way {
                let layer = ordering.items[item].layer
                let (left, rightSide) = (lefts[layer], lefts[layer] + widths[layer])
                if item == first {
                    points.append(
                        .init(x: rightSide, y: placement.tops[item] + (isReversed ? edge.toOffset : edge.fromOffset)))
                } else if item == last {
                    points.append(
                        .init(x: left, y: placement.tops[item] + (isReversed ? edge.fromOffset : edge.toOffset)))
                } else {
                    points.append(.init(x: left, y: placement.tops[item]))
                    points.append(.init(x: rightSide, y: placement.tops[item]))
                }
            }
            drawing.paths.append(isReversed ? points.reversed() : points)
        }
        drawing.width = right
        let lowest = drawing.paths.flatMap { $0.map(\.y) }.max() ?? 0
        drawing.height = max(lowest, drawing.frames.map { $0.y + $0.height }.max() ?? 0)
        return drawing
    }
}
