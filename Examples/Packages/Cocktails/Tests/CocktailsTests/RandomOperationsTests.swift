import Foundation
import SwiftData
import XCTest

/// A node of a tree, with links to any others.
@Model
final class Node {
    var key: Int
    var value: Int
    var note: String?
    var parent: Node?
    @Relationship(deleteRule: .cascade, inverse: \Node.parent) var children: [Node] = []
    @Relationship(inverse: \Node.linked) var links: [Node] = []
    var linked: [Node] = []

    init(key: Int, value: Int) {
        self.key = key
        self.value = value
    }
}

/// What a context and its store should contain, in plain values.
private struct Expected {
    struct Values: Equatable {
        var value: Int
        var note: String?
        var parent: Int?
        var links: Set<Int> = []
    }

    var nodes: [Int: Values] = [:]

    mutating func delete(_ key: Int) {
        guard nodes.removeValue(forKey: key) != nil else { return }
        for other in nodes.keys { nodes[other]?.links.remove(key) }
        for child in nodes.filter({ $0.value.parent == key }).keys { delete(child) }
    }
}

/// Random operations on one context, compared with a naive model of it.
final class RandomOperationsTests: XCTestCase {
    private var folder: URL!
    private var container: ModelContainer!
    private var context: ModelContext!
    private var random = Seeded(state: 20_261_125)
    private var current = Expected()
    private var saved = Expected()
    private var nodes: [Int: Node] = [:]
    private var lastKey = 0
    private var saves = 0

    override func setUpWithError() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        container = try ModelContainer(
            for: Node.self, configurations: ModelConfiguration(url: folder.appendingPathComponent("nodes.store")))
        context = ModelContext(container)
    }

    override func tearDown() {
        (context, container, nodes) = (nil, nil, [:])
        try? FileManager.default.removeItem(at: folder)
    }

    func testTenThousandOperations() throws {
        var counts: [String: Int] = [:]
        for step in 1...10_000 {
            let operation = try operate()
            counts[operation, default: 0] += 1
            XCTAssertEqual(context.hasChanges || current.nodes == saved.nodes, true, "Step \(step), \(operation)")
            if step.isMultiple(of: 250) { try compare(context, with: current, "step \(step), \(operation)") }
            if testRun?.failureCount ?? 0 > 0 { return XCTFail("The first difference is before step \(step).") }
        }
        XCTAssertEqual(counts.count, 12, "\(counts)")
    }

    private func key() -> Int? {
        let keys = current.nodes.keys.sorted()
        return keys.isEmpty ? nil : keys[random.int(0...keys.count - 1)]
    }

    /// One operation, on both sides. Returns its name.
    private func operate() throws -> String {
        // Deletions keep the graph small enough to be compared completely.
        let choice = current.nodes.count > 60 ? 75 : random.int(0...99)
        if choice < 22 || current.nodes.count < 5 { return insert() }
        guard let key = key(), let other = self.key(), let node = nodes[key], let second = nodes[other] else {
            XCTFail("A model is missing.")
            return ""
        }
        switch choice {
        case ..<38:
            node.value = random.int(0...9)
            current.nodes[key]?.value = node.value
            return "value"
        case ..<44:
            node.note = random.chance() ? random.text() : nil
            current.nodes[key]?.note = node.note
            return "note"
        case ..<52:
            let parent = random.chance() ? second : nil
            node.parent = parent
            current.nodes[key]?.parent = parent == nil ? nil : other
            return "parent"
        case ..<58:
            if !node.children.contains(second) { node.children.append(second) }
            current.nodes[other]?.parent = key
            return "child"
        case ..<68:
            if let index = node.links.firstIndex(of: second) {
                node.links.remove(at: index)
                current.nodes[key]?.links.remove(other)
            } else {
                node.links.append(second)
                current.nodes[key]?.links.insert(other)
            }
            return "links"
        case ..<72:
            // The other end of the same pair.
            if !second.linked.contains(node) { second.linked.append(node) }
            current.nodes[key]?.links.insert(other)
            return "linked"
        case ..<80:
            context.delete(node)
            context.processPendingChanges()
            current.delete(key)
            nodes = nodes.filter { current.nodes[$0.key] != nil }
            return "delete"
        case ..<88:
            try context.save()
            saved = current
            saves += 1
            if saves.isMultiple(of: 5) { try compare(ModelContext(container), with: saved, "a fresh context") }
            return "save"
        case ..<92:
            context.rollback()
            current = saved
            try find()
            return "rollback"
        case ..<98:
            let limit = random.int(0...9)
            let found = try context.fetch(
                FetchDescriptor<Node>(predicate: #Predicate { $0.value > limit || $0.parent?.value == limit }))
            let expected = current.nodes.filter { _, values in
                values.value > limit || values.parent.flatMap { current.nodes[$0]?.value } == limit
            }
            XCTAssertEqual(Set(found.map(\.key)), Set(expected.keys))
            return "fetch"
        default:
            // Another context changes the same store: this one must see it before it goes on.
            try context.save()
            saved = current
            let foreign = ModelContext(container)
            let same = try XCTUnwrap(foreign.model(for: node.persistentModelID) as? Node)
            same.value = 10
            try foreign.save()
            current.nodes[key]?.value = 10
            saved = current
            _ = try context.fetchCount(FetchDescriptor<Node>())
            return "foreign"
        }
    }

    private func insert() -> String {
        lastKey += 1
        let node = Node(key: lastKey, value: random.int(0...9))
        current.nodes[lastKey] = Expected.Values(value: node.value)
        // A new model comes into the context by itself, or with one that refers to it.
        if let key = key(), key != lastKey, let parent = nodes[key], random.chance() {
            node.parent = parent
            current.nodes[lastKey]?.parent = key
        } else {
            context.insert(node)
        }
        nodes[lastKey] = node
        return "insert"
    }

    /// Finds the models again after a rollback.
    private func find() throws {
        let found = try context.fetch(FetchDescriptor<Node>())
        nodes = Dictionary(found.map { ($0.key, $0) }, uniquingKeysWith: { first, _ in first })
    }

    private func compare(_ context: ModelContext, with expected: Expected, _ place: String) throws {
        let found = try context.fetch(FetchDescriptor<Node>())
        XCTAssertEqual(found.count, expected.nodes.count, place)
        for node in found {
            let values = Expected.Values(
                value: node.value, note: node.note, parent: node.parent?.key, links: Set(node.links.map(\.key)))
            XCTAssertEqual(values, expected.nodes[node.key], "\(place), node \(node.key)")
            let children = expected.nodes.filter { $0.value.parent == node.key }.keys
            XCTAssertEqual(Set(node.children.map(\.key)), Set(children), "\(place), children of \(node.key)")
            let linked = expected.nodes.filter { $0.value.links.contains(node.key) }.keys
            XCTAssertEqual(Set(node.linked.map(\.key)), Set(linked), "\(place), links to \(node.key)")
        }
    }
}
