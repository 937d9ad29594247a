import SQLStatements
import SQLiteConnections

// The triggers that maintain attributes derived from other objects' values.

extension SQLSchema {
    var triggerStatements: [String] { triggerStatements { $0.statements(for: $1) } }

    /// The temporary triggers of texts that are derived from other objects. They exist for the lifetime of a
    /// connection, because the way in which Apple's stores call the required functions is not known. Empty if a store
    /// of Apple's has its own triggers.
    func temporaryTriggerStatements(besides existing: some Collection<String>) -> [String] {
        triggerStatements { triggers, derivation in
            existing.contains { $0.hasPrefix(triggers.prefix) } ? [] : triggers.temporaryStatements(for: derivation)
        }
    }

    /// The statements that correct the counts of relationships that are their own inverse, in a store whose triggers count one side of
    /// each pair, as those of earlier versions did. Empty for other stores: a trigger with any other text stays as it is.
    func countCorrections(of existing: [String: String]) -> [String] {
        triggerStatements { triggers, derivation in
            guard case .count(let name) = derivation,
                let relationship = relationship(named: name, of: triggers.entity),
                let pairs = pairs(of: relationship), pairs.isReflexive
            else { return [] }
            return triggers.corrections(ofCount: pairs, in: existing)
        }
    }

    private func triggerStatements(_ statements: (DerivedTriggers, Derivation) -> [String]) -> [String] {
        entities.flatMap { entity in
            entity.entity.attributes.flatMap { attribute -> [String] in
                guard let derivation = attribute.derivation, let column = entity.column(named: attribute.name) else {
                    return []
                }
                let triggers = DerivedTriggers(
                    schema: self, entity: entity, attribute: attribute.name, column: column.name)
                return statements(triggers, derivation)
            }
        }
    }
}

/// The triggers of one derived attribute. Each ends by passing the new value to the connection, so that the object in
/// memory can be refreshed.
private struct DerivedTriggers {
    let schema: SQLSchema
    let entity: SQLEntity
    let attribute: String
    let column: String

    private var table: String { entity.table }

    func statements(for derivation: Derivation) -> [String] {
        switch derivation {
        case .count(let name):
            guard let relationship = schema.relationship(named: name, of: entity), relationship.isToMany else {
                return []
            }
            if let pairs = schema.pairs(of: relationship) { return countOfPairs(pairs) }
            return schema.membership(of: relationship).map(countOfMembers) ?? []
        case .sum(let name, let summed):
            return schema.sum(of: summed, over: name, in: entity, attribute: attribute, column: column).map(sum) ?? []
        case .related(let name, let copied): return copy(of: copied, by: name, kind: "TRIGGER") { $0 }
        case .now: return now
        case .copy, .canonical, .uppercase, .lowercase, .relatedText: return []
        }
    }

    func temporaryStatements(for derivation: Derivation) -> [String] {
        guard case .relatedText(let function, let name, let copied) = derivation else { return [] }
        return copy(of: copied, by: name, kind: "TEMP TRIGGER") { "\(function.rawValue)(\($0))" }
    }

    /// The common prefix of the names of all triggers on the object's own table.
    var prefix: String { "Z_DA_\(table)_\(entity.entity.name)_\(attribute)_" }

    // MARK: - Statements of each form

    private func countOfMembers(_ membership: SQLMembership) -> [String] {
        let (other, owner) = (membership.table, membership.owner)
        func change(_ row: String, _ value: String) -> String {
            "UPDATE \(table) SET \(column) = \(value) WHERE Z_PK = \(row).\(owner); \(report("\(row).\(owner)"))"
        }
        return [
            trigger(
                other, "PARAMETER_INSERT", "INSERT", when: "NEW.\(owner)", change("NEW", "IFNULL(\(column), 0) + 1")),
            trigger(
                other, "PARAMETER_UPDATE_INCREMENT", "UPDATE OF \(owner)", when: "NEW.\(owner)",
                change("NEW", "\(column) + 1")),
            trigger(
                other, "PARAMETER_UPDATE_DECREMENT", "UPDATE OF \(owner)", when: "OLD.\(owner)",
                change("OLD", "\(column) - 1")),
            trigger(other, "PARAMETER_DELETE", "DELETE", when: "OLD.\(owner)", change("OLD", "\(column) - 1")),
            sourceInsert("(SELECT IFNULL(COUNT(\(owner)), 0) FROM \(other) WHERE \(owner) = NEW.Z_PK)"),
        ]
    }

    private func countOfPairs(_ pairs: SQLPairs) -> [String] {
        func change(_ row: String, _ value: String) -> String {
            let key = "\(row).\(pairs.source)"
            guard pairs.isReflexive else {
                return "UPDATE \(table) SET \(column) = \(value) WHERE Z_PK = \(key); \(report(key))"
            }
            // The pair is one of both objects, unless it is also stored in the other direction.
            let member = "\(row).\(pairs.destination)"
            let keys = "IN (\(key), \(member))"
            let reversed =
                "SELECT 1 FROM \(pairs.table) WHERE \(pairs.source) = \(member) AND \(pairs.destination) = \(key) "
                + "AND \(pairs.source) <> \(pairs.destination)"
            return "UPDATE \(table) SET \(column) = \(value) WHERE Z_PK \(keys) AND NOT EXISTS (\(reversed)); "
                + "SELECT \(Self.updateFunction)(\(reported)) FROM \(table) WHERE Z_PK \(keys);"
        }
        return [
            trigger(pairs.table, "PARAMETER_INSERT", "INSERT", change("NEW", "IFNULL(\(column), 0) + 1")),
            trigger(pairs.table, "PARAMETER_DELETE", "DELETE", change("OLD", "\(column) - 1")),
            sourceInsert(pairs.count(ofOwner: "NEW.Z_PK")),
        ]
    }

    /// Replaces the triggers that count one side of each pair, and counts anew.
    func corrections(ofCount pairs: SQLPairs, in existing: [String: String]) -> [String] {
        let oneSided = SQLPairs(
            table: pairs.table, source: pairs.source, destination: pairs.destination, position: pairs.position,
            inversePosition: pairs.inversePosition, isReflexive: false)
        let replacements = zip(countOfPairs(oneSided), countOfPairs(pairs)).flatMap { former, current -> [String] in
            let name = String(former.split(separator: " ")[2])
            return existing[name] == former ? ["DROP TRIGGER \(name)", current] : []
        }
        if replacements.isEmpty { return [] }
        let count = pairs.count(ofOwner: "\(table).Z_PK")
        let numbers = SQLRestriction.list(entity.hierarchyNumbers)
        return replacements + [
            "UPDATE \(table) SET \(column) = \(count) WHERE Z_ENT IN (\(numbers)) AND \(column) IS NOT \(count)"
        ]
    }

    private func sum(_ sum: SQLSum) -> [String] {
        let (other, owner) = (sum.memberTable, sum.ownerColumn)
        func change(_ row: String) -> String {
            let key = "\(row).\(owner)"
            return "UPDATE \(table) SET \(column) = \(sum.total(ofOwner: key)) WHERE Z_PK = \(key); \(report(key))"
        }
        let updated = "UPDATE OF \(owner), \(sum.valueColumn)"
        return [
            trigger(other, "PARAMETER_INSERT", "INSERT", when: "NEW.\(owner)", change("NEW")),
            trigger(other, "PARAMETER_UPDATE_INCREMENT", updated, when: "NEW.\(owner)", change("NEW")),
            trigger(other, "PARAMETER_UPDATE_DECREMENT", updated, when: "OLD.\(owner)", change("OLD")),
            trigger(other, "PARAMETER_DELETE", "DELETE", when: "OLD.\(owner)", change("OLD")),
            sourceInsert(sum.total(ofOwner: "NEW.Z_PK")),
        ]
    }

    private func copy(
        of attribute: String, by relationship: String, kind: String, _ derived: (String) -> String
    ) -> [String] {
        guard let reference = entity.column(named: relationship)?.name,
            let destination = schema.relationship(named: relationship, of: entity).flatMap(schema.destination),
            let value = destination.column(named: attribute)?.name
        else { return [] }
        let other = destination.table
        let found = "(SELECT \(derived(value)) FROM \(other) WHERE Z_PK = NEW.\(reference))"
        let affected = "FROM \(table) WHERE \(reference) = NEW.Z_PK"
        func change(_ function: String) -> String {
            "UPDATE \(table) SET \(column) = \(derived("NEW.\(value)")) WHERE \(reference) = NEW.Z_PK; "
                + "SELECT \(function)(\(reported)) \(affected);"
        }
        return [
            sourceInsert(found, kind: kind),
            trigger(
                table, "SOURCE_UPDATE", "UPDATE OF \(reference)", kind: kind,
                "UPDATE \(table) SET \(column) = \(found) WHERE Z_PK = NEW.Z_PK; \(report("NEW.Z_PK"))"),
            trigger(other, "PARAMETER_INSERT", "INSERT", kind: kind, change(Self.insertFunction)),
            trigger(other, "PARAMETER_UPDATE", "UPDATE OF \(value)", kind: kind, change(Self.updateFunction)),
        ]
    }

    /// The time of the last write of a row.
    private var now: [String] {
        let change = "UPDATE \(table) SET \(column) = NSCoreDataNow() WHERE Z_PK = NEW.Z_PK; "
        let inserted = report("NEW.Z_PK", function: Self.insertFunction)
        return [
            trigger(table, "INSERT", "INSERT", change + inserted),
            trigger(table, "UPDATE", "UPDATE OF Z_OPT", change + report("NEW.Z_PK")),
        ]
    }

    // MARK: - Text

    private var reported: String { "'\(table)', Z_ENT, Z_PK, '\(attribute)', \(column)" }

    /// The functions that a connection of Core Data's has. A trigger that calls an unknown function fails, and with it
    /// every write to its table.
    private static let insertFunction = "NSCoreDataDATriggerInsertUpdatedAffectedObjectValue"
    private static let updateFunction = SQLSum.reportingFunction

    private func report(_ key: String, function: String = updateFunction) -> String {
        "SELECT \(function)(\(reported)) FROM \(table) WHERE Z_PK = \(key);"
    }

    private func sourceInsert(_ value: String, kind: String = "TRIGGER") -> String {
        let report = report("NEW.Z_PK", function: Self.insertFunction)
        return trigger(
            table, "SOURCE_INSERT", "INSERT", kind: kind,
            "UPDATE \(table) SET \(column) = \(value) WHERE Z_PK = NEW.Z_PK; \(report)")
    }

    private func trigger(
        _ on: String, _ suffix: String, _ event: String, when key: String? = nil, kind: String = "TRIGGER",
        _ body: String
    ) -> String {
        let condition = key.map { " WHEN (\($0) NOT NULL)" } ?? ""
        return "CREATE \(kind) Z_DA_\(on)_\(entity.entity.name)_\(attribute)_\(suffix) AFTER \(event) ON \(on) "
            + "FOR EACH ROW\(condition) BEGIN \(body) END"
    }
}

extension SQLSchema {
    fileprivate func sum(
        of summed: String, over name: String, in entity: SQLEntity, attribute: String, column: String
    ) -> SQLSum? {
        guard let relationship = relationship(named: name, of: entity), relationship.isToMany,
            let membership = membership(of: relationship), let slot = membership.members.entity.slot(named: summed),
            let value = membership.members.columns[slot]?.name
        else { return nil }
        return SQLSum(
            table: entity.table, entity: entity.entity.name, attribute: attribute, column: column,
            members: membership.members.entity, memberTable: membership.table, ownerColumn: membership.owner,
            valueColumn: value, slots: [membership.slot, slot])
    }

    /// The derived attributes that are sums over members with a reference to their owner.
    var sums: [SQLSum] {
        entities.flatMap { entity in
            zip(entity.entity.slots, entity.columns).compactMap { slot, column -> SQLSum? in
                guard let attribute = slot.attribute, attribute.entity == entity.entity.index,
                    case .sum(let name, let summed)? = attribute.derivation, let column = column?.name
                else { return nil }
                return sum(of: summed, over: name, in: entity, attribute: attribute.name, column: column)
            }
        }
    }

    /// The functions that the triggers of the store's derived texts call, under the names that the triggers use.
    ///
    /// A function that a trigger of `canonical:(title)` calls with one argument is the canonical form, whatever
    /// its name.
    func textFunctions(of catalog: SQLCatalog) -> [SQLFunction] {
        var functions: [String: PredicateFunctions.Name] = [:]
        for entity in entities {
            for attribute in entity.entity.attributes {
                guard let function = attribute.derivation?.textFunction else { continue }
                let part = "_\(entity.entity.name)_\(attribute.name)_"
                for (name, text) in catalog.statements where name.hasPrefix("Z_DA_") && name.contains(part) {
                    for call in text.matches(of: /\b(NSCoreData\w+)\(/) {
                        let called = String(call.1)
                        if !StoreFunctions.contains(called) { functions[called] = function }
                    }
                }
            }
        }
        return functions.map { PredicateFunctions.function($1, name: $0) }
    }
}

/// A derived attribute that is the sum of an attribute of members.
struct SQLSum {
    let table: String
    let entity: String
    let attribute: String
    let column: String
    /// The declared entity of the members.
    let members: SchemaEntity
    let memberTable: String
    let ownerColumn: String
    let valueColumn: String
    /// The slots of a member on which the sum depends: its owner, and the value.
    let slots: [Int]

    func total(ofOwner key: String) -> String {
        "(SELECT IFNULL(SUM(\(valueColumn)), 0) FROM \(memberTable) WHERE \(ownerColumn) = \(key))"
    }

    /// The function that reports a changed value to the connection.
    static let reportingFunction = "NSCoreDataDATriggerUpdatedAffectedObjectValue"
}
