import Foundation
import GRDB
import ManagedObjects
import SQLStatements
import SQLiteConnections

// Reads the rows of an SQLite store, without objects. Not part of Core Data's API.

/// Reads the stored rows of one SQLite store, all from one state of the store.
///
/// Valid only inside the closure of ``NSManagedObjectContext/withRows(of:_:)``.
package struct StoreRows {
    fileprivate let store: SQLiteStore
    fileprivate let content: SQLiteStore.Content
    fileprivate let database: Database

    /// A column that a cursor reads.
    package enum Column: Sendable, Hashable {
        /// The attribute at the end of a path of to-one relationships; null if the path ends early.
        case attribute([String])
        /// The key of the object at the end of such a path; null if there is no such row.
        case object([String])
        /// The number of that object's entity: see ``StoreRows/entity(numbered:)``.
        case entity([String])
        /// The key in a to-one relationship of the row, whether or not such a row exists.
        case reference(String)
        /// The number of existing members of a to-many relationship of the row. Costs reading the members of all rows.
        case memberCount(String)
    }

    /// The number of an entity's rows, without those of its subentities. One statement.
    package func count(of entity: NSEntityDescription) throws -> Int {
        guard let sqlEntity = content.schema.entity(entity) else { return 0 }
        let selection = SQLSelect(["count(*)"], from: sqlEntity.table, where: sqlEntity.isOfEntityItself())
        let statement = try SQLStatement(selection, in: database)
        defer { statement.finish() }
        return try statement.step() ? Int(statement.integer(0)) : 0
    }

    /// The rows of an entity, without those of its subentities, ordered by key. The columns are preceded by the row's
    /// key. One statement; only one row is in memory.
    ///
    /// - Returns: Nil if the store does not have one of the columns as a single value.
    package func cursor(over entity: NSEntityDescription, columns: [Column]) throws -> RowCursor? {
        guard let sqlEntity = content.schema.entity(entity) else { return nil }
        var selection = RowSelectionText(schema: content.schema, alias: "t0")
        for column in columns { guard selection.add(column, from: sqlEntity) else { return nil } }
        let rows = SQLSelect(
            ["t0.Z_PK"] + selection.expressions, from: "\(sqlEntity.table) AS t0\(selection.joins)",
            where: sqlEntity.isOfEntityItself("t0"), orderBy: ["t0.Z_PK"])
        return RowCursor(try SQLStatement(rows, in: database))
    }

    /// The rows of a fetch request, in its order and then in that of the keys. The columns are preceded by the row's key. One
    /// statement; only one row is in memory.
    ///
    /// - Returns: Nil if the database cannot evaluate the whole request, or does not have one of the columns as a single value.
    package func cursor<Result>(
        over entity: NSEntityDescription, matching request: NSFetchRequest<Result>, columns: [Column]
    ) throws -> RowCursor? {
        guard let sqlEntity = content.schema.entity(entity) else { return nil }
        var selection = RowSelectionText(schema: content.schema, alias: "t0")
        for column in columns { guard selection.add(column, from: sqlEntity) else { return nil } }
        let rows = try content.compiler.compileRows(
            request.specification.converted(for: entity, in: nil).rowQuery(entity: entity),
            selecting: .expressions(
                ["t0.Z_PK"] + selection.expressions, joins: selection.joins, joinCount: selection.joinCount),
            store: store.number)
        guard case .statement(let query) = rows else { return nil }
        return RowCursor(try database.cursor(query))
    }

    /// The members of a to-many relationship of all of an entity's rows, ordered by the owner's key and then by the
    /// relationship's order, or by the member's key if it is unordered. The members' columns are preceded by the
    /// owner's key, the member's key, which is null if no such row exists, and the member's key in the relationship.
    ///
    /// - Returns: Nil if the relationship is its own inverse.
    package func cursor(
        overMembersOf relationship: NSRelationshipDescription, entity: NSEntityDescription, columns: [Column]
    ) throws -> RowCursor? {
        guard let relationship = content.schema.relationship(relationship),
            let members = MemberRows(of: relationship, content.schema)
        else { return nil }
        var selection = RowSelectionText(schema: content.schema, alias: "t0")
        for column in columns { guard selection.add(column, from: members.entity) else { return nil } }
        let rows = SQLSelect(
            [members.owner, "t0.Z_PK", members.member] + selection.expressions,
            from: members.source + selection.joins, where: members.condition,
            orderBy: [members.owner] + members.order + [members.member])
        return RowCursor(try SQLStatement(rows, in: database))
    }

    /// Whether two rows of an entity, or of those that share its table, have the same values in all columns, none of
    /// them null. One statement that sorts.
    package func hasDuplicates(of entity: NSEntityDescription, columns: [Column]) throws -> Bool? {
        guard let sqlEntity = content.schema.entity(entity) else { return nil }
        var selection = RowSelectionText(schema: content.schema, alias: "t0")
        for column in columns { guard selection.add(column, from: sqlEntity) else { return nil } }
        let list = selection.expressions.joined(separator: ", ")
        let isWhole = selection.expressions.map { "\($0) IS NOT NULL" }.joined(separator: " AND ")
        let statement = try SQLStatement(
            "SELECT 1 FROM \(sqlEntity.table) AS t0\(selection.joins) WHERE \(isWhole) GROUP BY \(list) "
                + "HAVING count(*) > 1 LIMIT 1", in: database)
        defer { statement.finish() }
        return try statement.step()
    }

    /// The ID of a row's object.
    package func objectID(of entity: NSEntityDescription, key: Int64) -> NSManagedObjectID? {
        store.persistentStoreCoordinator?.objectID(
            for: ObjectKey(store: store.number, entity: UInt16(truncatingIfNeeded: entity.index), number: key))
    }

    /// The entity with a number in rows; nil if the model has none.
    package func entity(numbered number: Int64) -> NSEntityDescription? {
        content.schema.entityIndex(number: number).map { content.model.orderedEntities[$0] }
    }
}

/// The rows `t0` of the members of a to-many relationship, of all owners.
private struct MemberRows {
    let entity: SQLEntity
    /// The column with the owner's key, and that with the key that the relationship has of the member.
    let owner: String
    let member: String
    /// The tables. Members that do not exist have no row in `t0`.
    let source: String
    let condition: SQLRestriction
    /// The terms of the relationship's order.
    let order: [String]

    /// Nil for a relationship that is its own inverse, or not stored.
    init?(of relationship: SchemaRelationship, _ schema: SQLSchema) {
        guard !relationship.isTransient, let members = schema.destination(of: relationship) else { return nil }
        entity = members
        switch relationship.storage {
        case nil: return nil
        case .memberSlot:
            guard let columns = schema.membership(of: relationship) else { return nil }
            owner = "t0.\(columns.owner)"
            member = "t0.Z_PK"
            source = "\(members.table) AS t0"
            condition = .all([.text("\(owner) IS NOT NULL"), members.isOfHierarchy("t0")])
            order = columns.position.map { ["t0.\($0)"] } ?? []
        case .pairs:
            guard let pairs = schema.pairs(of: relationship), !pairs.isReflexive else { return nil }
            owner = "p.\(pairs.source)"
            member = "p.\(pairs.destination)"
            source = "\(pairs.table) AS p LEFT JOIN \(members.table) AS t0 ON t0.Z_PK = \(member)"
            condition = .none
            order = pairs.position.map { ["p.\($0)"] } ?? []
        }
    }

    /// The number of existing members of each owner that has some.
    var counts: SQLSelect {
        SQLSelect(
            ["\(owner) AS owner", "count(t0.Z_PK) AS number"], from: source, where: condition, groupBy: [owner])
    }
}

/// The columns of a statement and the required joins.
private struct RowSelectionText {
    let schema: SQLSchema
    let alias: String
    private(set) var expressions: [String] = []
    private(set) var joins = ""
    private(set) var joinCount = 0
    private var aliases: [[String]: String] = [:]

    init(schema: SQLSchema, alias: String) {
        self.schema = schema
        self.alias = alias
    }

    /// Adds a column; false if there is none.
    mutating func add(_ column: StoreRows.Column, from entity: SQLEntity) -> Bool {
        switch column {
        case .attribute(let path):
            guard let name = path.last, let (owner, table) = table(at: path.dropLast(), from: entity),
                let slot = owner.entity.slot(named: name), owner.entity.slots[slot].attribute?.name == name,
                let column = owner.columns[slot], !column.hasStorageByte
            else { return false }
            expressions.append("\(table).\(column.name)")
        case .object(let path):
            guard let (_, table) = table(at: path[...], from: entity) else { return false }
            expressions.append("\(table).Z_PK")
        case .entity(let path):
            guard let (_, table) = table(at: path[...], from: entity) else { return false }
            expressions.append("\(table).Z_ENT")
        case .reference(let name):
            guard schema.relationship(named: name, of: entity)?.isToMany == false,
                let column = entity.column(named: name)
            else { return false }
            expressions.append("\(alias).\(column.name)")
        case .memberCount(let name):
            guard let relationship = schema.relationship(named: name, of: entity), relationship.isToMany,
                let members = MemberRows(of: relationship, schema)
            else { return false }
            let counts = "(\(members.counts.text(in: SQLiteDialect())))"
            let table = join(counts) { [alias] in "\($0).owner = \(alias).Z_PK" }
            expressions.append("ifnull(\(table).number, 0)")
        }
        return true
    }

    /// Joins a table with an alias of its own, which a statement over `t0` does not have otherwise; returns the alias.
    private mutating func join(_ table: String, on condition: (String) -> String) -> String {
        joinCount += 1
        let alias = "j\(joinCount)"
        joins += " LEFT JOIN \(table) AS \(alias) ON \(condition(alias))"
        return alias
    }

    /// The entity at the end of a path, and its table alias in the statement.
    private mutating func table(
        at path: ArraySlice<String>, from entity: SQLEntity
    ) -> (SQLEntity, String)? {
        var current = (entity, alias)
        for index in path.indices {
            guard let next = join(Array(path[...index]), name: path[index], from: current.0, current.1) else {
                return nil
            }
            current = next
        }
        return current
    }

    /// Joins the destination of a to-one relationship.
    private mutating func join(
        _ path: [String], name: String, from entity: SQLEntity, _ table: String
    ) -> (SQLEntity, String)? {
        guard let relationship = schema.relationship(named: name, of: entity), !relationship.isToMany,
            let destination = schema.destination(of: relationship), let column = entity.column(named: name)
        else { return nil }
        if let known = aliases[path] { return (destination, known) }
        let alias = join(destination.table) { "\($0).Z_PK = \(table).\(column.name)" }
        aliases[path] = alias
        return (destination, alias)
    }
}

extension NSManagedObjectContext {
    /// Calls a closure with the rows of a store, in the state to which the context is pinned, otherwise in the present
    /// one.
    ///
    /// - Returns: Nil, without calling the closure, if the store is not an SQLite store.
    /// - Throws: The closure's error, and errors of the store.
    package func withRows<Result>(of store: NSPersistentStore, _ body: (StoreRows) throws -> Result) throws -> Result? {
        guard let store = store as? SQLiteStore, store.persistentStoreCoordinator === coordinator else { return nil }
        let content = try store.content()
        let generation = pinnedGenerations?.generation(of: store)
        return try store.reading(generation, .lastingState) { database in
            try body(StoreRows(store: store, content: content, database: database))
        }
    }

    /// Executes a batch update after a check of the rows in the same transaction: nobody else writes between them. An error of the
    /// check leaves the store as it was.
    ///
    /// - Returns: False, without calling the closure, if the store is not an SQLite store or does not have the entity.
    package func update(
        _ request: NSBatchUpdateRequest, of store: NSPersistentStore, after check: (StoreRows) throws -> Void
    ) throws -> Bool {
        guard let store = store as? SQLiteStore, store.persistentStoreCoordinator === coordinator else { return false }
        let content = try store.content()
        let entity = try request.target.entity(in: content.model)
        guard let sqlEntity = content.schema.entity(entity) else { return false }
        _ = try store.update(request, entity, sqlEntity, content, self) { batch in
            try check(StoreRows(store: store, content: content, database: batch.database))
        }
        return true
    }
}
