import Foundation

/// A snapshot of hashes of a graph, to which later states are compared: it contains no values, but determines whether
/// they are unchanged. Its size is eight bytes for each property, and the ids; it is Codable.
///
///     let token = try coordinator.changeToken()
///     …
///     let delta = try coordinator.changes(since: token)      // the new values of changed properties
///
/// A delta from a token can be applied and joined to the next. It cannot be reverted or merged, because the old values
/// are unknown. If that is needed, keep a document instead of a token.
public struct GraphToken: Sendable, Hashable {
    private var entities: [String: Records] = [:]

    /// The records of one entity.
    fileprivate struct Records: Sendable, Hashable {
        /// The properties of these records, in the order of their first occurrence.
        var properties: [String] = []
        /// For each record the hashes of its properties, in that order; zero, or missing at the end, for an absent
        /// property.
        var prints: [RecordID: [UInt64]] = [:]
    }

    /// The number of records in the snapshot.
    public var recordCount: Int { entities.values.reduce(0) { $0 + $1.prints.count } }

    /// Creates the token of a state. Cost: one step for each record.
    ///
    /// - Parameter records: Passes all records to its argument, in any order.
    package init(of records: ((GraphRecord) throws -> Void) throws -> Void) rethrows {
        var positions: [String: [String: Int]] = [:]
        try records { record in
            guard !record.isDeleted else { return }
            var prints: [UInt64] = []
            for (name, print) in GraphToken.prints(of: record) {
                let known = positions[record.entity]?[name]
                let position = known ?? positions[record.entity]?.count ?? 0
                if known == nil {
                    positions[record.entity, default: [:]][name] = position
                    entities[record.entity, default: Records()].properties.append(name)
                }
                while prints.count <= position { prints.append(0) }
                prints[position] = print
            }
            entities[record.entity, default: Records()].prints[record.id] = prints
        }
    }

    private static func prints(of record: GraphRecord) -> [(name: String, print: UInt64)] {
        let record = record.canonical
        return record.attributes.map { ($0.name, PropertyPrint.of($0.value)) }
            + record.relationships.map { ($0.name, PropertyPrint.of($0.target)) }
    }

    // MARK: - Comparing

    /// The changes between the token and a state, without old values.
    func changes(to records: ((GraphRecord) throws -> Void) throws -> Void) rethrows -> [RecordChange] {
        let positions = entities.mapValues { entity in
            Dictionary(entity.properties.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
        }
        var changes: [RecordChange] = []
        var met: Set<RecordSubject> = []
        try records { record in
            guard !record.isDeleted else { return }
            met.insert(record.subject)
            guard let old = entities[record.entity]?.prints[record.id] else {
                changes.append(.inserted(record.canonical))
                return
            }
            var same: Set<String> = []
            for (name, print) in GraphToken.prints(of: record) {
                guard let position = positions[record.entity]?[name], position < old.count else { continue }
                if old[position] == print { same.insert(name) }
            }
            let update = RecordUpdate(settingAllBut: same, of: record.canonical)
            if !update.isEmpty { changes.append(.updated(update)) }
        }
        for (entity, known) in entities {
            for id in known.prints.keys where !met.contains(RecordSubject(entity: entity, id: id)) {
                changes.append(.deleted(GraphRecord(id: id, entity: entity)))
            }
        }
        return changes
    }
}

extension RecordUpdate {
    /// Creates an update that sets the properties of a record except some, without old values.
    init(settingAllBut names: Set<String>, of record: GraphRecord) {
        self.init(
            id: record.id, entity: record.entity,
            attributes: record.attributes.filter { !names.contains($0.name) }
                .map { AttributeChange(name: $0.name, old: nil, new: $0.value) },
            relationships: record.relationships.filter { !names.contains($0.name) }
                .map {
                    RelationshipChange(
                        name: $0.name, isOrdered: $0.isOrdered, change: .replaced(old: nil, new: $0.target))
                })
    }
}

// MARK: - Coding

extension GraphToken: Codable {
    private enum CodingKeys: String, CodingKey {
        case version, entities
    }

    private static let version = 1

    /// Throws `DecodingError` for data that are not a token, or one of a newer version.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        guard try container.decode(Int.self, forKey: .version) == GraphToken.version else {
            throw DecodingError.dataCorruptedError(
                forKey: .version, in: container, debugDescription: "The token has a newer version.")
        }
        entities = try container.decode([String: Records].self, forKey: .entities)
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(GraphToken.version, forKey: .version)
        try container.encode(entities, forKey: .entities)
    }
}

extension GraphToken.Records: Codable {
    private enum CodingKeys: String, CodingKey {
        case properties, records, equivalent
    }

    /// A record whose id is canonically equivalent to another one, which is the same key of a dictionary.
    private struct EquivalentRecord: Codable {
        /// In UTF-8, because a property list takes equivalent texts for one and the same.
        let id: Data
        let prints: Data
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        properties = try container.decode([String].self, forKey: .properties)
        var all = try container.decode([String: Data].self, forKey: .records).map { (id: $0, prints: $1) }
        all += (try container.decodeIfPresent([EquivalentRecord].self, forKey: .equivalent) ?? [])
            .map { (String(decoding: $0.id, as: UTF8.self), $0.prints) }
        for record in all {
            guard record.prints.count.isMultiple(of: 8), record.prints.count / 8 <= properties.count else {
                throw DecodingError.dataCorruptedError(
                    forKey: .records, in: container, debugDescription: "The hashes of \(record.id) are incomplete.")
            }
            let bytes = [UInt8](record.prints)
            prints[RecordID(record.id)] = stride(from: 0, to: bytes.count, by: 8).map { start in
                bytes[start..<start + 8].reversed().reduce(0) { $0 << 8 | UInt64($1) }
            }
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(properties, forKey: .properties)
        var records: [String: Data] = [:]
        var equivalent: [EquivalentRecord] = []
        for (id, prints) in prints {
            var data = Data(capacity: prints.count * 8)
            for print in prints { withUnsafeBytes(of: print.littleEndian) { data.append(contentsOf: $0) } }
            guard let known = records.index(forKey: id.text) else {
                records[id.text] = data
                continue
            }
            // The first of them by UTF-8 is in the dictionary, in whatever order they are met.
            let other = records[known]
            guard id.precedes(RecordID(other.key)) else {
                equivalent.append(EquivalentRecord(id: Data(id.text.utf8), prints: data))
                continue
            }
            equivalent.append(EquivalentRecord(id: Data(other.key.utf8), prints: other.value))
            records.remove(at: known)
            records[id.text] = data
        }
        try container.encode(records, forKey: .records)
        if !equivalent.isEmpty {
            try container.encode(equivalent.sorted { $0.id.lexicographicallyPrecedes($1.id) }, forKey: .equivalent)
        }
    }
}
