import CoreDataErrors
import Foundation
import ManagedObjects
import SQLStatements

/// The mapping of a model to a store: the tables, columns and numbers of entities.
///
/// It is built by Core Data's rules from the values of a model (`SchemaModel`). If the store exists, its actual schema is used: columns are
/// found by name, numbers are those of `Z_PRIMARYKEY`, and everything else in the file is left unchanged.
package final class SQLSchema: @unchecked Sendable {
    // because it is immutable

    package let model: SchemaModel
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
    /// By the number of the relationship.
    private let joinTableByRelationship: [Int: Int]

    init(
        model: SchemaModel, entities: [SQLEntity], tables: [SQLTable], joinTables: [SQLJoinTable],
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
        var joins: [Int: Int] = [:]
        for (position, table) in joinTables.enumerated() {
            joins[table.owner.number] = position
            if let inverse = table.owner.inverse { joins[inverse] = position }
        }
        joinTableByRelationship = joins
        spatial = catalog?.columns.filter { $0.key.hasPrefix("Z_RT_") } ?? spatialTables
    }

    // MARK: - Looking up

    /// The mapping of an entity with an index in the model; nil if the store's configuration does not contain it.
    package func entity(at index: Int) -> SQLEntity? {
        guard positionByIndex.indices.contains(index), positionByIndex[index] >= 0 else { return nil }
        return entities[positionByIndex[index]]
    }

    package func superentity(of entity: SchemaEntity) -> SchemaEntity? { entity.superentity.map { model.entities[$0] } }

    /// The mapping of the root of an entity's hierarchy.
    package func root(of entity: SQLEntity) -> SQLEntity? { self.entity(at: entity.entity.root) }

    /// The model index of the entity with a `Z_ENT`.
    package func entityIndex(number: Int64) -> Int? { indexByNumber[number] }

    /// The `Z_ENT` of an entity with an index in the model.
    package func number(entityIndex: Int) -> Int64? {
        guard positionByIndex.indices.contains(entityIndex), positionByIndex[entityIndex] >= 0 else { return nil }
        return entities[positionByIndex[entityIndex]].number
    }

    /// A relationship of an entity, its own or an inherited one.
    package func relationship(named name: String, of entity: SQLEntity) -> SchemaRelationship? {
        model.relationship(named: name, of: entity.entity)
    }

    /// The mapping of the destination of a relationship.
    package func destination(of relationship: SchemaRelationship) -> SQLEntity? {
        relationship.destination.flatMap { entity(at: $0) }
    }

    /// The pairs of a many-to-many relationship, from the point of view of this side; nil if the relationship has no
    /// join table.
    package func pairs(of relationship: SchemaRelationship) -> SQLPairs? {
        guard let position = joinTableByRelationship[relationship.number] else { return nil }
        let table = joinTables[position]
        if table.owner.number == relationship.number {
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

    /// The columns of a join table that refer to the objects of an entity.
    func columns(of table: SQLJoinTable, referringTo entity: SQLEntity) -> [String] {
        let sides =
            [(table.owner, table.sourceColumn)]
            + (model.inverse(of: table.owner).map { [($0, table.destinationColumn)] } ?? [])
        return sides.filter { entity.entity.isKind(of: model.entities[$0.0.entity]) }.map(\.1)
    }

    /// The columns in which the members of a to-many relationship refer to their owner; nil if the relationship has a join table, or
    /// the table of the members lacks the column.
    package func membership(of relationship: SchemaRelationship) -> SQLMembership? {
        guard case .memberSlot(let slot, let position)? = relationship.storage,
            let members = destination(of: relationship), let owner = members.columns[slot]
        else { return nil }
        return SQLMembership(
            members: members, slot: slot, owner: owner.name, position: position.flatMap { members.columns[$0]?.name })
    }

    // MARK: - Checking

    /// Rejects a model with names that are not valid unquoted in SQL. Core Data does not quote names.
    ///
    /// - Throws: Code 134020.
    package func requireUsableNames() throws {
        for entity in entities {
            let name = entity.entity.name
            let properties = entity.entity.propertyNames + entity.entity.indexes.map(\.name)
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
/// of the entity.
package struct SQLEntity: Sendable {
    package let entity: SchemaEntity
    /// The number of the entity in this store: `Z_ENT`.
    package let number: Int64
    /// The numbers of the entity and its subentities, ascending.
    package let hierarchyNumbers: [Int64]
    /// The table of the root entity, which contains the objects of every entity of the hierarchy.
    package let table: String
    /// A column for each slot; nil for transient slots and for columns that the store lacks.
    package let columns: [SQLColumn?]

    /// True if the table contains other entities' rows too, so that queries for this one must have a condition on
    /// `Z_ENT`.
    package let sharesTable: Bool
    /// The uniqueness constraints of the entity, inherited ones first.
    let constraints: [[String]]
}

/// A table as it is created, with its columns in order.
package struct SQLTable {
    package let root: SchemaEntity
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
    package let owner: SchemaRelationship
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

/// The columns of the members of a to-many relationship without a join table.
package struct SQLMembership {
    package let members: SQLEntity
    /// The slot with the owner's key.
    let slot: Int
    /// The columns with the owner's key and with the position among its members.
    package let owner: String
    package let position: String?

    package var table: String { members.table }
}

// The tables of a store, as the schema defines them.

extension SQLSchema {
    /// Entity tables, each followed by the join tables that its entities own.
    package var tableDefinitions: [SQLTableDefinition] {
        tables.flatMap { table in [table.definition] + joinTables(of: table).map(\.definition) }
    }

    func joinTables(of table: SQLTable) -> [SQLJoinTable] {
        joinTables.filter { model.entities[$0.owner.entity].root == table.root.index }
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
