import Foundation
import ManagedObjects

// The sources of the columns of copies.

extension RowCopyPlan {
    func makeContent(of slot: Int, in entity: Entity) throws -> Content {
        let description = entity.slots[slot]
        if let attribute = description.attribute {
            return try makeContent(of: attribute, slot: description, in: entity)
        }
        guard let relationship = description.relationship.map({ schema.model.relationships[$0] }) else { return .null }
        switch description.kind {
        case .position:
            // The position among the owner's members, if the copy has an owner.
            guard
                let owner = entity.slots.firstIndex(where: {
                    $0.kind == .toOne && $0.relationship == relationship.number
                }), case .reference(let expression) = try makeContent(of: owner, in: entity),
                let column = entity.sql.columns[slot]?.name
            else { return .null }
            return .reference("CASE WHEN \(expression) IS NULL THEN NULL ELSE o.\(column) END")
        default:
            let isHidden = description.isHidden
            return reference(relationship, isHidden: isHidden, column: entity.sql.columns[slot]?.name ?? "", in: entity)
        }
    }

    private func makeContent(
        of attribute: SchemaAttribute, slot: SchemaSlot, in entity: Entity
    ) throws -> Content {
        if let derivation = attribute.derivation {
            switch derivation {
            case .now: return .value(.real(Date().timeIntervalSinceReferenceDate))
            case .copy(let name), .canonical(let name), .uppercase(let name), .lowercase(let name):
                guard case .original? = entity.rules.sources[name] else {
                    throw RowCopyObstacle(
                        .schema, "\(attribute.name) is derived from \(name), whose value is not copied.")
                }
                return .original
            // Computed by triggers.
            case .count, .sum, .related, .relatedText: return .null
            }
        }
        let name = slot.name.map { $0.split(separator: ".").first.map(String.init) ?? $0 } ?? ""
        switch entity.rules.sources[name] {
        case .original: return .original
        case .newUUID: return .uuid
        case .date(let date): return .value(.real(date.timeIntervalSinceReferenceDate))
        case .owner(let relationship, let attribute):
            return .reference(try owned(attribute, by: relationship, in: entity))
        case .initial, nil: return .value(slot.initial)
        }
    }

    /// The value of an attribute of the copy to which a relationship refers.
    private func owned(_ attribute: String, by name: String, in entity: Entity) throws -> String {
        guard let slot = entity.slots.firstIndex(where: { $0.kind == .toOne && $0.name == name }),
            case .reference(let expression) = try makeContent(of: slot, in: entity),
            let owner = schema.relationship(named: name, of: entity.sql).flatMap(schema.destination),
            let column = owner.column(named: attribute), !column.hasStorageByte,
            !inOrder.contains(where: { $0.followsOwners && $0.sql.entity.isKind(of: owner.entity) })
        else { throw RowCopyObstacle(.schema, "The value of \(attribute) of the owner is not a column.") }
        return "(SELECT a.\(column.name) FROM \(owner.table) a WHERE a.Z_PK = \(expression))"
    }

    /// The key in a reference of a copy: that of another copy, if either side of the relationship is copied; otherwise,
    /// if the rules say so, that of the original's destination.
    private func reference(
        _ relationship: SchemaRelationship, isHidden: Bool, column: String, in entity: Entity
    ) -> Content {
        let link = isHidden ? nil : entity.rules.links[relationship.name]
        // A hidden slot belongs to the relationship of the owner to which it refers.
        let owner = isHidden ? relationship : schema.model.inverse(of: relationship)
        let destination = isHidden ? relationship.entity : relationship.destination
        var parts: [String] = []
        if let root = root(of: destination) {
            let copy = "SELECT new FROM \(RowCopyTables.map(root.number)) WHERE old = o.\(column)"
            if link != nil {
                parts.append("(\(copy))")
            } else if let numbers = owner.flatMap({ list($0) }) {
                parts.append("(\(copy) AND ent IN (\(numbers)))")
            }
        }
        if link?.reachesOthers == true, let table = destination.flatMap({ schema.entity(at: $0)?.table }) {
            parts.append("(SELECT Z_PK FROM \(table) WHERE Z_PK = o.\(column))")
        }
        switch parts.count {
        case 0: return .null
        case 1: return .reference(parts[0])
        default: return .reference("IFNULL(\(parts.joined(separator: ", ")))")
        }
    }
}
