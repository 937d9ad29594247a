import CoreDataErrors
import Foundation
import ManagedObjects
import SQLStatements

/// The mapping of a model to a store: the tables, columns and numbers of entities.
///
/// It is built from a frozen model by Core Data's rules. If the store exists, its actual schema is used: columns are
/// found by name, numbers are those of `Z_PRIMARYKEY`, and everything else in the file is left unchanged.
package final class SQLSchema: @unchecked Sendable {
    // because it is immutable, and so is the frozen model that it points to

    package let model: NSManagedObjectModel
    /// The entities of the store's configuration, by number.
    package let entities: [SQLEntity]
    /// The entities' tables, in the order of their root entities' numbers.
    package let tables: [SQLTable]
    /// The join tables of many-to-many relationships, in the order of their owners.
    package let joinTables: [SQLJoinTable]
    /// Tables and columns of the model that the existing store lacks, as `TABLE` or `TABLE.COLUMN`.
    package let missing: [String]
    /// The columns of the store's R-trees, by table.
    private(set) var spatial: [String: [String]] = [:]

    private let positionByIndex: [Int]
    private let indexByNumber: [Int64: Int]
    private let joinTableByRelationship: [ObjectIdentifier: Int]

    init(
        model: NSManagedObjectModel, entities: [SQLEntity], tables: [SQLTable], joinTables: [SQLJoinTable],
        missing: [String], catalog: SQLCatalog? = nil
    ) {
        self.model = model
        self.entities = entities
        self.tables = tables
        self.joinTables = joinTables
        self.missing = missing
        var positions = [Int](repeating: -1, count: (entities.map(\.entity.index).max() ?? -1) + 1)
        for (position, entity) in entities.enumerated() { positions[entity.entity.index] = position }
        positionByIndex = positions
        indexByNumber = Dictionary(
            entities.map { ($0.number, $0.entity.index) }, uniquingKeysWith: { first, _ in first })
        var joins: [ObjectIdentifier: Int] = [:]
        for (position, table) in joinTables.enumerated() {
            joins[ObjectIdentifier(table.owner)] = position
            if let inverse = table.owner.inverseRelationship { joins[ObjectIdentifier(inverse)] = position }
        }
        joinTableByRelationship = joins
        spatial = catalog?.columns.filter { $0.key.hasPrefix("Z_RT_") } ?? spatialTables
    }

    // MARK: - Looking up

    /// The mapping of an entity; nil if the store's configuration does not contain it.
    package func entity(_ entity: NSEntityDescription) -> SQLEntity? {
        guard positionByIndex.indices.contains(entity.index), positionByIndex[entity.index] >= 0 else { return nil }
        return entities[positionByIndex[entity.index]]
    }

    /// The mapping of an entity whose rows are written.
    ///
    /// - Throws: Code 134030 if the store's configuration does not contain it.
    func requireEntity(_ entity: NSEntityDescription) throws -> SQLEntity {
        if let sqlEntity = self.entity(entity) { return sqlEntity }
        throw CocoaError(
            .persistentStoreSave, "The store's configuration does not have the entity “\(entity.name ?? "")”.")
    }

    /// The model index of the entity with a `Z_ENT`.
    package func entityIndex(number: Int64) -> Int? { indexByNumber[number] }

    /// The `Z_ENT` of an entity with an index in the model.
    package func number(entityIndex: Int) -> Int64? {
        guard positionByIndex.indices.contains(entityIndex), positionByIndex[entityIndex] >= 0 else { return nil }
        return entities[positionByIndex[entityIndex]].number
    }

    /// The column of a slot of the entity's layout; nil if the slot is not stored.
    func column(of slot: Int, in entity: NSEntityDescription) -> SQLColumn? {
        guard let columns = self.entity(entity)?.columns, columns.indices.contains(slot) else { return nil }
        return columns[slot]
    }

    /// The column of an attribute or to-one relationship; nil if it is not stored.
    package func column(named name: String, in entity: NSEntityDescription) -> SQLColumn? {
        entity.layout.slot(named: name).flatMap { column(of: $0, in: entity) }
    }

    /// The pairs of a many-to-many relationship, from the point of view of this side; nil if the relationship has no
    /// join table.
    package func pairs(of relationship: NSRelationshipDescription) -> SQLPairs? {
        guard let position = joinTableByRelationship[ObjectIdentifier(relationship)] else { return nil }
        let table = joinTables[position]
        if table.owner === relationship {
            return SQLPairs(
                table: table.name, source: table.sourceColumn, destination: table.destinationColumn,
                position: table.destinationPositionColumn, inversePosition: table.sourcePositionColumn,
                isReflexive: table.isReflexive)
        }
        return SQLPairs(
            table: table.name, source: table.destinationColumn, destination: table.sourceColumn,
            position: table.sourcePositionColumn, inversePosition: table.destinationPositionColumn,
            isReflexive: table.isReflexive)
    }

    // MARK: - Checking

    /// Rejects a model with names that are not valid unquoted in SQL. Core Data does not quote names.
    ///
    /// - Throws: Code 134020.
    package func requireUsableNames() throws {
        for entity in entities {
            let name = entity.entity.name ?? ""
            let properties = entity.entity.ownProperties.map(\.name) + entity.entity.indexes.map(\.name)
            guard let unusable = ([name] + properties).first(where: { !Self.isUsable($0) }) else { continue }
            throw CocoaError(
                .persistentStoreIncompatibleSchema,
                "The name “\(unusable)” in the entity “\(name)” cannot be the name of a table or column.")
        }
    }

    /// Letters, digits, underscores, dollar signs and all characters outside ASCII.
    package static func isUsable(_ name: String) -> Bool {
        !name.isEmpty
            && name.unicodeScalars.allSatisfy { scalar in
                !scalar.isASCII || scalar == "_" || scalar == "$" || scalar.properties.isAlphabetic
                    || ("0"..."9").contains(scalar)
            }
    }
}

/// The mapping of an entity to the store: a table shared by all entities of the hierarchy, and a column for each slot
/// of the entity's layout.
package struct SQLEntity {
    package unowned let entity: NSEntityDescription
    /// The number of the entity in this store: `Z_ENT`.
    package let number: Int64
    /// The numbers of the entity and its subentities, ascending.
    package let hierarchyNumbers: [Int64]
    /// The table of the root entity, which contains the objects of every entity of the hierarchy.
    package let table: String
    /// A column for each slot of the layout; nil for transient slots and for columns that the store lacks.
    package let columns: [SQLColumn?]

    /// True if the table contains other entities' rows too, so that queries for this one must have a condition on
    /// `Z_ENT`.
    package let sharesTable: Bool
}

/// A table as it is created, with its columns in order.
package struct SQLTable {
    package unowned let root: NSEntityDescription
    package let name: String
    /// All columns after `Z_PK`, `Z_ENT` and `Z_OPT`.
    package let columns: [(name: String, declaration: SQLColumn.Declaration)]
    /// The columns that have an index of their own: to-one relationships, and owners of one-way to-many relationships.
    let referenceColumns: [String]
}

extension SQLColumn.Declaration {
    /// The declaration for a kind of slot; nil if it has no column.
    init?(_ kind: EntityLayout.Slot.Kind) {
        switch kind {
        case .integer16, .integer32, .integer64, .boolean, .toOne, .position: self = .integer
        case .date: self = .timestamp
        case .double, .float: self = .float
        case .decimal: self = .decimal
        case .string, .uri: self = .varchar
        case .uuid, .data, .transformable: self = .blob
        case .undefined: return nil
        }
    }
}

/// The table of the pairs of a many-to-many relationship.
///
/// The columns are described from one of the two sides, the owner. Use ``SQLSchema/pairs(of:)`` to read it from either
/// side.
package struct SQLJoinTable {
    /// The relationship that the table is named after, if it has a name of Core Data's rules.
    package unowned let owner: NSRelationshipDescription
    package let name: String
    /// The columns with the primary keys of the owner's objects and of their members.
    package let sourceColumn: String
    package let destinationColumn: String
    /// The position of the source among the destination's members, if the inverse is ordered.
    package let sourcePositionColumn: String?
    /// The position of the destination among the source's members, if the owner is ordered.
    package let destinationPositionColumn: String?
    /// Whether the relationship is its own inverse: pairs are read in both directions.
    let isReflexive: Bool

    /// The columns in the order in which the table is created.
    package var columns: [String] {
        [sourceColumn, destinationColumn] + [sourcePositionColumn, destinationPositionColumn].compactMap { $0 }
    }
}

// The tables of a store, as the schema defines them.

extension SQLSchema {
    /// Entity tables, each followed by the join tables that its entities own.
    package var tableDefinitions: [SQLTableDefinition] {
        tables.flatMap { table in [table.definition] + joinTables(of: table).map(\.definition) }
    }

    func joinTables(of table: SQLTable) -> [SQLJoinTable] {
        joinTables.filter { $0.owner.entityIfAny?.rootEntity === table.root }
    }
}

extension SQLTable {
    var definition: SQLTableDefinition {
        SQLTableDefinition(
            name: name,
            columns: SQLEntity.rowColumns.map { ($0, .integer) } + columns.map { ($0.name, $0.declaration) },
            key: ["Z_PK"], hasChangingRows: true)
    }
}

extension SQLJoinTable {
    var definition: SQLTableDefinition {
        SQLTableDefinition(name: name, columns: columns.map { ($0, .integer) }, key: [sourceColumn, destinationColumn])
    }
}

extension SQLCatalog {
    /// Rejects a store that has something else under the name of a table of the schema: a view, which may never terminate, a
    /// virtual table, or a table that accepts any value as a primary key, so that several rows could be one object.
    ///
    /// - Throws: Code 259.
    package func requireTables(of schema: SQLSchema, url: URL?) throws {
        let own = [
            "Z_METADATA", "Z_PRIMARYKEY", "Z_MODELCACHE", "ACHANGE", "ATRANSACTION", "ATRANSACTIONSTRING",
            OldValueStatements.values, OldValueStatements.pairs,
        ]
        let entityTables = schema.tables.map(\.name)
        for name in own + entityTables + schema.joinTables.map(\.name) where derivedTables.contains(name.uppercased()) {
            throw CocoaError(
                .fileReadCorruptFile,
                "The store is damaged: \(name) is a view or a virtual table, and must be a table.",
                url: url)
        }
        guard hasTable("Z_PRIMARYKEY") else {
            throw CocoaError(.fileReadCorruptFile, "The store is damaged: it lacks the table Z_PRIMARYKEY.", url: url)
        }
        for name in entityTables where hasTable(name) && !keyedTables.contains(name) {
            throw CocoaError(
                .fileReadCorruptFile, "The store is damaged: Z_PK is not the primary key of the table \(name).",
                url: url)
        }
    }
}
