import Foundation
import ManagedObjects
import SQLStatements

/// The rules of a copy operation, applied to a store's tables.
struct RowCopyPlan {
    /// An entity whose rows may be copied.
    struct Entity {
        let sql: SQLEntity
        /// The number of its root entity.
        let root: Int64
        let rules: RowCopyRequest.Rules

        var slots: [SchemaSlot] { sql.entity.slots }

        /// Whether values come from copies of other entities, which must be inserted first.
        var followsOwners: Bool {
            rules.sources.values.contains { if case .owner = $0 { true } else { false } }
        }
    }

    /// The source of a column of a copy.
    enum Content {
        case original
        case uuid
        case null
        case value(Value)
        case reference(String)
    }

    let schema: SQLSchema
    let entities: [Entity]
    /// The entities, ordered so that copies from which values are taken are inserted first.
    let inOrder: [Entity]
    let roots: [SQLEntity]
    private let positionByIndex: [Int: Int]
    /// The sources of the slots of each entity, by the entity's number.
    private var contents: [Int64: [Content]] = [:]

    /// Checks the rules against the schema, before any row is read.
    ///
    /// - Throws: `RowCopyObstacle` if a value or a relationship is stored in a way that set operations cannot copy, or an
    ///   object to copy is of an entity without rules.
    init(_ request: RowCopyRequest, of objects: [ObjectKey], schema: SQLSchema) throws {
        self.schema = schema
        var entities: [Entity] = []
        var roots: [SQLEntity] = []
        for rules in request.rules {
            guard let sql = schema.entity(rules.entity), let root = schema.root(of: sql),
                sql.columns.count == sql.entity.slots.count
            else { throw RowCopyObstacle(.schema, "The table of \(rules.entity.name ?? "") lacks columns.") }
            entities.append(Entity(sql: sql, root: root.number, rules: rules))
            if !roots.contains(where: { $0.number == root.number }) { roots.append(root) }
        }
        self.entities = entities
        self.roots = roots
        inOrder = entities.filter { !$0.followsOwners } + entities.filter(\.followsOwners)
        positionByIndex = Dictionary(
            entities.enumerated().map { ($1.sql.entity.index, $0) }, uniquingKeysWith: { first, _ in first })
        try requireSets()
        for index in objects.indices where positionByIndex[Int(objects[index].entity)] == nil {
            throw RowCopyObstacle(.schema, "An object to copy is of an entity without rules.")
        }
        for entity in entities {
            contents[entity.sql.number] = try entity.slots.indices.map { slot in
                entity.sql.columns[slot] == nil ? .null : try makeContent(of: slot, in: entity)
            }
        }
    }

    /// The source of a slot of a copy.
    func content(of slot: Int, in entity: Entity) -> Content { contents[entity.sql.number]?[slot] ?? .null }

    func entity(at index: Int) -> Entity? { positionByIndex[index].map { entities[$0] } }

    /// The numbers of the entities whose rules for a relationship satisfy a condition, as a list for SQL; nil if there
    /// are none.
    func list(
        _ relationship: SchemaRelationship, where isMeant: (RowCopyRequest.Link) -> Bool = { _ in true }
    ) -> String? {
        let numbers = entities.filter { entity in
            entity.sql.entity.relationshipNumbers[relationship.name] == relationship.number
                && entity.rules.links[relationship.name].map(isMeant) ?? false
        }.map { "\($0.sql.number)" }
        return numbers.isEmpty ? nil : numbers.joined(separator: ", ")
    }

    /// The relationships of all rules, each once, in order.
    var relationships: [SchemaRelationship] {
        var met: Set<Int> = []
        return entities.flatMap { entity in
            entity.rules.links.keys.sorted().compactMap { schema.relationship(named: $0, of: entity.sql) }
        }.filter { met.insert($0.number).inserted }
    }

    /// The root of an entity with an index, if rules apply to its hierarchy.
    func root(of entity: Int?) -> SQLEntity? {
        entity.flatMap { schema.entity(at: $0) }.flatMap(schema.root).flatMap { root in
            roots.first { $0.number == root.number }
        }
    }

    // MARK: - Limits of set operations

    private func requireSets() throws {
        for relationship in relationships {
            let reaches = list(relationship, where: \.reachesOthers) != nil
            // A member refers to its single owner, although the model declares no inverse.
            if reaches, relationship.isToMany, relationship.inverse == nil {
                throw RowCopyObstacle(.schema, "\(relationship.name) is to-many and has no inverse.")
            }
            if relationship.isReflexive { throw RowCopyObstacle(.schema, "\(relationship.name) is its own inverse.") }
            if relationship.isToMany, relationship.minimumCount > 0 || relationship.maximumCount > 0 {
                throw RowCopyObstacle(.schema, "The number of members of \(relationship.name) is limited.")
            }
        }
    }

    // MARK: - Walk

    /// The terms of the recursive statement: for each followed relationship, the rows that it reaches.
    var steps: [String] {
        relationships.compactMap { relationship -> String? in
            guard let numbers = list(relationship, where: \.follows),
                let source = schema.entity(at: relationship.entity).flatMap(schema.root),
                let destination = root(of: relationship.destination)
            else { return nil }
            let from = "\(destination.number), d.Z_PK, d.Z_ENT FROM walk w"
            let condition = " WHERE w.r = \(source.number) AND w.e IN (\(numbers))"
            if let pairs = schema.pairs(of: relationship) {
                return from + " CROSS JOIN \(pairs.table) p ON p.\(pairs.source) = w.k "
                    + "CROSS JOIN \(destination.table) d ON d.Z_PK = p.\(pairs.destination)" + condition
            }
            if relationship.isToMany {
                guard let owner = schema.membership(of: relationship)?.owner else { return nil }
                return from + " CROSS JOIN \(destination.table) d ON d.\(owner) = w.k" + condition
            }
            guard let column = schema.entity(at: relationship.entity)?.column(named: relationship.name)?.name else {
                return nil
            }
            return from + " CROSS JOIN \(source.table) s ON s.Z_PK = w.k "
                + "CROSS JOIN \(destination.table) d ON d.Z_PK = s.\(column)" + condition
        }
    }
}

/// The temporary tables of a copy operation.
enum RowCopyTables {
    /// The requested rows, and all rows to be copied: root entity, key, entity.
    static let roots = "temp.CoralCopyRoots"
    static let found = "temp.CoralCopyFound"
    /// Column values that name files, and the corresponding values of the copies.
    static let files = "temp.CoralCopyFiles"

    /// The copies of a root entity's rows: old key, new key, entity.
    static func map(_ root: Int64) -> String { "temp.CoralCopy\(root)" }

    /// The rows `o` of the originals (`old`) or of the copies (`new`) of an entity, and their entries `m` in the map. SQLite
    /// executes the loops of a `CROSS JOIN` in the order of the text: here the map's first.
    static func rows(of entity: RowCopyPlan.Entity, _ key: String) -> String {
        "\(map(entity.root)) m CROSS JOIN \(entity.sql.table) o ON o.Z_PK = m.\(key)"
    }

    static func creation(_ roots: [Int64]) -> String {
        let maps = roots.map { "CREATE TABLE \(map($0)) (old INTEGER PRIMARY KEY, new INTEGER, ent INTEGER);" }
        return removal(roots) + "CREATE TABLE \(Self.roots) (r INTEGER, k INTEGER, e INTEGER, UNIQUE (r, k));"
            + "CREATE TABLE \(found) (r INTEGER, k INTEGER, e INTEGER);"
            + "CREATE TABLE \(files) (old BLOB PRIMARY KEY, new BLOB);" + maps.joined()
    }

    static func removal(_ roots: [Int64]) -> String {
        ([Self.roots, found, files] + roots.map(map)).map { "DROP TABLE IF EXISTS \($0);" }.joined()
    }

    /// A column of an original, with the name of the copied file if it names a file.
    static func withCopiedFiles(_ column: SQLColumn) -> String {
        "CASE WHEN length(o.\(column.name)) < 39 THEN "
            + "IFNULL((SELECT new FROM \(files) WHERE old = o.\(column.name)), o.\(column.name)) "
            + "ELSE o.\(column.name) END"
    }
}

/// The reason why rows cannot be copied by SQL, so that the copy must be made with objects.
///
/// Store, rules and schema are checked before the transaction (`RowCopyPlan`). An obstacle that is found only in the
/// rows ends the transaction, which is rolled back: an object that does not exist, a copy that would lack a required
/// object or violate a constraint, and a member that would be added to an ordered relationship of an object outside the
/// copy.
package struct RowCopyObstacle: Error {
    /// What is read to find the obstacle.
    package enum Kind: Sendable {
        case store, schema, rows
    }

    package let kind: Kind
    /// Why objects are needed, in one sentence.
    package let reason: String

    init(_ kind: Kind, _ reason: String) {
        self.kind = kind
        self.reason = reason
    }
}
