/// Boxes of known sizes and lines between positions on them, to be laid out in columns from left to right.
struct LayeredGraph {
    struct Node {
        var width: Double
        var height: Double
    }

    /// A line. It starts at the right of one box and ends at the left of the other, or vice versa, depending on their
    /// columns.
    struct Edge {
        var from: Int
        /// The vertical offset of the line's beginning from the upper edge of the box.
        var fromOffset: Double
        var to: Int
        var toOffset: Double
    }

    var nodes: [Node]
    var edges: [Edge]

    /// The connected components, as indexes of their nodes, sorted by the first node of each.
    var components: [[Int]] {
        var neighbours = [[Int]](repeating: [], count: nodes.count)
        for edge in edges {
            neighbours[edge.from].append(edge.to)
            neighbours[edge.to].append(edge.from)
        }
        var isMet = [Bool](repeating: false, count: nodes.count)
        var components: [[Int]] = []
        for start in nodes.indices where !isMet[start] {
            isMet[start] = true
            var component: [Int] = []
            var pending = [start]
            while let node = pending.popLast() {
                component.append(node)
                for next in neighbours[node] where !isMet[next] {
                    isMet[next] = true
                    pending.append(next)
                }
            }
            components.append(component.sorted())
        }
        return components
    }

    /// The subgraph with the given nodes, and the indexes of its edges in this graph.
    func part(_ members: [Int]) -> (graph: LayeredGraph, edges: [Int]) {
        var position: [Int: Int] = [:]
        for (index, member) in members.enumerated() { position[member] = index }
        var part = LayeredGraph(nodes: members.map { nodes[$0] }, edges: [])
        var kept: [Int] = []
        for (index, edge) in edges.enumerated() {
            guard let from = position[edge.from], let to = position[edge.to] else { continue }
            part.edges.append(Edge(from: from, fromOffset: edge.fromOffset, to: to, toOffset: edge.toOffset))
            kept.append(index)
        }
        return (part, kept)
    }
}

/// The positions of all boxes and lines.
struct GraphDrawing {
    struct Point: Hashable {
        var x: Double
        var y: Double
    }

    struct Frame: Hashable {
        var x: Double
        var y: Double
        var width: Double
        var height: Double
    }

    /// The boxes.
    var frames: [Frame]
    /// The lines: pairs of points; within a pair the line is straight and horizontal, between pairs it curves. The line
    /// of a box to itself has two points.
    var paths: [[Point]]
    var width = 0.0
    var height = 0.0
}
