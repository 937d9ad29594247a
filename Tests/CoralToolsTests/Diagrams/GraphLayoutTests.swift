import Testing

@testable import CoralTools

/// A readable layout: boxes do not overlap, and lines do not cross them.
@Suite struct GraphLayoutTests {
    /// A generator with a fixed seed.
    private struct Random: RandomNumberGenerator {
        var state: UInt64
        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state ^ (state >> 29)
        }
    }

    private func graph(seed: UInt64) -> LayeredGraph {
        var random = Random(state: seed &+ 1)
        let count = Int.random(in: 1...24, using: &random)
        let nodes = (0..<count).map { _ in
            LayeredGraph.Node(
                width: Double.random(in: 80...260, using: &random), height: Double.random(in: 30...400, using: &random))
        }
        let edges = (0..<Int.random(in: 0...(2 * count), using: &random)).map { _ in
            let (from, to) = (Int.random(in: 0..<count, using: &random), Int.random(in: 0..<count, using: &random))
            return LayeredGraph.Edge(
                from: from, fromOffset: Double.random(in: 10...(nodes[from].height - 10), using: &random), to: to,
                toOffset: Double.random(in: 10...(nodes[to].height - 10), using: &random))
        }
        return LayeredGraph(nodes: nodes, edges: edges)
    }

    @Test func `no box touches another, and no line crosses a box`() {
        for seed in 0..<300 as Range<UInt64> {
            let graph = graph(seed: seed)
            let drawing = GraphLayout.drawing(of: graph)
            for (index, frame) in drawing.frames.enumerated() {
                #expect(frame.width >= graph.nodes[index].width && frame.height == graph.nodes[index].height)
                #expect(frame.x >= 0 && frame.y >= -0.001, "seed \(seed)")
                #expect(
                    frame.x + frame.width <= drawing.width + 0.001 && frame.y + frame.height <= drawing.height + 0.001)
                for other in drawing.frames.dropFirst(index + 1) {
                    let isApart =
                        frame.x + frame.width < other.x || other.x + other.width < frame.x
                        || frame.y + frame.height < other.y || other.y + other.height < frame.y
                    #expect(isApart, "seed \(seed)")
                }
            }
            for path in drawing.paths { check(path, drawing, seed) }
        }
    }

    private func check(_ path: [GraphDrawing.Point], _ drawing: GraphDrawing, _ seed: UInt64) {
        #expect(path.count.isMultiple(of: 2) && !path.isEmpty)
        for index in path.indices.dropLast() {
            let (left, right) = (min(path[index].x, path[index + 1].x), max(path[index].x, path[index + 1].x))
            let (upper, lower) = (min(path[index].y, path[index + 1].y), max(path[index].y, path[index + 1].y))
            // A curve stays within the rectangle of its ends; the rectangle of a level line has no height.
            for frame in drawing.frames {
                let crosses =
                    left < frame.x + frame.width - 0.01 && right > frame.x + 0.01
                    && upper < frame.y + frame.height - 0.01 && lower > frame.y + 0.01
                #expect(!crosses, "seed \(seed)")
            }
        }
    }

    @Test func `lines end at the given offsets`() {
        for seed in 0..<50 as Range<UInt64> {
            let graph = graph(seed: seed)
            let drawing = GraphLayout.drawing(of: graph)
            for (edge, path) in zip(graph.edges, drawing.paths) {
                let (from, to) = (drawing.frames[edge.from], drawing.frames[edge.to])
                #expect(abs((path.first?.y ?? 0) - from.y - edge.fromOffset) < 0.001)
                #expect(abs((path.last?.y ?? 0) - to.y - edge.toOffset) < 0.001)
                #expect([from.x, from.x + from.width].contains(path.first?.x ?? -1))
                #expect([to.x, to.x + to.width].contains(path.last?.x ?? -1))
            }
        }
    }

    @Test func `the same graph gives the same drawing`() {
        let graph = graph(seed: 7)
        let (first, second) = (GraphLayout.drawing(of: graph), GraphLayout.drawing(of: graph))
        #expect(first.frames == second.frames && first.paths == second.paths)
    }
}
