/// Divides the objects of a graph into portions that can be saved one after the other: the objects that an object
/// requires are in the same portion or an earlier one.
///
/// A portion consists of groups of objects that require each other: strongly connected components, which Tarjan's
/// algorithm finds. Each group comes after the groups that it requires. A group larger than the batch size is a portion
/// by itself. The search is iterative, so that its depth is not limited by the stack.
struct CopyBatches {
    private let graph: CopyGraph
    private var found: [Int] = []
    private var lowest: [Int] = []
    private var isOpen: [Bool] = []
    private var open: [Int] = []
    private var next = 0
    private var groups: [[Int]] = []

    /// - Returns: The indexes of the graph's objects, each in one portion, ascending within it.
    static func portions(of graph: CopyGraph, size: Int) -> [[Int]] {
        var batches = CopyBatches(graph)
        for number in graph.nodes.indices where batches.found[number] < 0 { batches.search(from: number) }
        var portions: [[Int]] = []
        var portion: [Int] = []
        for group in batches.groups {
            if !portion.isEmpty, portion.count + group.count > size {
                portions.append(portion.sorted())
                portion = []
            }
            portion += group
        }
        if !portion.isEmpty { portions.append(portion.sorted()) }
        return portions
    }

    private init(_ graph: CopyGraph) {
        self.graph = graph
        found = Array(repeating: -1, count: graph.nodes.count)
        lowest = found
        isOpen = Array(repeating: false, count: graph.nodes.count)
    }

    /// The objects whose copies must exist before an object's copy is saved: the required destinations of its
    /// relationships and, if values are taken from a parent, the object from which it was reached.
    private func needs(of number: Int) -> [Int] {
        let node = graph.nodes[number]
        var needs: [Int] = []
        for (relationship, targets) in zip(node.entity.relationships, node.targets) where relationship.isMandatory {
            needs += targets.compactMap { graph.index[$0] }
        }
        if node.entity.followsParent, let parent = node.parent { needs.append(parent) }
        return needs
    }

    private mutating func search(from start: Int) {
        var path: [(number: Int, needs: [Int], offset: Int)] = []
        enter(start, &path)
        while let (number, needs, offset) = path.last {
            if offset < needs.count {
                path[path.count - 1].offset += 1
                let need = needs[offset]
                if found[need] < 0 {
                    enter(need, &path)
                } else if isOpen[need] {
                    lowest[number] = min(lowest[number], found[need])
                }
                continue
            }
            path.removeLast()
            if let above = path.last?.number { lowest[above] = min(lowest[above], lowest[number]) }
            if lowest[number] == found[number] { closeGroup(of: number) }
        }
    }

    private mutating func enter(_ number: Int, _ path: inout [(number: Int, needs: [Int], offset: Int)]) {
        found[number] = next
        lowest[number] = next
        next += 1
        open.append(number)
        isOpen[number] = true
        path.append((number, needs(of: number), 0))
    }

    private mutating func closeGroup(of number: Int) {
        var group: [Int] = []
        while let member = open.popLast() {
            isOpen[member] = false
            group.append(member)
            if member == number { break }
        }
        groups.append(group)
    }
}
