import Foundation
import GRDB
import ManagedObjects
import SQLStatements
import SQLiteConnections

/// A model that is inferred from the tables of a store without one: good enough to read its objects.
///
/// The entities and their hierarchy are those of `Z_PRIMARYKEY`. Attributes have the names of their columns in lower case, and the
/// types of the columns and their values. A column of keys that all exist in one table is a to-one relationship if Core Data has
/// made its index, or if it has the name of that table. Join tables are many-to-many relationships. All properties are optional,
/// and those of subentities belong to the topmost entity, whose table they are in.
///
/// Nothing in the store is trusted: names that are not identifiers are omitted, and each statement has a limit of steps.
struct ModelInference {
    private let reader: StoreReader
    private let tables: Set<String>
    /// The rows of `Z_PRIMARYKEY` with identifiers as names, by their numbers.
    private var rows: [Int64: (name: String, parent: Int64)] = [:]
    private var entities: [Int64: NSEntityDescription] = [:]
    private var indexes: Set<String> = []
    /// Tables whose rows could not be read.
    private var damaged: Set<String> = []

    /// The model of a database; nil if none of its tables belongs to an entity.
    static func model(in database: Database) throws -> NSManagedObjectModel? {
        var inference = try ModelInference(StoreReader(database))
        return try inference.model()
    }

    private init(_ reader: StoreReader) throws {
        self.reader = reader
        tables = try reader.tableNames()
        guard tables.contains("Z_PRIMARYKEY") else { return }
        var found: [Int64: (name: String, parent: Int64)] = [:]
        try reader.forEachRow("SELECT Z_ENT, Z_NAME, Z_SUPER FROM Z_PRIMARYKEY LIMIT 10000", []) { row in
            // Numbers from 16001 are those of the history.
            guard let number = row.integer(0), number < 16_000, let name = row.text(1), Self.isIdentifier(name) else {
                return
            }
            found[number] = (name, row.integer(2) ?? 0)
        }
        rows = found
        var names: Set<String> = []
        try reader.forEachRow("SELECT name FROM sqlite_master WHERE type = 'index' LIMIT 100000", []) { row in
            if let name = row.text(0) { names.insert(name) }
        }
        indexes = names
    }

    private static func isIdentifier(_ name: some StringProtocol) -> Bool {
        guard let first = name.utf8.first, name.utf8.count <= 200 else { return false }
        return !(48...57).contains(first)
            && name.utf8.allSatisfy { $0 == 95 || (48...57).contains($0) || (65...90).contains($0 & 0xDF) }
    }

    // MARK: - Entities

    private mutating func model() throws -> NSManagedObjectModel? {
        for (number, row) in rows.sorted(by: { $0.key < $1.key }) {
            guard let root = root(of: number), tables.contains(table(of: root)) else { continue }
            let entity = NSEntityDescription()
            entity.name = row.name
            entity.managedObjectClassName = "NSManagedObject"
            entity.userInfo = [StoreInspection.inferredKey: "1"]
            entities[number] = entity
        }
        guard !entities.isEmpty else { return nil }
        for (number, entity) in entities.sorted(by: { $0.key < $1.key }) {
            if let parent = rows[number]?.parent, let above = entities[parent] {
                above.subentities.append(entity)
            } else {
                entity.properties = try properties(of: number)
                if damaged.contains(table(of: number)) { entity.userInfo?[StoreInspection.inferredKey] = "columns" }
            }
        }
        try addJoinTables()
        let model = NSManagedObjectModel()
        model.entities = entities.sorted { $0.key < $1.key }.map(\.value)
        return model
    }

    /// The number of the topmost entity of a hierarchy; nil for a hierarchy that is a cycle.
    private func root(of number: Int64) -> Int64? {
        var (here, steps) = (number, 0)
        while let parent = rows[here]?.parent, parent != 0, rows[parent] != nil {
            (here, steps) = (parent, steps + 1)
            if steps > rows.count { return nil }
        }
        return here
    }

    private func table(of number: Int64) -> String { "Z\((rows[number]?.name ?? "").uppercased())" }

    // MARK: - Columns

    private func columns(of table: String) throws -> [(name: String, type: String)] {
        var columns: [(String, String)] = []
        try reader.forEachRow("SELECT name, type FROM pragma_table_info('\(table)')", []) { row in
            if let name = row.text(0), Self.isIdentifier(name) {
                columns.append((name, (row.text(1) ?? "").uppercased()))
            }
        }
        return columns
    }

    private mutating func properties(of number: Int64) throws -> [NSPropertyDescription] {
        let table = table(of: number)
        var properties: [NSPropertyDescription] = []
        for column in try columns(of: table) {
            let name = column.name.dropFirst().lowercased()
            // Columns such as Z_PK and Z3OWNER belong to Core Data or to another column.
            guard column.name.hasPrefix("Z"), Self.isIdentifier(name), !name.hasPrefix("_") else { continue }
            if column.type == "INTEGER", let target = try destination(of: column.name, in: table) {
                let relationship = NSRelationshipDescription()
                relationship.name = name
                relationship.destinationEntity = target
                relationship.maxCount = 1
                relationship.isOptional = true
                properties.append(relationship)
                continue
            }
            let attribute = NSAttributeDescription()
            attribute.name = name
            attribute.isOptional = true
            attribute.attributeType = try type(of: column.name, column.type, in: table)
            if attribute.attributeType == .binaryDataAttributeType {
                attribute.allowsExternalBinaryDataStorage = try hasStorageBytes(column.name, in: table)
            }
            properties.append(attribute)
        }
        return properties
    }

    /// Whether the rows of a table answer a question with yes. For a table that is damaged the answer is no.
    private mutating func isTrue(_ question: String, of table: String) throws -> Bool {
        do {
            return try reader.firstRow("SELECT \(question)")?.integer(0) == 1
        } catch let error as DatabaseError where error.resultCode == .SQLITE_CORRUPT {
            damaged.insert(table)
            return false
        }
    }

    private mutating func type(of column: String, _ declared: String, in table: String) throws -> NSAttributeType {
        switch declared {
        case "TIMESTAMP": .dateAttributeType
        case "FLOAT", "DOUBLE": .doubleAttributeType
        case "DECIMAL": .decimalAttributeType
        case "VARCHAR": .stringAttributeType
        case "INTEGER":
            // Both values of a Boolean occur, and nothing else.
            try isTrue(
                "min(\(column)) = 0 AND max(\(column)) = 1 FROM \(table) WHERE typeof(\(column)) = 'integer'", of: table
            )
                ? .booleanAttributeType : .integer64AttributeType
        case "BLOB":
            try allValues(of: column, in: table, satisfy: "typeof(\(column)) = 'blob' AND length(\(column)) = 16")
                ? .UUIDAttributeType : .binaryDataAttributeType
        default: .undefinedAttributeType
        }
    }

    /// Whether each value begins with the byte that tells whether it is in a file.
    private mutating func hasStorageBytes(_ column: String, in table: String) throws -> Bool {
        try allValues(
            of: column, in: table,
            satisfy: "substr(\(column), 1, 1) = x'01' OR substr(\(column), 1, 1) = x'02' AND length(\(column)) = 38")
    }

    /// Whether there are values, and all satisfy a condition.
    private mutating func allValues(of column: String, in table: String, satisfy condition: String) throws -> Bool {
        try isTrue(
            "EXISTS (SELECT 1 FROM \(table) WHERE \(column) NOT NULL) AND NOT EXISTS "
                + "(SELECT 1 FROM \(table) WHERE \(column) NOT NULL AND NOT (\(condition)))", of: table)
    }

    // MARK: - Relationships

    /// The entity to which a column of keys refers; nil if it is a number, and if the keys fit several entities of which none
    /// has a name like the column's: a wrong entity would be worse than the number.
    private mutating func destination(of column: String, in table: String) throws -> NSEntityDescription? {
        let key = column.dropFirst()
        let roots = entities.filter { rows[$0.key].map { entities[$0.parent] == nil } == true }
        // The best fit first: the entity with the column's name, those whose names contain it or are contained in it.
        let ranked = roots.sorted { first, second in
            let (one, other) = (Self.rank(key, first.value), Self.rank(key, second.value))
            return (one, first.key) < (other, second.key)
        }
        let isIndexed = indexes.contains("\(table)_\(column)_INDEX")
        let hasValues = try isTrue("EXISTS (SELECT 1 FROM \(table) WHERE \(column) NOT NULL)", of: table)
        var fitting: [NSEntityDescription] = []
        for (number, entity) in ranked {
            let rank = Self.rank(key, entity)
            guard isIndexed || rank == 0 else { break }
            // Without values only the name says which entity it is.
            if !hasValues, rank == 2 { break }
            let other = self.table(of: number)
            // Of keys in a damaged table, or of one, the name and the index tell.
            let fits =
                try isTrue(
                    "NOT EXISTS (SELECT 1 FROM \(table) AS t WHERE t.\(column) NOT NULL AND NOT EXISTS "
                        + "(SELECT 1 FROM \(other) AS d WHERE d.Z_PK = t.\(column)))", of: table)
                || rank < 2 && damaged.contains(table)
            if fits, rank < 2 { return entity }
            if fits { fitting.append(entity) }
        }
        return fitting.count == 1 ? fitting[0] : nil
    }

    private static func rank(_ key: Substring, _ entity: NSEntityDescription) -> Int {
        let name = (entity.name ?? "").uppercased()
        return name == key ? 0 : name.contains(key) || key.contains(name) ? 1 : 2
    }

    /// Adds the relationships of tables such as `Z_1TAGS (Z_1NOTES, Z_3TAGS)`.
    private func addJoinTables() throws {
        for table in tables.sorted() {
            guard let (owner, name) = Self.side(table), let one = entities[owner] else { continue }
            let sides = try columns(of: table).compactMap { Self.side($0.name).map { ($0.number, $0.name) } }
            guard let there = sides.first(where: { $0.1 == name }), let here = sides.first(where: { $0.1 != name }),
                here.0 == owner, let other = entities[there.0], one !== other
            else { continue }
            let (relationship, inverse) = (NSRelationshipDescription(), NSRelationshipDescription())
            for (side, name, destination) in [(relationship, name, other), (inverse, here.1, one)] {
                side.name = name.lowercased()
                side.destinationEntity = destination
                side.maxCount = 0
                side.isOptional = true
            }
            guard one.propertiesByName[relationship.name] == nil, other.propertiesByName[inverse.name] == nil else {
                continue
            }
            (relationship.inverseRelationship, inverse.inverseRelationship) = (inverse, relationship)
            one.properties.append(relationship)
            other.properties.append(inverse)
        }
    }

    /// The number and the name of a join table, or of one of its columns: `Z_3TAGS`.
    private static func side(_ text: String) -> (number: Int64, name: String)? {
        guard text.hasPrefix("Z_"), isIdentifier(text) else { return nil }
        let digits = text.dropFirst(2).prefix { $0.isNumber }
        let name = text.dropFirst(2 + digits.count)
        guard let number = Int64(digits), isIdentifier(name), !name.hasPrefix("_") else { return nil }
        return (number, String(name))
    }
}

extension StoreInspection {
    /// The key in the user info of each entity of an inferred model. The value is `columns` if the rows of its table could not be
    /// read, so that they say nothing about types.
    package static let inferredKey = "coral.inferred"

    /// A model that is inferred from the store's tables, for a store that contains none; nil if it has no tables of entities, or
    /// is not a file. Some statements for each column; each reads the column once.
    ///
    /// - Throws: An error of Core Data's if the store cannot be read.
    package func inferredModel() throws -> NSManagedObjectModel? { try Self.inferredModel(of: url) }

    /// The model that is inferred from the tables of a store that cannot be inspected, for example because the page of its own model
    /// is damaged. See ``inferredModel()``.
    package static func inferredModel(of url: URL) throws -> NSManagedObjectModel? {
        guard url.isFileURL else { return nil }
        return try StoreConnection.read(storeAt: url) { try ModelInference.model(in: $0) }
    }
}
