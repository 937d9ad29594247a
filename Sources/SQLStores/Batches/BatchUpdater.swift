import CoreDataErrors
import Foundation
import ManagedObjects
import class FoundationAdditions.NSExpression
import PredicateLanguage
import SQLStatements

/// The new values of a batch update: constants, and expressions that use the row's own values.
struct BatchAssignments {
    enum Source {
        case value(Value)
        case expression(SQLFragment)
    }

    /// By slot, ascending.
    let sources: [(slot: Int, source: Source)]

    /// - Throws: `CocoaError.coreData` for a property that the entity does not have or that is derived or transient, a value of
    ///   the wrong type, or an expression that cannot be translated to SQL.
    init(
        _ properties: [AnyHashable: Any], of entity: SQLEntity, layout: EntityLayout, compiler: SQLQueryCompiler,
        store: any SQLBatchStore
    ) throws {
        let reader = BatchValues(layout, of: store)
        var sources: [Int: Source] = [:]
        for (property, value) in properties {
            guard let name = (property.base as? String) ?? (property.base as? NSPropertyDescription)?.name else {
                throw CocoaError(.coreData, "The properties of a batch update must be strings or descriptions.")
            }
            if let expression = value as? NSExpression, !expression.node.isConstant {
                guard let slot = layout.slot(named: name) else {
                    throw CocoaError(
                        .coreData, "The entity “\(entity.entity.name)” has no attribute “\(name)” to update.")
                }
                guard entity.columns[slot]?.hasStorageByte != true else {
                    throw CocoaError(
                        .coreData,
                        "“\(name)” cannot be computed by a batch update, because its values may be in files.")
                }
                sources[slot] = .expression(
                    try Self.fragment(expression, slot: slot, of: entity, compiler: compiler, store: store.number))
            } else {
                let constant = value as? NSExpression
                let plain = try constant?.node.constant() ?? value
                var row = layout.initialValues
                let slots = try reader.set([name: constant == nil ? value : plain], in: &row)
                try reader.check(row, slots: slots)
                for slot in slots { sources[slot] = .value(row[slot]) }
            }
        }
        self.sources = sources.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
        for slot in sources.keys.sorted() where !layout.slots[slot].isAssignable {
            throw CocoaError(
                .coreData,
                "“\(layout.slots[slot].name ?? "")” of “\(entity.entity.name)” is derived or transient: a batch update cannot set it."
            )
        }
    }

    private static func fragment(
        _ expression: NSExpression, slot: Int, of entity: SQLEntity, compiler: SQLQueryCompiler, store: UInt16
    ) throws -> SQLFragment {
        do {
            let writer = try compiler.writer(for: entity.entity.index, store: store)
            let before = writer.subject.scope.from.text
            let value = try writer.value(expression.node)
            let slotKind = entity.entity.slots[slot].kind
            let column = value.columnPlace?.column
            let isInFiles = entity.columns.contains { $0?.hasStorageByte == true && $0?.name == column }
            guard writer.subject.scope.from.text == before, !isInFiles, let kind = SQLKind(slotKind),
                kind == value.kind
                    || (kind.isNumber && value.kind.isNumber && (value.kind.isWhole || !kind.isWhole))
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
struct BatchUpdater<Transaction: RowTransaction> {
    private let entity: SQLEntity
    private let batch: Transaction
    private(set) var values: ValueWriter

    init(_ entity: SQLEntity, batch: Transaction) {
        self.entity = entity
        self.batch = batch
        values = ValueWriter(schema: batch.schema, externalData: batch.externalData)
    }

    /// Changes the rows of a selection; returns their number, and their keys if required.
    mutating func update(
        _ selection: BatchSelection, assignments: BatchAssignments, returnsKeys: Bool
    ) throws -> (keys: [ObjectKey], count: Int) {
        let all = try assignments.sources + derived(of: entity, from: assignments)
        let columns = all.compactMap { entity.columns[$0.slot] }
        let subentities = try entity.entity.subtree.dropFirst().compactMap(batch.schema.entity(at:)).filter {
            try !derived(of: $0, from: assignments).isEmpty
        }
        let needsKeys =
            returnsKeys || batch.recordsHistory || batch.dialect.numbersParameters
            || columns.contains(where: \.hasStorageByte) || !subentities.isEmpty
        var keys: [ObjectKey] = []
        let count: Int
        if !needsKeys, let selected = try selection.statement(in: batch) {
            count = try run(
                all, of: entity, with: [.versionIncrement()], rows: .text("Z_PK IN (\(selected.sql))"),
                selected.arguments)
        } else {
            keys = try selection.keys(of: entity, in: batch)
            let numbers = keys.map(\.number)
            try batch.noteFiles(in: columns, of: entity, keys: numbers)
            count = try run(all, of: entity, with: [.versionIncrement()], keys: numbers)
        }
        for subentity in subentities {
            let numbers = keys.lazy.filter { Int($0.entity) == subentity.entity.index }.map(\.number)
            guard !numbers.isEmpty else { continue }
            let own = try derived(of: subentity, from: assignments)
            try batch.noteFiles(in: own.compactMap { subentity.columns[$0.slot] }, of: subentity, keys: Array(numbers))
            _ = try run(own, of: subentity, keys: Array(numbers))
        }
        if batch.recordsHistory {
            let slots = assignments.sources.map(\.slot)
            for key in keys {
                guard let sqlEntity = batch.schema.entity(at: Int(key.entity)) else { continue }
                batch.record { $0.update(sqlEntity, key: key.number, slots: slots) }
            }
        }
        return (keys, count)
    }

    /// Changes the rows with keys: by one statement, or by one for each row if the values of a row are in files of its own. A file
    /// is removed when its row gets another value.
    private mutating func run(
        _ all: [(slot: Int, source: BatchAssignments.Source)], of entity: SQLEntity, with others: [SQLAssignment] = [],
        keys: [Int64]
    ) throws -> Int {
        let needsFiles = try all.contains { slot, source in
            guard let column = entity.columns[slot], case .value(let value) = source else { return false }
            return try values.needsFile(value, for: ValueWriter.Target(slot: slot, of: entity, column: column))
        }
        return try (needsFiles ? keys.map { [$0] } : [keys]).reduce(0) { count, keys in
            try count + run(all, of: entity, with: others, rows: .keys, [.text(batch.dialect.value(of: keys))])
        }
    }

    private mutating func run(
        _ all: [(slot: Int, source: BatchAssignments.Source)], of entity: SQLEntity, with others: [SQLAssignment] = [],
        rows: SQLRestriction, _ arguments: [ColumnValue]
    ) throws -> Int {
        try checkRanges(of: all, of: entity, rows: rows, arguments)
        var sets: [SQLAssignment] = []
        for (slot, source) in all {
            guard let column = entity.columns[slot] else { continue }
            switch source {
            case .value: sets += entity.columnNames(of: [slot]).map { .parameter($0) }
            case .expression(let fragment): sets.append(.expression(fragment.text, of: column.name))
            }
        }
        let bound = SQLArguments()
        for (slot, source) in all {
            guard let column = entity.columns[slot] else { continue }
            switch source {
            case .value(let value):
                let target = ValueWriter.Target(slot: slot, of: entity, column: column)
                _ = try values.bind(value, to: target, of: bound, at: bound.next)
            case .expression(let fragment):
                for argument in fragment.values { bound.append(argument) }
            }
        }
        for argument in arguments { bound.append(argument) }
        let update = SQLUpdate(entity.table, as: "t0", set: sets + others, where: rows)
        return try batch.run(SQLQuery(update, bound.values, in: batch.dialect))
    }

    /// Ensures that the computed numbers are values of their attributes, before rows get them: a column has no range.
    ///
    /// Cost: one more statement, which reads the rows, for each computed attribute that is smaller than 64 bits.
    ///
    /// - Throws: `CocoaError.coreData` for a number outside of the range.
    private func checkRanges(
        of all: [(slot: Int, source: BatchAssignments.Source)], of entity: SQLEntity, rows: SQLRestriction,
        _ arguments: [ColumnValue]
    ) throws {
        for (slot, source) in all {
            let description = entity.entity.slots[slot]
            guard case .expression(let fragment) = source, let range = description.kind.range else { continue }
            let isOutside = "(\(fragment.text)) NOT BETWEEN \(range.lowerBound) AND \(range.upperBound)"
            let outside = SQLSelect(["Z_PK"], from: "\(entity.table) AS t0", where: .all([.text(isOutside), rows]))
            let cursor = try batch.database.cursor(
                SQLQuery(outside, fragment.values + arguments, in: batch.dialect))
            defer { cursor.finish() }
            guard try !cursor.step() else {
                throw CocoaError(
                    .coreData,
                    "The value that a batch update computes for “\(description.name ?? "")” of “\(entity.entity.name)” is not in the attribute's range, for the row \(cursor.integer(0)) or others."
                )
            }
        }
    }

    /// The new values of attributes that an entity derives from assigned attributes of the same row. Triggers update those of
    /// other rows. Those that only a subentity has are set by a second statement, for its rows.
    private func derived(
        of owner: SQLEntity, from assignments: BatchAssignments
    ) throws -> [(slot: Int, source: BatchAssignments.Source)] {
        let isSubentity = owner.entity !== entity.entity
        var derived: [(slot: Int, source: BatchAssignments.Source)] = []
        for (slot, description) in owner.entity.slots.enumerated() {
            guard let derivation = description.attribute?.derivation, derivation.isOwn, owner.columns[slot] != nil,
                !isSubentity || description.name.flatMap(entity.entity.slot(named:)) == nil
            else { continue }
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
            let changed = assignments.sources.first { $0.slot == entity.entity.slot(named: origin.name) }
            var source = changed?.source
            if isSubentity, case .expression? = source, let column = changed.flatMap({ entity.columns[$0.slot] }) {
                // The first statement has computed it.
                source = .expression(SQLFragment("t0.\(column.name)", []))
            }
            switch (source, origin.function) {
            case (nil, _): continue
            case (.value(.string(let text))?, .some):
                derived.append((slot, .value(OwnDerivations.value(of: derivation, source: .string(text), now: 0))))
            case (.value(let value)?, let function):
                derived.append((slot, .value(function == nil ? value : .null)))
            case (.expression(let fragment)?, let function?):
                guard let name = batch.dialect.name(of: function) else {
                    throw CocoaError(
                        .coreData,
                        "“\(description.name ?? "")” cannot be derived by a batch update: the database does not have the function."
                    )
                }
                derived.append((slot, .expression("\(name)(\(fragment))")))
            case (.expression(let fragment)?, nil): derived.append((slot, .expression(fragment)))
            }
        }
        return derived
    }
}

extension SQLFragment {
    /// The values of the parameters of a fragment that no predicate's constants are in.
    fileprivate var values: [ColumnValue] { arguments.map { $0.value(constants: [], offset: 0, limit: 0) } }
}
