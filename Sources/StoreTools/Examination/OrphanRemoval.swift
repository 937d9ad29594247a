import Foundation
import GRDB
import ManagedObjects
import SQLStatements
import SQLStores
import SQLiteConnections

/// Deletes the rows of entities that nothing owns, as a context would delete the objects: with what they own by cascading delete
/// rules, and with references to them cleared. The history does not record it.
struct OrphanRemoval {
    /// A temporary table with the tables and keys of the deleted rows.
    static let deletedTable = "coral_deleted"

    private let model: NSManagedObjectModel
    private let storeTables: StoreTables
    private let tables: [String: StoreTables.Entity]

    init(model: NSManagedObjectModel, tables: StoreTables) {
        self.model = model
        storeTables = tables
        self.tables = Dictionary(tables.entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// Deletes the rows within a transaction. The temporary table with their keys remains.
    ///
    /// - Parameter failure: The error for a sentence.
    /// - Returns: The numbers of deleted rows by entity.
    func delete(
        _ entities: [String], in database: Database, failure: (String) -> any Error
    ) throws -> [String: Int] {
        let deleted = Self.deletedTable
        try database.execute(
            sql: "CREATE TEMP TABLE \(deleted) (tbl TEXT, pk INTEGER, PRIMARY KEY (tbl, pk)) WITHOUT ROWID")
        let search = OrphanSearch(model: model, tables: storeTables)
        for name in entities {
            guard let entity = model.entitiesByName[name], let table = tables[name]?.table,
                let condition = search.condition(for: entity)
            else { throw failure("Nothing owns objects of the entity “\(name)”, so that it has no orphans.") }
            try database.execute(
                sql: "INSERT INTO \(deleted) SELECT '\(table)', t.Z_PK FROM \(table) t WHERE \(condition.text)")
        }
        try cascade(in: database)
        try refuseDenied(in: database, failure)
        var counts: [String: Int] = [:]
        for entity in storeTables.entities {
            let own = SQLRestriction.areOfEntities([entity.number], "t")
            let count =
                try Int.fetchOne(
                    database,
                    sql:
                        "SELECT count(*) FROM \(deleted) d JOIN \(entity.table) t ON t.Z_PK = d.pk WHERE d.tbl = ? AND \(own)",
                    arguments: [entity.table]) ?? 0
            if count > 0 { counts[entity.name] = count }
        }
        try clearReferences(in: database, failure)
        for table in Set(storeTables.entities.map(\.table)).sorted() {
            try database.execute(
                sql: "DELETE FROM \(table) WHERE Z_PK IN (SELECT pk FROM \(deleted) WHERE tbl = ?)", arguments: [table])
        }
        return counts
    }

    // MARK: - Steps

    /// The relationships of all entities, each with the entity that declares it.
    private func relationships(
        _ isIncluded: (NSRelationshipDescription) -> Bool
    ) -> [(owner: StoreTables.Entity, relationship: NSRelationshipDescription, destination: StoreTables.Entity)] {
        model.entities.flatMap { entity in
            entity.ownProperties.compactMap { $0 as? NSRelationshipDescription }
                .filter { !$0.isTransient && isIncluded($0) }
                .compactMap { relationship in
                    guard let owner = tables[entity.name ?? ""],
                        let destination = tables[relationship.destinationEntity?.name ?? ""]
                    else { return nil }
                    return (owner, relationship, destination)
                }
        }
    }

    /// The condition for the rows of an entity and its subentities: rows may have wrong numbers.
    private func isOfEntity(_ entity: StoreTables.Entity, _ alias: String) -> String {
        SQLRestriction.areOfEntities(entity.numbers ?? [entity.number], alias)
    }

    /// The keys of the members that deleted rows have in a relationship, as a query with one column.
    private func members(
        of relationship: NSRelationshipDescription, _ owner: StoreTables.Entity, _ destination: StoreTables.Entity
    ) -> String? {
        let owners =
            "\(Self.deletedTable) d JOIN \(owner.table) o "
            + "ON d.tbl = '\(owner.table)' AND o.Z_PK = d.pk AND \(isOfEntity(owner, "o"))"
        let member = "\(destination.table) m ON \(isOfEntity(destination, "m"))"
        if !relationship.isToMany {
            guard let column = owner.columns[relationship.name]?.name else { return nil }
            return "SELECT m.Z_PK FROM \(owners) JOIN \(member) AND m.Z_PK = o.\(column)"
        }
        switch owner.members[relationship.name] {
        case .rows(let column, _)?:
            return "SELECT m.Z_PK FROM \(owners) JOIN \(member) AND m.\(column) = o.Z_PK"
        case .pairs(let table, let column, let key, _, _)?:
            return
                "SELECT m.Z_PK FROM \(owners) JOIN \(table) p ON p.\(column) = o.Z_PK JOIN \(member) AND m.Z_PK = p.\(key)"
        case nil: return nil
        }
    }

    /// Adds what the deleted rows own, until nothing is added.
    private func cascade(in database: Database) throws {
        let owning = relationships { $0.deleteRule == .cascadeDeleteRule }
        var isComplete = false
        while !isComplete {
            isComplete = true
            for (owner, relationship, destination) in owning {
                guard let members = members(of: relationship, owner, destination) else { continue }
                try database.execute(
                    sql:
                        "INSERT OR IGNORE INTO \(Self.deletedTable) SELECT '\(destination.table)', Z_PK FROM (\(members))"
                )
                if database.changesCount > 0 { isComplete = false }
            }
        }
    }

    /// Rejects rows that may not be deleted while they have members.
    private func refuseDenied(in database: Database, _ failure: (String) -> any Error) throws {
        for (owner, relationship, destination) in relationships({ $0.deleteRule == .denyDeleteRule }) {
            guard let members = members(of: relationship, owner, destination) else { continue }
            let remaining =
                "SELECT EXISTS (SELECT 1 FROM (\(members)) m WHERE NOT EXISTS (SELECT 1 FROM \(Self.deletedTable) d "
                + "WHERE d.tbl = '\(destination.table)' AND d.pk = m.Z_PK))"
            if try Bool.fetchOne(database, sql: remaining) == true {
                throw failure(
                    "The delete rule of \(owner.name).\(relationship.name) denies the deletion of objects that have members."
                )
            }
        }
    }

    /// Clears references to deleted rows in the others, and removes their pairs.
    private func clearReferences(in database: Database, _ failure: (String) -> any Error) throws {
        let deleted = Self.deletedTable
        for reference in referenceColumns {
            let table = reference.table
            let isDangling =
                "\(reference.column) IN (SELECT pk FROM \(deleted) WHERE tbl = '\(reference.destination)') "
                + "AND Z_PK NOT IN (SELECT pk FROM \(deleted) WHERE tbl = '\(table)')"
            if let required = reference.required,
                try Bool.fetchOne(database, sql: "SELECT EXISTS (SELECT 1 FROM \(table) WHERE \(isDangling))") == true
            {
                throw failure("Objects that remain require a deleted one: \(required).")
            }
            let cleared = ([reference.column] + reference.companions).map { "\($0) = NULL, " }.joined()
            try database.execute(sql: "UPDATE \(table) SET \(cleared)Z_OPT = Z_OPT + 1 WHERE \(isDangling)")
        }
        for (pairs, column, destination) in pairColumns {
            try database.execute(
                sql: "DELETE FROM \(pairs) WHERE \(column) IN (SELECT pk FROM \(deleted) WHERE tbl = '\(destination)')")
        }
    }

    /// A column with references to the rows of a table.
    struct ReferenceColumn {
        let table: String
        let column: String
        /// The table that it refers to.
        let destination: String
        /// The columns that are cleared with it.
        var companions: [String]
        /// The relationship, if it requires a value.
        var required: String?
    }

    /// The columns with references, once for each table that a column refers to.
    var referenceColumns: [ReferenceColumn] {
        var columns: [ReferenceColumn] = []
        func add(_ added: ReferenceColumn) {
            guard
                let index = columns.firstIndex(where: {
                    $0.table == added.table && $0.column == added.column && $0.destination == added.destination
                })
            else { return columns.append(added) }
            columns[index].companions += added.companions.filter { !columns[index].companions.contains($0) }
            columns[index].required = columns[index].required ?? added.required
        }
        for (owner, relationship, destination) in relationships({ !$0.isToMany }) {
            guard let column = owner.columns[relationship.name] else { continue }
            add(
                ReferenceColumn(
                    table: owner.table, column: column.name, destination: destination.table,
                    companions: column.companions,
                    required: relationship.isOptional ? nil : "\(owner.name).\(relationship.name)"))
        }
        // Relationships without an inverse have a column in the rows of their members.
        for (owner, relationship, destination) in relationships(\.isToMany) {
            if case .rows(let column, let position)? = owner.members[relationship.name] {
                add(
                    ReferenceColumn(
                        table: destination.table, column: column, destination: owner.table,
                        companions: position.map { [$0] } ?? []))
            }
        }
        return columns
    }

    /// The columns of join tables, with the tables that they refer to.
    var pairColumns: [(table: String, column: String, destination: String)] {
        relationships(\.isToMany).flatMap { owner, relationship, destination in
            guard case .pairs(let table, let column, let member, _, _)? = owner.members[relationship.name] else {
                return [(table: String, column: String, destination: String)]()
            }
            return [(table, column, owner.table), (table, member, destination.table)]
        }
    }
}
