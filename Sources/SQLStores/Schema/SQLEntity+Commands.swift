import SQLStatements

// The statements that read and write the rows of an entity.

extension SQLEntity {
    /// The slots that have columns.
    var storedSlots: [Int] { columns.indices.filter { columns[$0] != nil } }

    /// The columns of slots, each reference followed by the column with the entity of its destination.
    func columnNames(of slots: some Sequence<Int>) -> [String] {
        var names: [String] = []
        for slot in slots {
            guard let column = columns[slot] else { continue }
            names.append(column.name)
            if let companion = column.companion { names.append(companion) }
        }
        return names
    }

    /// The columns that every row has: key, entity, version.
    package static let rowColumns = ["Z_PK", "Z_ENT", "Z_OPT"]
    /// The columns that identify an object.
    static let keyColumns = ["Z_PK", "Z_ENT"]

    /// The column of an attribute or to-one relationship; nil if it is not stored.
    package func column(named name: String) -> SQLColumn? { entity.slot(named: name).flatMap { columns[$0] } }

    // MARK: - Conditions

    /// The condition for the rows of the entity and its subentities, if the table may contain others.
    ///
    /// - Parameter alias: The name of the table in the statement; nil for its own.
    func isOfHierarchy(_ alias: String? = nil) -> SQLRestriction {
        sharesTable ? .entities(hierarchyNumbers, alias) : .none
    }

    /// The condition for the rows of the entity and its subentities, for a statement whose rows a ``RowReader`` reads:
    /// the reader ignores rows of unknown entities, so a root entity needs no condition.
    func isOfReadHierarchy(_ alias: String? = nil) -> SQLRestriction {
        entity.superentity == nil ? .none : isOfHierarchy(alias)
    }

    /// The condition for the rows of the entity without those of its subentities.
    func isOfEntityItself(_ alias: String? = nil) -> SQLRestriction {
        sharesTable ? .entities([number], alias) : .none
    }

    // MARK: - Statements

    /// Inserts a new row. Parameters: key, entity, and the columns of the slots in order.
    func insertion(of slots: [Int]) -> SQLInsert {
        let values: [(column: String, value: String)] = [("Z_PK", "?"), ("Z_ENT", "?"), ("Z_OPT", "1")]
        return SQLInsert(into: table, values + columnNames(of: slots).map { ($0, "?") })
    }

    /// Changes rows. Parameters: the columns of the slots in order, then those of the version and of the condition.
    func update(
        of slots: some Sequence<Int>, version: SQLAssignment = .versionIncrement(),
        where condition: SQLRestriction = .key
    ) -> SQLUpdate {
        SQLUpdate(table, set: columnNames(of: slots).map { .parameter($0) } + [version], where: condition)
    }

    /// Deletes a row. Parameters: key and, if the version is checked, version.
    func deletion(checkingVersion: Bool) -> SQLDelete {
        SQLDelete(from: table, where: checkingVersion ? .all([.key, .version]) : .key)
    }

    /// Selects the keys and entities of rows.
    func keys(where condition: SQLRestriction, orderBy order: [String] = []) -> SQLSelect {
        SQLSelect(Self.keyColumns, from: table, where: condition, orderBy: order)
    }
}
