import ManagedObjects
import SQLStatements

/// The statements that create the join tables of the new schema from those of the old one: by renaming a table and its
/// columns if that suffices, otherwise by copying its pairs.
struct JoinTableMigration {
    /// A new table, and the old table that contains its pairs, from the point of view of the new table's owner.
    private struct Move {
        let table: SQLJoinTable
        let source: SQLPairs?
    }

    private let schema: MigratedSchema
    private let catalog: SQLCatalog
    private let moves: [Move]

    init(_ schema: MigratedSchema, _ catalog: SQLCatalog) {
        self.schema = schema
        self.catalog = catalog
        moves = schema.new.joinTables.map { table in
            let origin = schema.isMoved(table.owner) ? nil : schema.origins(of: table.owner).first
            let source = origin.flatMap { schema.old.pairs(of: $0) }.flatMap { catalog.hasTable($0.table) ? $0 : nil }
            return Move(table: table, source: source)
        }
    }

    /// The names of the tables that stay as they are.
    var unchanged: Set<String> { Set(moves.filter(isUnchanged).map(\.table.name)) }

    /// The statements, and the names under which old tables are left that the new schema does not have.
    func statements() -> (statements: [any SQLCommand], left: [String]) {
        let unchanged = unchanged
        var statements: [any SQLCommand] = []
        var names: [String: String] = [:]
        for (index, table) in schema.old.joinTables.enumerated()
        where catalog.hasTable(table.name) && !unchanged.contains(table.name) {
            names[table.name] = "Z__J\(index)"
            statements.append(SQLAlteration.renameTable(table.name, to: "Z__J\(index)"))
        }
        for move in moves where !unchanged.contains(move.table.name) {
            guard let source = move.source, let from = names[source.table] else {
                statements.append(move.table.definition)
                continue
            }
            if let renames = renames(source, move.table) {
                names[source.table] = nil
                statements.append(SQLAlteration.renameTable(from, to: move.table.name))
                statements += TableMigration.renaming(renames, in: move.table.name) as [any SQLCommand]
            } else {
                statements += [move.table.definition, copy(from, source, to: move.table)] as [any SQLCommand]
            }
        }
        return (statements, names.values.sorted())
    }

    private func isUnchanged(_ move: Move) -> Bool {
        guard let source = move.source, source.table == move.table.name,
            let renames = renames(source, move.table)
        else { return false }
        return renames.allSatisfy { $0.old == $0.new }
    }

    /// The names of the columns, if the table has the same columns in the same order of its primary key.
    private func renames(_ source: SQLPairs, _ table: SQLJoinTable) -> [(old: String, new: String)]? {
        guard let former = schema.old.joinTables.first(where: { $0.name == source.table }),
            former.sourceColumn == source.source, Set(catalog.columns[former.name] ?? []) == Set(former.columns),
            (source.position == nil) == (table.destinationPositionColumn == nil),
            (source.inversePosition == nil) == (table.sourcePositionColumn == nil)
        else { return nil }
        let positions = [
            (source.inversePosition, table.sourcePositionColumn), (source.position, table.destinationPositionColumn),
        ]
        return [(source.source, table.sourceColumn), (source.destination, table.destinationColumn)]
            + positions.compactMap { old, new in old.flatMap { old in new.map { (old, $0) } } }
    }

    private func copy(_ from: String, _ source: SQLPairs, to table: SQLJoinTable) -> SQLInsert {
        var columns = [table.sourceColumn, table.destinationColumn]
        var values = [source.source, source.destination]
        if let column = table.sourcePositionColumn {
            columns.append(column)
            values.append(
                source.inversePosition ?? SQLExpression.position(in: source.destination, by: source.source))
        }
        if let column = table.destinationPositionColumn {
            columns.append(column)
            values.append(source.position ?? SQLExpression.position(in: source.source, by: source.destination))
        }
        let pairs = SQLSelect(values, from: from, where: .text("TRUE"))
        return SQLInsert(into: table.name, columns, selection: pairs, duplicates: .areIgnored)
    }

    /// Deletes pairs with rows of removed entities.
    func cleaning() -> [SQLDelete] {
        moves.compactMap { move in
            let (table, owner) = (move.table, move.table.owner)
            guard move.source != nil, let origin = schema.origins(of: owner).first,
                let ownerEntity = schema.new.entity(at: owner.entity),
                let memberEntity = schema.new.destination(of: owner), let oldMembers = origin.destination,
                loses(origin.entity, ownerEntity) || loses(oldMembers, memberEntity)
            else { return nil }
            return SQLDelete(
                from: table.name,
                where: .any([
                    .notSelected(table.sourceColumn, schema.keys(ownerEntity)),
                    .notSelected(table.destinationColumn, schema.keys(memberEntity)),
                ]))
        }
    }

    private func loses(_ old: Int, _ new: SQLEntity) -> Bool {
        schema.old.entity(at: old).map { schema.loses($0, new) } ?? false
    }
}
