import Foundation
import ManagedObjects

/// The cache nodes of an atomic store by the keys of their objects, with versions for detecting conflicts.
struct AtomicStoreCache {
    struct Entry {
        let node: NSAtomicStoreCacheNode
        var version: Int64
    }

    private struct Table {
        var entries: [Int64: Entry] = [:]
        /// The nodes in the order of their keys; nil if they must be sorted again.
        var ordered: [NSAtomicStoreCacheNode]?
    }

    /// By the index of the root entity in the model.
    private var tables: [Int: Table] = [:]

    var nodes: [NSAtomicStoreCacheNode] { tables.values.flatMap { $0.entries.values.map(\.node) } }

    func entry(of key: Int64, root: Int) -> Entry? { tables[root]?.entries[key] }

    /// The key of a node's object and the index of its root entity in the model.
    private static func address(of node: NSAtomicStoreCacheNode) -> (root: Int, key: Int64) {
        (node.objectID.entity.rootEntity.index, node.objectID.key.number)
    }

    /// Whether a node is the current node of its object.
    func contains(_ node: NSAtomicStoreCacheNode) -> Bool {
        let (root, key) = Self.address(of: node)
        return entry(of: key, root: root)?.node === node
    }

    mutating func add(_ node: NSAtomicStoreCacheNode, version: Int64 = 1) {
        let (root, key) = Self.address(of: node)
        let entry = Entry(node: node, version: version)
        let former = tables[root, default: Table()].entries.updateValue(entry, forKey: key)
        if former?.node !== node { tables[root]?.ordered = nil }
    }

    mutating func remove(_ node: NSAtomicStoreCacheNode) {
        let (root, key) = Self.address(of: node)
        if tables[root]?.entries.removeValue(forKey: key) != nil { tables[root]?.ordered = nil }
    }

    mutating func setVersion(_ version: Int64, of node: NSAtomicStoreCacheNode) {
        let (root, key) = Self.address(of: node)
        tables[root]?.entries[key]?.version = version
    }

    /// The nodes of an entity in the order of their keys.
    mutating func nodes(of entity: NSEntityDescription, includingSubentities: Bool) -> [NSAtomicStoreCacheNode] {
        let root = entity.rootEntity
        guard let table = tables[root.index] else { return [] }
        let nodes = table.ordered ?? table.entries.sorted { $0.key < $1.key }.map(\.value.node)
        if table.ordered == nil { tables[root.index]?.ordered = nodes }
        let indices = includingSubentities ? entity.subtree : entity.index..<(entity.index + 1)
        return indices == root.subtree ? nodes : nodes.filter { indices.contains($0.objectID.entity.index) }
    }
}

/// The cache nodes of an atomic store as subjects of predicate evaluation. Used while the store is locked.
final class AtomicRowGraph: WholeRowGraph {
    fileprivate let store: NSAtomicStore

    init(_ store: NSAtomicStore) {
        self.store = store
    }

    func subjects(of entity: NSEntityDescription, includingSubentities: Bool) -> Subjects {
        Subjects(nodes: store.cache.nodes(of: entity, includingSubentities: includingSubentities), graph: self)
    }

    struct Subjects: Sequence, IteratorProtocol {
        fileprivate let nodes: [NSAtomicStoreCacheNode]
        fileprivate let graph: AtomicRowGraph
        private var position = 0
        private var last: RowSubject?

        fileprivate init(nodes: [NSAtomicStoreCacheNode], graph: AtomicRowGraph) {
            (self.nodes, self.graph) = (nodes, graph)
        }

        mutating func next() -> RowSubject? {
            guard position < nodes.count else { return nil }
            let node = nodes[position]
            position += 1
            let key = graph.store.key(of: node)
            let layout = graph.store.entities[Int(key.entity)].layout
            return RowSubject.next(
                after: &last, key: key, layout: layout,
                content: .source(NodeValues(store: graph.store, node: node, layout: layout)), graph: graph)
        }
    }

    private func subject(_ key: ObjectKey) -> RowSubject {
        RowSubject(key: key, layout: store.entities[Int(key.entity)].layout, content: .unread, graph: self)
    }

    func subject(for key: ObjectKey) throws -> RowSubject? { subject(key) }

    func read(_ subject: RowSubject) throws {
        let root = store.entities[Int(subject.key.entity)].rootEntity.index
        subject.content =
            store.cache.entry(of: subject.key.number, root: root).map { entry in
                .source(NodeValues(store: store, node: entry.node, layout: subject.layout))
            } ?? .missing
    }

    private struct NodeValues: RowValues {
        let store: NSAtomicStore
        let node: NSAtomicStoreCacheNode
        let layout: EntityLayout

        func value(slot: Int) throws -> Value { try store.value(slot: slot, of: node, layout: layout) }
    }

    func members(field: Int, of subject: RowSubject) throws -> [RowSubject] {
        let toMany = subject.layout.toMany[field]
        guard toMany.isPersistent else { return [] }
        return store.memberKeys(of: toMany, owner: subject.key.number).map(self.subject)
    }

    func objectID(for key: ObjectKey) -> NSManagedObjectID {
        store.persistentStoreCoordinator?.objectID(for: key)
            ?? NSManagedObjectID(
                key: key, entity: store.entities[Int(key.entity)], storeIdentifier: store.identifier)
    }
}
