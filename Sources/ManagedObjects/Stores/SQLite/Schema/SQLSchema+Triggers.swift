// The triggers that keep derived attributes of other objects' values.

extension SQLSchema {
    var triggerStatements: [String] {
        entities.flatMap { entity in
            entity.entity.sortedOwnProperties.flatMap { property -> [String] in
                guard let attribute = property as? NSAttributeDescription, let derivation = Derivation(attribute),
                    let column = column(named: attribute.name, in: entity.entity)
                else { return [] }
                return DerivedTriggers(
                    schema: self, entity: entity, attribute: attribute.name, column: column.name
                ).statements(for: derivation)
            }
        }
    }
}

/// The triggers of one derived attribute. Each ends by telling the connection the new value, so that the object that
/// has it in memory can be refreshed.
private struct DerivedTriggers {
    let schema: SQLSchema
    let entity: SQLEntity
    let attribute: String
    let column: String

    private var table: String { entity.table }

    func statements(for derivation: Derivation) -> [String] {
        switch derivation {
        case .count(let name):
            guard let relationship = entity.entity.relationshipsByName[name], relationship.isToMany else { return [] }
            if let pairs = schema.pairs(of: relationship) { return countOfPairs(pairs) }
            return members(of: relationship).map(countOfMembers) ?? []
        case .sum(let name, let summed):
            guard let relationship = entity.entity.relationshipsByName[name], relationship.isToMany,
                let members = members(of: relationship), let destination = relationship.destinationEntity,
                let value = schema.column(named: summed, in: destination)?.name
            else { return [] }
            return sum(of: value, members)
        case .related(let name, let copied):
            guard let reference = schema.column(named: name, in: entity.entity)?.name,
                let destination = entity.entity.relationshipsByName[name]?.destinationEntity,
                let other = schema.entity(destination),
                let value = schema.column(named: copied, in: destination)?.name
            else { return [] }
            return copy(of: value, in: other.table, by: reference)
        case .copy, .canonical, .uppercase, .lowercase, .now: return []
        }
    }

    /// The table of a to-many's members and the column by which they refer to their owner.
    private func members(of relationship: NSRelationshipDescription) -> (table: String, owner: String)? {
        guard let destination = relationship.destinationEntity, let members = schema.entity(destination),
            let place = entity.entity.layout.toMany.first(where: { $0.relationship === relationship }),
            case .memberSlot(let slot, _) = place.storage, let owner = members.columns[slot]?.name
        else { return nil }
        return (members.table, owner)
    }

    // MARK: - Forms

    private func countOfMembers(_ members: (table: String, owner: String)) -> [String] {
        let (other, owner) = members
        func change(_ row: String, _ value: String) -> String {
            "UPDATE \(table) SET \(column) = \(value) WHERE Z_PK = \(row).\(owner); \(telling("\(row).\(owner)"))"
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
            return "UPDATE \(table) SET \(column) = \(value) WHERE Z_PK = \(key); \(telling(key))"
        }
        return [
            trigger(pairs.table, "PARAMETER_INSERT", "INSERT", change("NEW", "IFNULL(\(column), 0) + 1")),
            trigger(pairs.table, "PARAMETER_DELETE", "DELETE", change("OLD", "\(column) - 1")),
            sourceInsert("(SELECT COUNT(*) FROM \(pairs.table) WHERE \(pairs.source) = NEW.Z_PK)"),
        ]
    }

    private func sum(of value: String, _ members: (table: String, owner: String)) -> [String] {
        let (other, owner) = members
        func total(_ key: String) -> String {
            "(SELECT IFNULL(SUM(\(value)), 0) FROM \(other) WHERE \(owner) = \(key))"
        }
        func change(_ row: String) -> String {
            let key = "\(row).\(owner)"
            return "UPDATE \(table) SET \(column) = \(total(key)) WHERE Z_PK = \(key); \(telling(key))"
        }
        let updated = "UPDATE OF \(owner), \(value)"
        return [
            trigger(other, "PARAMETER_INSERT", "INSERT", when: "NEW.\(owner)", change("NEW")),
            trigger(other, "PARAMETER_UPDATE_INCREMENT", updated, when: "NEW.\(owner)", change("NEW")),
            trigger(other, "PARAMETER_UPDATE_DECREMENT", updated, when: "OLD.\(owner)", change("OLD")),
            trigger(other, "PARAMETER_DELETE", "DELETE", when: "OLD.\(owner)", change("OLD")),
            sourceInsert(total("NEW.Z_PK")),
        ]
    }

    private func copy(of value: String, in other: String, by reference: String) -> [String] {
        let found = "(SELECT \(value) FROM \(other) WHERE Z_PK = NEW.\(reference))"
        let affected = "FROM \(table) WHERE \(reference) = NEW.Z_PK"
        let change =
            "UPDATE \(table) SET \(column) = NEW.\(value) WHERE \(reference) = NEW.Z_PK; "
            + "SELECT NSCoreDataDATriggerUpdatedAffectedObjectValue(\(told)) \(affected);"
        return [
            sourceInsert(found),
            trigger(
                table, "SOURCE_UPDATE", "UPDATE OF \(reference)",
                "UPDATE \(table) SET \(column) = \(found) WHERE Z_PK = NEW.Z_PK; \(telling("NEW.Z_PK"))"),
            trigger(other, "PARAMETER_INSERT", "INSERT", change),
            trigger(other, "PARAMETER_UPDATE", "UPDATE OF \(value)", change),
        ]
    }

    // MARK: - Text

    private var told: String { "'\(table)', Z_ENT, Z_PK, '\(attribute)', \(column)" }

    private func telling(_ key: String, function: String = "NSCoreDataDATriggerUpdatedAffectedObjectValue") -> String {
        "SELECT \(function)(\(told)) FROM \(table) WHERE Z_PK = \(key);"
    }

    private func sourceInsert(_ value: String) -> String {
        let told = telling("NEW.Z_PK", function: "NSCoreDataDATriggerInsertUpdatedAffectedObjectValue")
        return trigger(
            table, "SOURCE_INSERT", "INSERT",
            "UPDATE \(table) SET \(column) = \(value) WHERE Z_PK = NEW.Z_PK; \(told)")
    }

    private func trigger(_ on: String, _ suffix: String, _ event: String, when key: String? = nil, _ body: String)
        -> String
    {
        let condition = key.map { " WHEN (\($0) NOT NULL)" } ?? ""
        return "CREATE TRIGGER Z_DA_\(on)_\(entity.entity.name ?? "")_\(attribute)_\(suffix) AFTER \(event) ON \(on) "
            + "FOR EACH ROW\(condition) BEGIN \(body) END"
    }
}
