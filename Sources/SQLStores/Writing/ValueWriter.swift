import Foundation
import ManagedObjects
import SQLStatements
import SQLiteConnections

/// Binds an entity's values to the columns of a statement.
struct ValueWriter {
    let schema: SQLSchema
    let externalData: ExternalData?
    /// The files that were created in the transaction. They are deleted if it fails.
    private(set) var filesMade: [String] = []

    init(schema: SQLSchema, externalData: ExternalData?) {
        self.schema = schema
        self.externalData = externalData
    }

    /// The column of a slot with everything that binding needs, computed once for all rows.
    struct Target {
        let slot: Int
        let hasStorageByte: Bool
        let hasCompanion: Bool
        /// Of transformable values. Unmanaged because targets are copied for every value; the schema retains it.
        private let transformable: Unmanaged<TransformableAttribute>?
        var coding: TransformableAttribute? { transformable?.takeUnretainedValue() }

        /// - Parameter column: The column of the slot.
        init(slot: Int, of entity: SQLEntity, column: SQLColumn) {
            self.slot = slot
            hasStorageByte = column.hasStorageByte
            hasCompanion = column.companion != nil
            transformable = entity.entity.slots[slot].coding.map(Unmanaged.passUnretained)
        }
    }

    /// Binds a slot's value to its column, and the entity of a reference to the companion column. Returns the index of
    /// the next parameter.
    @inline(__always)
    mutating func bind(
        _ value: Value, to target: Target, of statement: some SQLBinding, at position: Int
    ) throws -> Int {
        switch value {
        case .null: statement.bindNull(at: position)
        case .integer(let number): statement.bind(number, at: position)
        case .real(let number): statement.bind(number, at: position)
        case .string(let text): statement.bind(text, at: position)
        case .data(let data): try bind(data, to: target, of: statement, at: position)
        case .uuid(let uuid): withUnsafeBytes(of: uuid.uuid) { statement.bind($0, at: position) }
        case .reference(let key): statement.bind(key.number, at: position)
        case .decimal(let number): statement.bind(number.nearestDouble, at: position)
        case .object(let box):
            switch box.value {
            case let url as URL: statement.bind(url.absoluteString, at: position)
            case let file as MissingFileValue where target.hasStorageByte:
                statement.bind(ExternalData.column(naming: file.name), at: position)
            default:
                guard let coding = target.coding else {
                    statement.bindNull(at: position)
                    break
                }
                let data = try coding.encode(box)
                try bind(data, to: target, of: statement, at: position)
            }
        }
        guard target.hasCompanion else { return position + 1 }
        if case .reference(let key) = value, let number = schema.number(entityIndex: Int(key.entity)) {
            statement.bind(number, at: position + 1)
        } else {
            statement.bindNull(at: position + 1)
        }
        return position + 2
    }

    /// Whether each row with a value has a file of its own.
    func needsFile(_ value: Value, for target: Target) throws -> Bool {
        guard externalData != nil, target.hasStorageByte else { return false }
        switch value {
        case .data(let data): return data.count >= ExternalData.threshold
        case .object(let box) where !(box.value is MissingFileValue):
            return try target.coding.map { try $0.encode(box).count >= ExternalData.threshold } ?? false
        default: return false
        }
    }

    /// Removes the files that were created after the first ones, because the row for which they were created is not written.
    mutating func removeFiles(after count: Int) {
        externalData?.remove(filesMade[count...])
        filesMade.removeSubrange(count...)
    }

    private mutating func bind(
        _ data: Data, to target: Target, of statement: some SQLBinding, at position: Int
    ) throws {
        guard target.hasStorageByte else {
            statement.bind(data, at: position)
            return
        }
        if let externalData, data.count >= ExternalData.threshold {
            let name = try externalData.write(data)
            filesMade.append(name)
            statement.bind(ExternalData.column(naming: name), at: position)
        } else {
            var marked = Data([ExternalData.Marker.inline])
            marked.append(data)
            statement.bind(marked, at: position)
        }
    }
}

extension Value {
    /// The value of a column for a slot of a kind.
    init(_ value: ColumnValue, kind: EntityLayout.Slot.Kind) {
        switch (value, kind) {
        case (.integer(let number), .double), (.integer(let number), .float), (.integer(let number), .date):
            self = .real(Double(number))
        case (.integer(let number), .decimal): self = .decimal(Decimal(number))
        case (.real(let number), .decimal): self = .decimal(Decimal(shortestOf: number))
        case (.integer(let number), _): self = .integer(number)
        case (.real(let number), .integer16), (.real(let number), .integer32), (.real(let number), .integer64):
            self = Int64(exactly: number.rounded(.towardZero)).map(Value.integer) ?? .null
        case (.real(let number), _): self = .real(number)
        case (.text(let text), .uri): self = URL(string: text).map { .object(ObjectValue($0)) } ?? .null
        case (.text(let text), _): self = .string(text)
        case (.blob(let data), .uuid) where data.count == 16:
            self = .uuid(UUID(uuid: data.withUnsafeBytes { $0.loadUnaligned(as: uuid_t.self) }))
        case (.blob(let data), _): self = .data(data)
        case (.null, _): self = .null
        }
    }

    /// The value whose bytes are in a column for values of all types.
    init(bytes: Data?, kind: EntityLayout.Slot.Kind) {
        guard let bytes else {
            self = .null
            return
        }
        let number =
            bytes.count == 8 ? bytes.withUnsafeBytes { UInt64(bigEndian: $0.loadUnaligned(as: UInt64.self)) } : nil
        switch kind {
        case .integer16, .integer32, .integer64, .boolean, .toOne, .position:
            self = number.map { .integer(Int64(bitPattern: $0)) } ?? .null
        case .double, .float, .date: self = number.map { .real(Double(bitPattern: $0)) } ?? .null
        case .decimal: self = number.map { .decimal(Decimal(shortestOf: Double(bitPattern: $0))) } ?? .null
        case .string: self = .string(String(decoding: bytes, as: UTF8.self))
        default:
            self = Value(
                kind == .uri ? .text(String(decoding: bytes, as: UTF8.self)) : .blob(bytes), kind: kind)
        }
    }
}

/// The derived attributes of an entity that are computed from the object's own values.
struct OwnDerivations {
    private struct Rule {
        let slot: Int
        let source: Int?
        let derivation: Derivation
    }

    private let rules: [Rule]
    /// The slots of all derived attributes, including those computed by triggers. Values assigned to them are not
    /// written.
    let derivedSlots: Set<Int>

    init(_ entity: SchemaEntity) {
        var rules: [Rule] = []
        var derived: Set<Int> = []
        for (slot, described) in entity.slots.enumerated() {
            guard let derivation = described.attribute?.derivation else { continue }
            derived.insert(slot)
            guard derivation.isOwn else { continue }
            let source: Int? =
                switch derivation {
                case .copy(let name), .canonical(let name), .uppercase(let name), .lowercase(let name):
                    entity.slot(named: name)
                default: nil
                }
            rules.append(Rule(slot: slot, source: source, derivation: derivation))
        }
        self.rules = rules
        derivedSlots = derived
    }

    /// The slots that are computed, ascending.
    var slots: [Int] { rules.map(\.slot) }

    /// The slots that are computed when other slots change.
    func slots(from changed: Set<Int>) -> [Int] {
        rules.filter { $0.derivation == .now || $0.source.map(changed.contains) == true }.map(\.slot)
    }

    /// Computes the values, and returns those that differ from the present ones.
    func apply(to values: inout ContiguousArray<Value>, now: Double) -> [(slot: Int, value: Value)] {
        var changed: [(slot: Int, value: Value)] = []
        for rule in rules {
            let source = rule.source.map { values[$0] } ?? .null
            let value = Self.value(of: rule.derivation, source: source, now: now)
            if !value.isSame(as: values[rule.slot]) { changed.append((rule.slot, value)) }
            values[rule.slot] = value
        }
        return changed
    }

    /// The value of a derivation from a value of the same row.
    static func value(of derivation: Derivation, source: Value, now: Double) -> Value {
        switch derivation {
        case .now: return .real(now)
        case .copy: return source
        default: return text(of: derivation, source: source)
        }
    }

    /// The text of a derivation from another text, of the same row or of another one.
    static func text(of derivation: Derivation, source: Value) -> Value {
        guard case .string(let text) = source else { return .null }
        switch derivation.textFunction {
        case .canonical:
            return .string(text.folding(options: [.caseInsensitive, .diacriticInsensitive], locale: nil))
        case .uppercase: return .string(text.uppercased())
        case .lowercase: return .string(text.lowercased())
        default: return .null
        }
    }
}

/// The to-many relationships that a save changes by pairs in join tables, as the changes of the history name them.
struct ChangedRelationships {
    /// The primary keys of the owners, by the number of the relationship.
    private var owners: [Int: Set<Int64>] = [:]

    /// None.
    init() {}

    init(_ groups: [SavePlan.PairGroup], _ schema: SQLSchema) {
        for group in groups {
            guard let relationship = schema.relationship(group.relationship) else { continue }
            owners[relationship.number, default: []].formUnion(group.pairs.map(\.source))
            guard let inverse = relationship.inverse else { continue }
            owners[inverse, default: []].formUnion(group.pairs.map(\.destination))
        }
    }

    /// The indexes of an updated object's to-many relationships that the save changes.
    func indexes(of entity: SQLEntity, _ update: SavePlan.Update) -> Set<Int> {
        guard !owners.isEmpty else { return Set(update.toMany) }
        let relationships = entity.entity.toMany
        return relationships.indices.reduce(into: Set(update.toMany)) { changed, index in
            if owners[relationships[index].number]?.contains(update.key) == true {
                changed.insert(index)
            }
        }
    }
}
