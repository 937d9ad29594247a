import Foundation
import GRDB
import PredicateLanguage

/// The new values of a batch update: constants, and expressions that use the row's own values.
struct BatchAssignments {
    enum Source {
        case value(Value)
        case expression(SQLFragment)
    }

    /// By slot, ascending.
    let sources: [(slot: Int, source: Source)]

    /// - Throws: `CocoaError.coreData` for a property that the entity does not have, a value of the wrong type, or an
    ///   expression that cannot be translated to SQL.
    init(_ properties: [AnyHashable: Any], of entity: SQLEntity, schema: SQLSchema, store: UInt16) throws {
        let layout = entity.entity.layout
        let reader = BatchValues(layout: layout, store: store)
        var sources: [Int: Source] = [:]
        for (property, value) in properties {
            guard let name = (property.base as? String) ?? (property.base as? NSPropertyDescription)?.name else {
                throw CocoaError(.coreData, "The properties of a batch update must be strings or descriptions.")
            }
            if let expression = value as? NSExpression, !expression.node.isConstant {
                guard let slot = layout.slot(named: name) else {
                    throw CocoaError(
                        .coreData, "The entity “\(entity.entity.name ?? "")” has no attribute “\(name)” to update.")
                }
                sources[slot] = .expression(
                    try Self.fragment(expression, slot: slot, of: entity, schema: schema, store: store))
            } else {
                let constant = value as? NSExpression
                let plain = try constant?.node.constant() ?? value
                var row = layout.initialValues
                for slot in try reader.set([name: constant == nil ? value : plain], in: &row) {
                    sources[slot] = .value(row[slot])
                }
            }
        }
        self.sources = sources.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    private static func fragment(
        _ expression: NSExpression, slot: Int, of entity: SQLEntity, schema: SQLSchema, store: UInt16
    ) throws -> SQLFragment {
        do {
            let writer = try SQLWriter(entity.entity, schema: schema, dialect: SQLiteDialect(), store: store)
            let before = writer.subject.scope.from.text
            let value = try writer.value(expression.node)
            let slotKind = entity.entity.layout.slots[slot].kind
            guard writer.subject.scope.from.text == before, let kind = SQLKind(slotKind),
                kind == value.kind || (kind.isNumber && value.kind.isNumber)
            else { throw PredicateRefusal(.mixedKinds, expression.node) }
            return value.sql
        } catch let refusal as PredicateRefusal {
            throw CocoaError(
                .coreData,
                "“\(refusal.place)” cannot be computed by a batch update: it is not an expression that uses only the "
                    + "row's own values, or not of the attribute's type.")
        }
    }
}

extension ExpressionNode {
    /// Whether the expression has the same value for all rows.
    fileprivate var isConstant: Bool {
        switch self {
        case .constant: true
        case .function(_, let arguments): arguments.allSatisfy(\.isConstant)
        case .aggregate(let elements): elements.allSatisfy(\.isConstant)
        default: false
        }
    }

    fileprivate func constant() throws -> Any {
        try RowSelection.explaining(predicateFormat) {
            try ExpressionEvaluator(self).value(for: nil) ?? NSNull()
        }
    }
}

/// Changes rows of one entity with one statement, or with two if the keys of the changed rows are required.
struct BatchUpdater {
    private let entity: SQLEntity
    private let batch: BatchTransaction
    private(set) var values: ValueWriter

    init(_ entity: SQLEntity, batch: BatchTransaction) {
        self.entity = entity
        self.batch = batch
        values = ValueWriter(schema: batch.schema, externalData: batch.content.externalData)
    }

    /// Changes the rows of a selection; returns their number, and their keys if required.
    mutating func update(
        _ selection: BatchSelection, assignments: BatchAssignments, wantsKeys: Bool
    ) throws -> (keys: [ObjectKey], count: Int) {
        let columns = assignments.sources.compactMap { entity.columns[$0.slot] }
        let needsKeys = wantsKeys || batch.history != nil || columns.contains(where: \.hasStorageByte)
        var keys: [ObjectKey] = []
        let rows: SQLRestriction
        let arguments: [DatabaseValue]
        switch selection {
        case .query(let query) where !needsKeys:
            let selected = try batch.content.compiler.rows(query, selecting: "t0.Z_PK", store: batch.store)
            rows = .text("Z_PK IN (\(selected.sql))")
            arguments = selected.arguments
        default:
            keys = try selection.keys(of: entity, in: batch)
            let numbers = keys.map(\.number)
            try batch.noteFiles(in: columns, of: entity, keys: numbers)
            rows = .keys
            arguments = [SQLiteDialect().value(of: numbers).databaseValue]
        }
        let count = try run(assignments, rows: rows, arguments)
        if batch.history != nil {
            let slots = assignments.sources.map(\.slot)
            for key in keys {
                let own = batch.schema.model.orderedEntities[Int(key.entity)]
                guard let place = batch.schema.entity(own) else { continue }
                batch.history?.update(place, key: key.number, slots: slots)
            }
        }
        return (keys, count)
    }

    private mutating func run(
        _ assignments: BatchAssignments, rows: SQLRestriction, _ arguments: [DatabaseValue]
    ) throws -> Int {
        let all = assignments.sources + derived(from: assignments)
        var sets: [SQLAssignment] = []
        for (slot, source) in all {
            guard let column = entity.columns[slot] else { continue }
            switch source {
            case .value: sets += entity.columnNames(of: [slot]).map { .parameter($0) }
            case .expression(let fragment): sets.append(.expression(fragment.text, of: column.name))
            }
        }
        let statement = try SQLStatement(
            SQLUpdate(entity.table, as: "t0", set: sets + [.versionIncrement()], where: rows), in: batch.database)
        defer { statement.finish() }
        var position = 1
        for (slot, source) in all {
            guard let column = entity.columns[slot] else { continue }
            switch source {
            case .value(let value):
                let target = ValueWriter.Target(slot: slot, of: entity.entity.layout, column: column)
                position = try values.bind(value, to: target, of: statement, at: position)
            case .expression(let fragment):
                for argument in fragment.arguments {
                    statement.bind(argument.value(constants: [], offset: 0, limit: 0), at: position)
                    position += 1
                }
            }
        }
        for argument in arguments {
            statement.bind(argument, at: position)
            position += 1
        }
        try statement.run()
        return batch.database.changesCount
    }

    /// The new values of attributes that are derived from assigned attributes of the same row. Triggers update those of
    /// other rows.
    private func derived(from assignments: BatchAssignments) -> [(slot: Int, source: BatchAssignments.Source)] {
        let layout = entity.entity.layout
        var derived: [(slot: Int, source: BatchAssignments.Source)] = []
        for (slot, description) in layout.slots.enumerated() {
            guard let derivation = description.attribute.flatMap(Derivation.init), derivation.isOwn else { continue }
            let origin: (name: String, function: PredicateFunctions.Name?)
            switch derivation {
            case .now:
                derived.append((slot, .value(.real(Date().timeIntervalSinceReferenceDate))))
                continue
            case .copy(let name): origin = (name, nil)
            case .canonical(let name): origin = (name, .canonical)
            case .uppercase(let name): origin = (name, .uppercase)
            case .lowercase(let name): origin = (name, .lowercase)
            case .count, .sum, .related, .relatedText: continue
            }
            let changed = assignments.sources.first { $0.slot == layout.slot(named: origin.name) }
            switch (changed?.source, origin.function) {
            case (nil, _): continue
            case (.value(.string(let text))?, let function?):
                derived.append((slot, .expression("\(function.rawValue)(\(SQLArgument.text(text)))")))
            case (.value(let value)?, let function):
                derived.append((slot, .value(function == nil ? value : .null)))
            case (.expression(let fragment)?, let function?):
                derived.append((slot, .expression("\(function.rawValue)(\(fragment))")))
            case (.expression(let fragment)?, nil): derived.append((slot, .expression(fragment)))
            }
        }
        return derived
    }
}
