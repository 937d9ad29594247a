import ManagedObjects
import SQLStatements

/// The statements that create a table of the new schema from a table of the old one: by changes of its columns if these
/// suffice, otherwise by copying its rows into a new table.
struct TableMigration {
    let schema: MigratedSchema
    let table: SQLTable
    let pairs: [MigratedSchema.Pair]
    /// The old table, and whether other new tables get its rows too.
    let oldTable: String?
    let isShared: Bool
    /// The columns of the old table, with their declared types.
    let oldColumns: [(name: String, type: String)]
    /// Whether columns that the new table does not have stay, under other names.
    let defersCleanUp: Bool
    /// The sources of the new columns: for each column, by the old number of the entity.
    private var sources: [String: [Int64: ColumnSource]] = [:]

    init(
        _ schema: MigratedSchema, _ table: SQLTable, oldTable: String?, isShared: Bool,
        oldColumns: [(name: String, type: String)], defersCleanUp: Bool
    ) {
        self.schema = schema
        self.table = table
        self.oldTable = oldTable
        self.isShared = isShared
        self.defersCleanUp = defersCleanUp
        self.oldColumns = oldColumns.filter { !SQLEntity.rowColumns.contains($0.name) }
        pairs = schema.pairs.filter { $0.new.entity.root == table.root.index }
        for pair in pairs {
            for (slot, column) in pair.new.columns.enumerated() {
                guard let column, let source = pair.sources[slot] else { continue }
                sources[column.name, default: [:]][pair.old.number] = source
                guard let companion = column.companion, let source = pair.companions[slot] else { continue }
                sources[companion, default: [:]][pair.old.number] = source
            }
        }
    }

    var name: String { table.name }

    /// Whether the rows stay in their table.
    var isInPlace: Bool { oldTable != nil && renames != nil }

    /// Whether columns get other names, so that the statements of existing indexes no longer mean the same columns.
    var renamesColumns: Bool { renames?.contains { $0.old != $0.new } ?? false }

    /// The old name of each column that stays, if nothing but names, additions and values changes, and the others need not be
    /// removed by copying the table; nil otherwise.
    private var renames: [(old: String, new: String)]? {
        guard let oldTable, !isShared, !oldTable.isEmpty else { return nil }
        var renames: [(old: String, new: String)] = []
        var used: Set<String> = []
        let types = Dictionary(oldColumns.map { ($0.name, $0.type) }, uniquingKeysWith: { first, _ in first })
        for (column, declaration) in table.columns {
            let columns = Set((sources[column] ?? [:]).values.map(\.column))
            guard columns.count <= 1 else { return nil }
            guard let old = columns.first ?? nil else { continue }
            // Rows of other entities must not have a value in the column.
            let others = pairs.filter { sources[column]?[$0.old.number] == nil }
            guard types[old] == schema.dialect.name(of: declaration), used.insert(old).inserted,
                !others.contains(where: { $0.old.columns.contains { $0?.name == old || $0?.companion == old } })
            else { return nil }
            renames.append((old, column))
        }
        return used.count == oldColumns.count || defersCleanUp || schema.dialect.dropsColumns ? renames : nil
    }

    // MARK: - Statements

    /// The statements of a table that stays.
    func alterations() -> [any SQLCommand] {
        guard let renames else { return [] }
        let removed = oldColumns.map(\.name).filter { old in !renames.contains { $0.old == old } }
        var alterations = schema.dialect.dropsColumns ? dropping(removed) : leaving(removed)
        alterations += Self.renaming(renames, in: name)
        let kept = Set(renames.map(\.new))
        for (column, declaration) in table.columns where !kept.contains(column) {
            alterations.append(.addColumn(column, declaration, to: name))
        }
        var statements: [any SQLCommand] = alterations
        if !schema.removedNumbers.isEmpty {
            statements.append(SQLDelete(from: name, where: .entities(schema.removedNumbers)))
        }
        if let update { statements.append(update) }
        return statements
    }

    private func dropping(_ columns: [String]) -> [SQLAlteration] {
        columns.isEmpty ? [] : [.dropColumns(columns, of: name)]
    }

    /// Gives columns that are removed later other names.
    private func leaving(_ columns: [String]) -> [SQLAlteration] {
        var names = Set(oldColumns.map(\.name))
        return columns.filter { !DeferredCleanUp.isLeft($0) }.map {
            .renameColumn($0, of: name, to: DeferredCleanUp.name(besides: &names))
        }
    }

    /// Renames columns by way of names that no column has, as two columns may exchange theirs.
    static func renaming(_ renames: [(old: String, new: String)], in table: String) -> [SQLAlteration] {
        let changed = renames.filter { $0.old != $0.new }
        if changed.count == 1, let column = changed.first {
            return [.renameColumn(column.old, of: table, to: column.new)]
        }
        return changed.enumerated().map { .renameColumn($1.old, of: table, to: "Z__\($0)") }
            + changed.enumerated().map { .renameColumn("Z__\($0)", of: table, to: $1.new) }
    }

    /// The statement that sets the new values of all rows; nil if none changes.
    private var update: SQLUpdate? {
        var assignments: [SQLAssignment] = []
        var numbers: Set<Int64> = []
        for (column, _) in table.columns {
            let cases = (sources[column] ?? [:]).filter { !$0.value.isUnchanged && $0.value != .null }.sorted {
                $0.key < $1.key
            }.map { (number: $0.key, result: $0.value.text(of: column, in: schema.dialect)) }
            guard !cases.isEmpty else { continue }
            numbers.formUnion(cases.map(\.number))
            let isUniform = cases.count == pairs.count && Set(cases.map(\.result)).count == 1
            let value = isUniform ? cases[0].result : SQLExpression.choice(by: "Z_ENT", cases, else: column)
            assignments.append(.expression(value, of: column))
        }
        if let renumbering = schema.renumbering("Z_ENT", pairs) {
            assignments.append(.expression(renumbering, of: "Z_ENT"))
            numbers.formUnion(pairs.filter { $0.old.number != $0.new.number }.map(\.old.number))
        }
        guard !assignments.isEmpty else { return nil }
        let condition = numbers.count == pairs.count ? SQLRestriction.none : .entities(numbers.sorted())
        return SQLUpdate(name, set: assignments, where: condition)
    }

    /// The statement that copies the rows of an old table, which has another name, into the new one.
    func copy(from source: String) -> SQLInsert {
        var columns = SQLEntity.rowColumns
        var values = ["Z_PK", schema.renumbering("Z_ENT", pairs) ?? "Z_ENT", "Z_OPT"]
        for (column, _) in table.columns {
            let byNumber = (sources[column] ?? [:]).sorted { $0.key < $1.key }
            guard byNumber.contains(where: { $0.value != .null }) else { continue }
            columns.append(column)
            if byNumber.count == pairs.count, Set(byNumber.map(\.value)).count == 1 {
                values.append(byNumber[0].value.text(in: schema.dialect))
            } else {
                let cases = byNumber.map { (number: $0.key, result: $0.value.text(in: schema.dialect)) }
                values.append(SQLExpression.choice(by: "Z_ENT", cases))
            }
        }
        let rows = SQLSelect(values, from: source, where: .entities(pairs.map(\.old.number)), orderBy: ["Z_PK"])
        return SQLInsert(into: name, columns, selection: rows)
    }
}
