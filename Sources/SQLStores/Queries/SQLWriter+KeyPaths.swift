import CoreDataErrors
import Foundation
import PredicateLanguage
import SQLStatements

/// The members of a to-many relationship, or one value of each, as rows of a subquery.
struct SQLMembers {
    let scope: SQLScope
    /// The rows of the members, joined for their values.
    var source: SQLSource
    /// The column of the owners' keys, and the outer row whose key it must equal.
    var link: (column: SQLFragment, owner: String, isNullable: Bool)
    /// Further conditions, of subqueries.
    var conditions: [SQLFragment] = []
    /// One value of each member; nil for the members themselves.
    var value: SQLValue?
    /// The number of to-many relationships on the path to the members.
    var stepCount = 1

    /// The maximum number of to-many relationships of a key path in one statement.
    static let stepLimit = 6

    /// A SELECT over the members.
    func select(_ result: SQLFragment, where condition: SQLFragment? = nil) -> SQLFragment {
        let related: SQLFragment = "\(link.column) = \(link.owner).Z_PK"
        let all = [related] + conditions + (condition.map { [$0] } ?? [])
        return "SELECT \(result) FROM \(scope.from) WHERE \(all.joined(separator: " AND "))"
    }

    /// A SELECT of the owners' keys of the members that fulfil a condition.
    ///
    /// - Parameter join: The beginning of the FROM clause.
    func owners(where condition: SQLCondition, of join: SQLFragment = "") -> SQLFragment {
        // Members without an owner would make a comparison with the list NULL for all others. The sign keeps SQLite from beginning
        // with all owners for this condition.
        "SELECT \(link.column) FROM \(join)\(scope.from) WHERE \(condition.sql) AND +\(link.column) IS NOT NULL"
    }
}

extension SQLWriter {
    func operand(_ keys: [String], of base: ExpressionNode, place: ExpressionNode) throws -> Operand {
        if case .evaluatedObject = base, keys.count == 1, let column = columns[keys[0]],
            subject.entity.entity.fields[keys[0]] == nil
        {
            return try operand(column)
        }
        if case .evaluatedObject = base, aggregatesRows, let operation = keys.first, operation.hasPrefix("@") {
            return .value(try reduceRows(by: operation, keys: Array(keys.dropFirst()), place: place))
        }
        if let operation = keys.firstIndex(where: { $0.hasPrefix("@") }) {
            let collection = try members(Array(keys[..<operation]), of: base, place: place)
            return .value(
                try reduce(
                    collection, by: keys[operation], keys: Array(keys[(operation + 1)...]), place: place))
        }
        switch base {
        case .evaluatedObject: return try follow(keys, from: subject, place: place)
        case .variable(let name):
            guard let source = variables[name] else { throw PredicateRefusal(.variable, place) }
            return try follow(keys, from: source, place: place)
        case .subquery:
            let found = try members([], of: base, place: place)
            return try follow(keys, from: found.source, among: found, place: place)
        case .keyPath(let inner, let first): return try operand(first + keys, of: inner, place: place)
        default: throw PredicateRefusal(.function, place)
        }
    }

    /// The members at the end of a key path, or the members that a subquery returns.
    func members(_ keys: [String], of base: ExpressionNode, place: ExpressionNode) throws -> SQLMembers {
        let found: Operand =
            if keys.isEmpty { try operand(base) } else { try operand(keys, of: base, place: place) }
        guard case .members(let members) = found else { throw PredicateRefusal(.function, place) }
        return members
    }

    // MARK: - Following keys

    /// Follows keys from a row: to-one relationships by joins, and the first to-many relationship and all that follows
    /// in a subquery over its members.
    func follow(
        _ path: [String], from start: SQLSource, among first: SQLMembers? = nil, place: ExpressionNode
    ) throws -> Operand {
        var source = start
        var members = first
        var keys = path[...]
        func result(_ value: SQLValue?) -> Operand {
            guard var members else { return .value(value ?? key(of: source)) }
            members.value = value ?? (source.alias == members.source.alias ? nil : key(of: source))
            return .members(members)
        }
        while let key = keys.popFirst() {
            if key == "self" || key == "SELF" { continue }
            if source.entity.entity.fields[key] == nil {
                if let special = try special(key, followedBy: keys, of: source, place: place) { return result(special) }
            }
            var name = key
            while case .composite? = source.entity.entity.fields[name] {
                guard let element = keys.popFirst() else { throw PredicateRefusal(.notStored, place) }
                name += "." + element
            }
            switch source.entity.entity.fields[name] {
            case .slot(let slot)?:
                let description = source.entity.entity.slots[slot]
                guard description.isPersistent else { throw Self.transientKey(name, of: source.entity.entity) }
                guard let column = source.entity.columns[slot] else { throw PredicateRefusal(.notStored, place) }
                let sql: SQLFragment = "\(source.alias).\(column.name)"
                guard let destination = description.destination else {
                    // Texts, dates and similar values have keys of their own in memory.
                    if !keys.isEmpty { throw PredicateRefusal(.function, place) }
                    guard let kind = column.hasStorageByte ? .bytes : SQLKind(description.kind) else {
                        throw PredicateRefusal(.notStored, place)
                    }
                    return result(SQLValue(sql: sql, kind: kind, isColumn: true))
                }
                // The column contains the key of the destination, so no join is needed.
                let itself = keys.prefix { $0 == "self" || $0 == "SELF" || $0 == "objectID" }
                if itself.count == keys.count {
                    return result(
                        SQLValue(
                            sql: sql, kind: .key(root: schema.model.entities[destination].root), isColumn: true,
                            reference: SQLValue.Reference(
                                entity: destination, number: column.companion.map { "\(source.alias).\($0)" })))
                }
                guard let table = schema.entity(at: destination) else { throw PredicateRefusal(.notStored, place) }
                guard source.scope.joinCount < SQLScope.joinLimit else { throw PredicateRefusal(.tooLarge, place) }
                source = source.scope.join(column.name, of: source, to: table)
            case .toMany(let number)?:
                let relationship = source.entity.entity.toMany[number]
                let found = try step(to: relationship, from: source, among: members, place: place)
                members = found
                source = found.source
            case .fetched?, .composite?: throw PredicateRefusal(.notStored, place)
            case nil: throw Self.unknownKey(name, of: source.entity.entity)
            }
        }
        return result(nil)
    }

    /// Keys that every object has, unless its entity has a property of that name.
    private func special(
        _ key: String, followedBy keys: ArraySlice<String>, of source: SQLSource, place: ExpressionNode
    ) throws -> SQLValue? {
        switch key {
        case "objectID" where keys.isEmpty: return self.key(of: source)
        case "entity":
            let kind: SQLKind = keys.isEmpty ? .entity : .entityName
            guard keys.isEmpty || keys.elementsEqual(["name"]) else { throw PredicateRefusal(.function, place) }
            return SQLValue(sql: "\(source.alias).Z_ENT", kind: kind, isNullable: source.alias != subject.alias)
        default: return nil
        }
    }

    /// The members of a to-many relationship of rows: in a new subquery, or joined to the members before.
    private func step(
        to relationship: SchemaRelationship, from source: SQLSource, among members: SQLMembers?, place: ExpressionNode
    ) throws -> SQLMembers {
        // If a to-one relationship between two to-many ones is nil, evaluation in memory includes a nil that a join
        // does not find.
        if let members, source.alias != members.source.alias { throw PredicateRefusal(.toMany, place) }
        // Each step multiplies the number of rows; evaluation in memory has a limit for it.
        if let members, members.stepCount >= SQLMembers.stepLimit { throw PredicateRefusal(.tooLarge, place) }
        guard !relationship.isTransient else { throw Self.transientKey(relationship.name, of: source.entity.entity) }
        guard let table = schema.destination(of: relationship) else { throw PredicateRefusal(.notStored, place) }
        let owner: SQLFragment = "\(source.alias).Z_PK"
        // The row of a to-one relationship's destination may not exist.
        let isNullable = source.alias != subject.alias
        switch relationship.storage {
        case nil: throw PredicateRefusal(.notStored, place)
        case .memberSlot(let slot, _)?:
            guard let column = table.columns[slot] else {
                throw PredicateRefusal(.notStored, place)
            }
            if var members {
                let alias = members.scope.add("\(table.table)") { "\($0).\(column.name) = \(owner)" }
                members.source = members.scope.source(alias, table)
                members.stepCount += 1
                return members
            }
            let scope = SQLScope(table, schema: schema, aliases: aliases)
            return SQLMembers(
                scope: scope, source: scope.base,
                link: ("\(scope.base.alias).\(column.name)", source.alias, isNullable))
        case .pairs?:
            guard let pairs = schema.pairs(of: relationship) else {
                throw PredicateRefusal(.notStored, place)
            }
            // A pair of a relationship that is its own inverse may be stored in either direction, or in both.
            let rows: SQLFragment =
                pairs.isReflexive
                ? """
                (SELECT \(pairs.source), \(pairs.destination) FROM \(pairs.table) \
                UNION SELECT \(pairs.destination), \(pairs.source) FROM \(pairs.table))
                """ : "\(pairs.table)"
            if var members {
                let pair = members.scope.add(rows) { "\($0).\(pairs.source) = \(owner)" }
                let alias = members.scope.add("\(table.table)") { "\($0).Z_PK = \(pair).\(pairs.destination)" }
                members.source = members.scope.source(alias, table)
                members.stepCount += 1
                return members
            }
            let scope = SQLScope(table, schema: schema, aliases: aliases)
            let pair = scope.add(rows) { "\($0).\(pairs.destination) = \(scope.base.alias).Z_PK" }
            return SQLMembers(
                scope: scope, source: scope.base, link: ("\(pair).\(pairs.source)", source.alias, isNullable))
        }
    }

    /// Core Data's error for a key that an entity does not have. It is not a refusal, because evaluation in memory
    /// fails too.
    static func unknownKey(_ key: String, of entity: SchemaEntity) -> CocoaError {
        CocoaError(
            .coreData,
            userInfo: [
                NSLocalizedDescriptionKey: "The key path “\(key)” was not found in the entity “\(entity.name)”."
            ])
    }

    /// The error for a property that no row has. It is not a refusal, because evaluation in memory would take it for nil.
    private static func transientKey(_ key: String, of entity: SchemaEntity) -> CocoaError {
        CocoaError(
            .coreData, "“\(key)” of the entity “\(entity.name)” is transient: rows have no values.")
    }
}
