import ManagedObjects
import PredicateLanguage

/// The keys of an entity's rows by the value of one attribute, used until rows of the hierarchy change.
final class ValueIndex: @unchecked Sendable {  // because it is immutable, and contains values of plain types only
    struct Name: Hashable {
        let entity: Int
        let root: Int
        let includesSubentities: Bool
        let key: String

        /// Nil for a property that cannot be indexed.
        init?(_ key: String, of query: RowQuery) {
            // Rows have no transient values: comparing them is an error.
            guard let slot = query.entity.layout.slot(named: key), query.entity.layout.kinds[slot].isIndexable,
                query.entity.layout.slots[slot].isPersistent
            else { return nil }
            entity = query.entity.index
            root = query.entity.rootEntity.index
            includesSubentities = query.includesSubentities
            self.key = key
        }
    }

    /// The change count of the table when the index was built.
    let changeCount: Int
    private let keysByValue: [PredicateValue: ContiguousArray<Int64>]

    /// Cost: one pass over the rows.
    init(_ name: Name, of entity: NSEntityDescription, in graph: MemoryRowGraph) {
        changeCount = graph.changeCount(ofRoot: name.root)
        var keysByValue: [PredicateValue: ContiguousArray<Int64>] = [:]
        for subject in graph.subjects(of: entity, includingSubentities: name.includesSubentities) {
            guard let value = try? subject.comparableValue(forKey: name.key) else { continue }
            keysByValue[value, default: []].append(subject.key.number)
        }
        self.keysByValue = keysByValue
    }

    /// The keys of the rows with one of some values, each once, ascending.
    func keys(of values: [PredicateValue]) -> ContiguousArray<Int64> {
        guard values.count != 1 else { return keysByValue[values[0]] ?? [] }
        return ContiguousArray(Set(values).flatMap { keysByValue[$0] ?? [] }.sorted())
    }
}

extension MemoryRowGraph {
    func changeCount(ofRoot root: Int) -> Int { content.tables[root]?.changeCount ?? 0 }
}

extension MemoryContent {
    /// A valid index; nil when the attribute is compared for the first time since rows have changed.
    func valueIndex(
        _ name: ValueIndex.Name, make: () -> ValueIndex, keep: ((inout MemoryContent) -> Void) -> Void
    ) -> ValueIndex? {
        let changeCount = tables[name.root]?.changeCount ?? 0
        if let known = valueIndexes[name], known.changeCount == changeCount { return known }
        guard comparedValues[name] == changeCount else {
            keep { $0.comparedValues[name] = changeCount }
            return nil
        }
        let index = make()
        keep { $0.valueIndexes[name] = index }
        return index
    }
}
