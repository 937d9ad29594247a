import Foundation
import SQLStores

/// The mapping of a model to a store: the tables, columns and numbers of entities.
///
/// It is built from a frozen model by Core Data's rules. If the store exists, its actual schema is used: columns are
/// found by name, numbers are those of `Z_PRIMARYKEY`, and everything else in the file is left unchanged.
final class SQLSchema: @unchecked Sendable {  // because it is immutable, and so is the frozen model that it points to
    let model: NSManagedObjectModel
    /// The entities of the store's configuration, by number.
    let entities: [SQLEntity]
    /// The entities' tables, in the order of their root entities' numbers.
    let tables: [SQLTable]
    /// The join tables of many-to-many relationships, in the order of their owners.
    let joinTables: [SQLJoinTable]
    /// Tables and columns of the model that the existing store lacks, as `TABLE` or `TABLE.COLUMN`.
    let missing: [String]
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
    func entity(_ entity: NSEntityDescription) -> SQLEntity? {
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
    func entityIndex(number: Int64) -> Int? { indexByNumber[number] }

    /// The `Z_ENT` of an entity with an index in the model.
    func number(entityIndex: Int) -> Int64? {
        guard positionByIndex.indices.contains(entityIndex), positionByIndex[entityIndex] >= 0 else { return nil }
        return entities[positionByIndex[entityIndex]].number
    }

    /// The column of a slot of the entity's layout; nil if the slot is not stored.
    func column(of slot: Int, in entity: NSEntityDescription) -> SQLColumn? {
        guard let columns = self.entity(entity)?.columns, columns.indices.contains(slot) else { return nil }
        return columns[slot]
    }

    /// The column of an attribute or to-one relationship; nil if it is not stored.
    func column(named name: String, in entity: NSEntityDescription) -> SQLColumn? {
        entity.layout.slot(named: name).flatMap { column(of: $0, in: entity) }
    }

    /// The pairs of a many-to-many relationship, from the point of view of this side; nil if the relationship has no
    /// join table.
    func pairs(of relationship: NSRelationshipDescription) -> SQLPairs? {
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
    func requireUsableNames() throws {
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
    static func isUsable(_ name: String) -> Bool {
        !name.isEmpty
            && name.unicodeScalars.allSatisfy { scalar in
                !scalar.isASCII || scalar == "_" || scalar == "$" || scalar.properties.isAlphabetic
                    || ("0"..."9").contains(scalar)
            }
    }
}
