/// The column of each box: edges go to the right, most of them to the next column, and columns stay near the target
/// height.
struct GraphLayering {
    /// The column of each node, starting at 0.
    private(set) var layers: [Int]
    /// For each edge whether it goes from right to left, which at least one edge of each cycle does.
    private(set) var isReversed: [Bool]

    private let graph: LayeredGraph
    private let height: Double
    private let spacing: Double

    /// - Parameter height: The maximum height of a column, unless one box is higher.
    init(_ graph: LayeredGraph, height: Double, spacing: Double) {
        self.graph = graph
        self.height = height
        self.spacing = spacing
        layers = Array(repeating: 0, count: graph.nodes.count)
        isReversed = Array(repeating: false, count: graph.edges.count)
        breakCycles()
        spreadLeaves()
        assign()
        for _ in 0..<4 { tighten() }
        closeGaps()
    }

    private func ends(_ index: Int) -> (from: Int, to: Int) {
        let edge = graph.edges[index]
        return isReversed[index] ? (edge.to, edge.from) : (edge.from, edge.to)
    }

    private var realEdges: [Int] { graph.edges.indices.filter { graph.edges[$0].from != graph.edges[$0].to } }

    /// Orders the nodes so that few edges go back (sources first, sinks last, between them those with the most outgoing
    /// edges), and reverses those that do.
    private mutating func breakCycles() {
        var outgoing = [Int](repeating: 0, count: graph.nodes.count)
        var incoming = outgoing
        for index in realEdges {
            outgoing[graph.edges[index].from] += 1
            incoming[graph.edges[index].to] += 1
        }
        var rest = Set(graph.nodes.indices)
        var head: [Int] = []
        var tail: [Int] = []
        func take(_ node: Int) {
            rest.remove(node)
            for index in realEdges {
                let edge = graph.edges[index]
                if edge.from == node, rest.contains(edge.to) { incoming[edge.to] -= 1 }
                if edge.to == node, rest.contains(edge.from) { outgoing[edge.from] -= 1 }
            }
        }
        while !rest.isEmpty {
            let ordered = rest.sorted()
            if let sink = ordered.first(where: { outgoing[$0] == 0 && incoming[$0] > 0 }) {
                tail.append(sink)
                take(sink)
            } else if let source = ordered.first(where: { incoming[$0] == 0 }) {
                head.append(source)
                take(source)
            } else {
                let best = ordered.max { outgoing[$0] - incoming[$0] < outgoing[$1] - incoming[$1] } ?? ordered[0]
                head.append(best)
                take(best)
            }
        }
        var position = [Int](repeating: 0, count: graph.nodes.count)
        for (index, node) in (head + tail.reversed()).enumerated() { position[node] = index }
        for index in realEdges {
            isReversed[index] = position[graph.edges[index].from] > position[graph.edges[index].to]
        }
    }

    /// If many boxes are connected only to the same box, places half of them on the other side of that box.
    private mutating func spreadLeaves() {
        var edgesOf = [[Int]](repeating: [], count: graph.nodes.count)
        for index in realEdges {
            edgesOf[graph.edges[index].from].append(index)
            edgesOf[graph.edges[index].to].append(index)
        }
        func isLeaf(_ node: Int) -> Bool {
            Set(edgesOf[node].flatMap { [graph.edges[$0].from, graph.edges[$0].to] }).count == 2
        }
        for node in graph.nodes.indices where edgesOf[node].count > 3 && !isLeaf(node) {
            let leaves = Set(edgesOf[node].flatMap { [ends($0).from, ends($0).to] }).filter { $0 != node && isLeaf($0) }
                .sorted()
            let total = leaves.reduce(0) { $0 + graph.nodes[$1].height + spacing }
            guard total > height * 0.8 else { continue }
            var sum = 0.0
            for leaf in leaves {
                sum += graph.nodes[leaf].height + spacing
                for index in edgesOf[leaf] {
                    let goesOut = ends(index).from == node
                    if goesOut != (sum <= total / 2) { isReversed[index].toggle() }
                }
            }
        }
    }

    /// Assigns every node to the first column to the right of all its predecessors that has room.
    private mutating func assign() {
        var predecessors = [[Int]](repeating: [], count: graph.nodes.count)
        var successors = predecessors
        for index in realEdges {
            let (from, to) = ends(index)
            predecessors[to].append(from)
            successors[from].append(to)
        }
        var waiting = predecessors.map { Set($0).count }
        var heights: [Double] = []
        var ready = graph.nodes.indices.filter { waiting[$0] == 0 }
        while !ready.isEmpty {
            // Nodes with the most successors come first, then by name.
            ready.sort { (successors[$0].count, $1) > (successors[$1].count, $0) }
            let node = ready.removeFirst()
            var layer = (predecessors[node].map { layers[$0] }.max() ?? -1) + 1
            let needed = graph.nodes[node].height + spacing
            while layer < heights.count, heights[layer] > 0, heights[layer] + needed > height { layer += 1 }
            while heights.count <= layer { heights.append(0) }
            heights[layer] += needed
            layers[node] = layer
            for next in Set(successors[node]).sorted() {
                waiting[next] -= 1
                if waiting[next] == 0 { ready.append(next) }
            }
        }
    }

    /// Moves nodes to the columns where their edges are shortest, within what the direction of edges and the height
    /// allow.
    private mutating func tighten() {
        var heights: [Int: Double] = [:]
        for node in graph.nodes.indices { heights[layers[node], default: 0] += graph.nodes[node].height + spacing }
        for node in graph.nodes.indices {
            var low = 0
            var high = layers.max() ?? 0
            var neighbours: [Int] = []
            for index in realEdges {
                let (from, to) = ends(index)
                if to == node {
                    low = max(low, layers[from] + 1)
                    neighbours.append(layers[from])
                }
                if from == node {
                    high = min(high, layers[to] - 1)
                    neighbours.append(layers[to])
                }
            }
            guard !neighbours.isEmpty, low <= high else { continue }
            let needed = graph.nodes[node].height + spacing
            func length(_ layer: Int) -> Int { neighbours.reduce(0) { $0 + abs($1 - layer) } }
            let here = layers[node]
            let better = (low...high).filter { layer in
                length(layer) < length(here) && (heights[layer] ?? 0) + needed <= height
            }
            guard let best = better.min(by: { (length($0), $0) < (length($1), $1) }) else { continue }
            heights[here, default: 0] -= needed
            heights[best, default: 0] += needed
            layers[node] = best
        }
    }

    private mutating func closeGaps() {
        let used = Set(layers).sorted()
        var position: [Int: Int] = [:]
        for (index, layer) in used.enumerated() { position[layer] = index }
        layers = layers.map { position[$0] ?? 0 }
    }
}
