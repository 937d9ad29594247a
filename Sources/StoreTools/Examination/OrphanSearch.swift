import Foundation
import ManagedObjects
import SQLStatements
import SQLStores
import SQLiteConnections

extension StoreExamination {
    /// Rows of an entity that none of its owners refers to, although the model says that objects of the entity are deleted with
    /// their owners. If the model does not require an owner, only rows that no other object refers to: an object without an owner may
    /// be one that the app shows elsewhere.
    package struct Orphans: Sendable {
        package let entity: String
        package let count: Int
        package let totalCount: Int
        /// The relationships that own the entity's objects: `Note.items`.
        package let owners: [String]
        /// Whether the model requires an owner.
        package let isOwnerRequired: Bool
        /// The first of them: `Item/p3`.
        package let examples: [String]
    }
}

/// Finds rows that nothing owns. An owner is an object with a relationship whose delete rule is cascade.
struct OrphanSearch {
    private let model: NSManagedObjectModel
    private let tables: [String: StoreTables.Entity]

    init(model: NSManagedObjectModel, tables: StoreTables) {
        self.model = model
        self.tables = Dictionary(tables.entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// The orphans of each entity that has some, in the order of the entities' names. Cost: a statement for each owned entity.
    func orphans(_ reader: StoreReader) throws -> [StoreExamination.Orphans] {
        try model.entities.sorted { ($0.name ?? "") < ($1.name ?? "") }.compactMap { entity in
            guard let condition = condition(for: entity), let table = tables[entity.name ?? ""]?.table else {
                return nil
            }
            let count = try reader.integer("SELECT count(*) FROM \(table) t WHERE \(condition.text)")
            guard count > 0 else { return nil }
            let total = try reader.integer("SELECT count(*) FROM \(table) t WHERE \(condition.entity)")
            let examples = try reader.rows(
                "SELECT t.Z_PK FROM \(table) t WHERE \(condition.text) ORDER BY t.Z_PK LIMIT 5")
            return StoreExamination.Orphans(
                entity: entity.name ?? "", count: Int(count), totalCount: Int(total), owners: condition.owners,
                isOwnerRequired: condition.isRequired, examples: examples.map { "\(entity.name ?? "")/\($0.key(0))" })
        }
    }

    /// The condition for the orphans of an entity in its table, `t`. Nil if nothing owns objects of the entity.
    func condition(for entity: NSEntityDescription) -> (
        text: String, entity: String, owners: [String], isRequired: Bool
    )? {
        guard !entity.isAbstract, let stored = tables[entity.name ?? ""] else { return nil }
        var (conditions, owners): ([String], [String]) = ([], [])
        var isRequired = false
        for owner in model.entities {
            for relationship in owner.ownProperties.compactMap({ $0 as? NSRelationshipDescription })
            where relationship.deleteRule == .cascadeDeleteRule && !relationship.isTransient {
                guard let destination = relationship.destinationEntity, entity.isKindOf(entity: destination),
                    // A tree owns itself, and its root has no owner.
                    !isTree(owner, destination), let condition = isUnowned(by: relationship, of: owner, in: stored)
                else { continue }
                conditions.append(condition)
                owners.append("\(owner.name ?? "").\(relationship.name)")
                if let inverse = relationship.inverseRelationship, !inverse.isOptional { isRequired = true }
            }
        }
        guard !conditions.isEmpty else { return nil }
        if !isRequired { conditions += unconnected(entity, stored) }
        // Also where no other entity has the table: a row with a wrong number is not an object of the entity.
        let own = SQLRestriction.areOfEntities([stored.number], "t")
        return (([own] + conditions).joined(separator: " AND "), own, owners.sorted(), isRequired)
    }

    /// The conditions that no other object refers to a row of `t` by any relationship.
    private func unconnected(_ entity: NSEntityDescription, _ stored: StoreTables.Entity) -> [String] {
        var conditions: [String] = []
        for (name, relationship) in entity.relationshipsByName.sorted(by: { $0.key < $1.key })
        where !relationship.isTransient && relationship.inverseRelationship != nil
            && relationship.deleteRule != .cascadeDeleteRule
        {
            if let column = stored.columns[name]?.name {
                conditions.append("t.\(column) IS NULL")
                continue
            }
            switch stored.members[name] {
            case .rows(let column, _)?:
                guard let table = relationship.destinationEntity?.name.flatMap({ tables[$0]?.table }) else { continue }
                conditions.append("NOT EXISTS (SELECT 1 FROM \(table) m WHERE m.\(column) = t.Z_PK)")
            case .pairs(let table, let column, _, _, _)?:
                conditions.append("NOT EXISTS (SELECT 1 FROM \(table) p WHERE p.\(column) = t.Z_PK)")
            case nil: continue
            }
        }
        // Relationships without an inverse are columns and pairs of the objects that have them.
        for other in model.entities {
            for relationship in other.ownProperties.compactMap({ $0 as? NSRelationshipDescription })
            where relationship.inverseRelationship == nil && !relationship.isTransient {
                guard let destination = relationship.destinationEntity, entity.isKindOf(entity: destination),
                    let condition = isUnowned(by: relationship, of: other, in: stored)
                else { continue }
                conditions.append(condition)
            }
        }
        return conditions
    }

    private func isTree(_ owner: NSEntityDescription, _ destination: NSEntityDescription) -> Bool {
        owner.isKindOf(entity: destination) || destination.isKindOf(entity: owner)
    }

    /// The condition that no object refers to a row of `t` by a relationship.
    private func isUnowned(
        by relationship: NSRelationshipDescription, of owner: NSEntityDescription, in stored: StoreTables.Entity
    ) -> String? {
        guard let owning = tables[owner.name ?? ""] else { return nil }
        if !relationship.isToMany {
            guard let column = owning.columns[relationship.name]?.name else { return nil }
            return "NOT EXISTS (SELECT 1 FROM \(owning.table) o WHERE o.\(column) = t.Z_PK)"
        }
        switch owning.members[relationship.name] {
        case .rows(let column, _)?:
            return "(t.\(column) IS NULL OR NOT EXISTS (SELECT 1 FROM \(owning.table) o WHERE o.Z_PK = t.\(column)))"
        case .pairs(let table, let column, let member, _, _)?:
            return
                "NOT EXISTS (SELECT 1 FROM \(table) p JOIN \(owning.table) o ON o.Z_PK = p.\(column) WHERE p.\(member) = t.Z_PK)"
        case nil: return nil
        }
    }
}
