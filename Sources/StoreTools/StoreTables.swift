import AtomicFiles
import CoreDataErrors
import Foundation
import GRDB
import ManagedObjects
import SQLStatements
import SQLStores
import SQLiteConnections

/// The tables and columns of a store, with the names of the model's entities and properties: for SQL that other programs
/// execute. Read from the schema of the database, in which names may differ from those of a new store.
package struct StoreTables: Sendable {
    /// The rows of an entity.
    package struct Entity: Sendable {
        package let name: String
        /// The number of the entity in `Z_ENT`.
        package let number: Int64
        /// The table of the entity's hierarchy.
        package let table: String
        /// The numbers in `Z_ENT` of the entity and its subentities; nil if the table contains no other entity's rows.
        package let numbers: [Int64]?
        /// The columns of attributes and to-one relationships by their keys; that of an element of a composite
        /// attribute is a path: `place.city`.
        package let columns: [String: Column]
        /// The members of to-many relationships, by relationship.
        package let members: [String: Members]
    }

    /// A column of an entity's table.
    package struct Column: Sendable {
        package let name: String
        /// Whether values begin with a byte that distinguishes bytes in the row (1) from the name of a file (2).
        package let hasStorageByte: Bool
        /// The columns that belong to a reference: the number of the object's entity, and the position among the members of an
        /// ordered relationship. They are empty where the reference is.
        package var companions: [String] = []
    }

    /// The storage of a to-many relationship.
    package enum Members: Sendable {
        /// Each member's row has the owner's key in a column, and the position in another if the relationship is
        /// ordered.
        case rows(owner: String, position: String?)
        /// A join table has a row for each pair.
        case pairs(table: String, owner: String, member: String, position: String?, isReflexive: Bool)
    }

    /// The schema of a server that contains the tables; nil for an SQLite store.
    package let schema: String?
    private let naming: SQLNaming
    /// The store's entities, in the order of their names.
    package let entities: [Entity]
    /// The names of all tables and views of the database. Of a server: the tables of the store.
    package let tableNames: [String]
    /// The tables and columns that the model requires and the store lacks, as `TABLE` or `TABLE.COLUMN`.
    package let missing: [String]
    /// The sizes of the tables with their indexes, in bytes; empty if SQLite was built without `dbstat`.
    package let byteCounts: [String: Int64]

    /// Reads the schema of a store, in the state to which the context is pinned.
    ///
    /// - Parameter measures: Whether the sizes of tables are read too. Cost: each page of the file.
    /// - Throws: Errors of Core Data's.
    package init(of url: URL, in context: NSManagedObjectContext, measures: Bool = false) throws {
        let store = context.coordinator?.persistentStore(for: url)
        #if PostgreSQL
            if let store = store as? PostgreSQLStore {
                self = try Self(server: store)
                return
            }
        #endif
        guard let store = store as? SQLiteStore else {
            throw CocoaError(
                .persistentStoreOperation, "The context does not have the store.", url: url.withoutPassword)
        }
        let schema = try store.content().schema
        (self.schema, naming) = (nil, .sqlite)
        entities = schema.entities.map { Self.entity($0, in: schema) }.sorted { $0.name < $1.name }
        missing = schema.missing
        let generation = context.pinnedGenerations?.generation(of: store)
        (tableNames, byteCounts) = try store.reading(generation, .lastingState) { database in
            let names = try StoreReader(database).rows(StoreReader.tableList).compactMap { $0.text(0) }
            return (names.sorted(), measures ? try StoreReader(database).byteCountsOfTables() : [:])
        }
    }

    #if PostgreSQL
        /// The tables with their names as the server compares quoted ones.
        private init(server store: PostgreSQLStore) throws {
            let content = try store.content()
            let schema = content.schema
            (self.schema, naming) = (content.location.schema, .postgreSQL)
            entities = schema.entities.map { Self.entity($0, in: schema, PostgreSQLTables.lowercased) }
                .sorted { $0.name < $1.name }
            missing = schema.missing
            tableNames = (schema.tables.map(\.name) + schema.joinTables.map(\.name) + PostgreSQLTables.ownTableNames)
                .map(PostgreSQLTables.lowercased).sorted()
            byteCounts = [:]
        }
    #endif

    /// The name of a table or view as the database allows it: shortened, with a hash, if it is too long.
    package func fitting(_ name: String) -> String { naming.fitting(name) }

    /// - Parameter named: The name in the database of a table or column.
    private static func entity(
        _ sqlEntity: SQLEntity, in schema: SQLSchema, _ named: (String) -> String = { $0 }
    ) -> Entity {
        let entity = sqlEntity.entity
        var columns: [String: Column] = [:]
        for (slot, column) in zip(entity.slots, sqlEntity.columns) {
            guard let key = slot.name, let column else { continue }
            let position = slot.relationship.flatMap(entity.positionSlot)
            let companions = [column.companion, position.flatMap { sqlEntity.columns[$0]?.name }]
            columns[key] = Column(
                name: named(column.name), hasStorageByte: column.hasStorageByte,
                companions: companions.compactMap { $0 }.map(named))
        }
        var members: [String: Members] = [:]
        for relationship in entity.toMany where !relationship.isTransient {
            if let columns = schema.membership(of: relationship) {
                members[relationship.name] = .rows(owner: named(columns.owner), position: columns.position.map(named))
            } else if let pairs = schema.pairs(of: relationship) {
                members[relationship.name] = .pairs(
                    table: named(pairs.table), owner: named(pairs.source), member: named(pairs.destination),
                    position: pairs.position.map(named), isReflexive: pairs.isReflexive)
            }
        }
        return Entity(
            name: entity.name, number: sqlEntity.number, table: named(sqlEntity.table),
            numbers: sqlEntity.sharesTable ? sqlEntity.hierarchyNumbers : nil, columns: columns, members: members)
    }
}
