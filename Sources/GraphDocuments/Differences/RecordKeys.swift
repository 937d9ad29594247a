/// Replaces ids by natural keys (`Tag/=home`), so that two graphs that do not share primary keys can be compared.
///
/// A record whose key is incomplete or not unique keeps its id. Memory holds an id for each record of an entity with a
/// key.
package struct RecordKeys: Sendable {
    private let entities: [String: PlainLayout.Entity]
    private var names: [RecordID: RecordID] = [:]

    /// Reads the keys of all records.
    ///
    /// - Parameters:
    ///   - entities: For each entity with a key its attributes and to-one relationships, and the entity whose name the
    ///     key has.
    ///   - records: Passes all records to its argument.
    package init(
        entities: [PlainLayout.Entity], records: ((GraphRecord) throws -> Void) throws -> Void
    ) rethrows {
        self.entities = Dictionary(entities.map { ($0.name, $0) }, uniquingKeysWith: { $1 })
        guard !entities.isEmpty else { return }
        var parts: [RecordID: (entity: String, parts: [Part])] = [:]
        try records { record in
            if let key = self.parts(of: record) { parts[record.id] = (record.entity, key) }
        }
        let texts = RecordKeys.texts(of: parts)
        var owners: [RecordID: RecordID] = [:]
        var shared: Set<RecordID> = []
        for (id, values) in texts {
            let entity = parts[id]?.entity ?? ""
            let name = RecordID.key(entity: self.entities[entity]?.keyEntity ?? entity, values: values)
            if owners.updateValue(id, forKey: name) != nil { shared.insert(name) }
            names[id] = name
        }
        names = names.filter { !shared.contains($0.value) }
    }

    private enum Part {
        case text(String)
        case record(RecordID)
    }

    /// Nil if the record's entity has no key, or one of its parts is missing.
    private func parts(of record: GraphRecord) -> [Part]? {
        guard let entity = entities[record.entity], !entity.key.isEmpty else { return nil }
        var parts: [Part] = []
        for name in entity.key {
            if let value = record.value(of: name) {
                guard let text = TextValue.text(of: value) else { return nil }
                parts.append(.text(text))
            } else if case .toOne(let target?)? = record.target(of: name) {
                parts.append(.record(target))
            } else {
                return nil
            }
        }
        return parts
    }

    /// The texts of the keys, where relationships refer to records with a key, through at most 15 others. Keys in a
    /// cycle are never resolved.
    private static func texts(of all: [RecordID: (entity: String, parts: [Part])]) -> [RecordID: [String]] {
        var texts: [RecordID: [String]] = [:]
        var pending = Array(all.keys)
        // Each round uses only the results of the previous ones, so that the order of the records does not matter.
        for _ in 0..<16 where !pending.isEmpty {
            let found = pending.compactMap { id in all[id].flatMap { text(of: $0.parts, texts) }.map { (id, $0) } }
            if found.isEmpty { break }
            for (id, text) in found { texts[id] = text }
            pending.removeAll { texts[$0] != nil }
        }
        return texts
    }

    private static func text(of parts: [Part], _ known: [RecordID: [String]]) -> [String]? {
        var texts: [String] = []
        for part in parts {
            switch part {
            case .text(let text): texts.append(text)
            case .record(let target):
                guard let inner = known[target] else { return nil }
                texts += inner
            }
        }
        return texts
    }

    /// The ids of all records with a key.
    fileprivate var ids: some Collection<RecordID> { names.keys }

    /// The record's id: its key if it has one, else its own id.
    package func name(of id: RecordID) -> RecordID { names[id] ?? id }

    /// The record with all ids replaced by keys.
    package func renamed(_ record: GraphRecord) -> GraphRecord {
        names.isEmpty ? record : record.renamed(name)
    }
}

extension GraphDelta {
    /// The delta with keys, of one with ids that both states share. It contains all records that have another key in
    /// the new state, also those whose properties are unchanged: a key may contain that of a related record.
    package func named(_ old: RecordKeys, _ new: RecordKeys) -> GraphDelta {
        var all = self
        let changed = Set(changes.map(\.subject.id))
        for id in old.ids where !changed.contains(id) && old.name(of: id) != new.name(of: id) {
            guard let entity = id.entity else { continue }
            all.changes.append(.updated(RecordUpdate(id: id, entity: entity)))
        }
        return all.named(old: old.name, new: new.name)
    }
}
