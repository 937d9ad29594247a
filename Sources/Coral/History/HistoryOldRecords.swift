import CoreData
import GraphDocuments

/// The records of updated and deleted objects before a range of transactions, computed from their present records and the
/// old values of the transactions.
struct HistoryOldRecords {
    /// Canonical records, by the IDs of the objects.
    private(set) var records: [NSManagedObjectID: GraphRecord] = [:]

    private let fold: HistoryFold
    private let names: HistoryNames
    /// The names of objects that were inserted since.
    private var inserted: Set<RecordID> = []

    init(
        _ fold: HistoryFold, _ session: ExportSession, _ names: HistoryNames, present: [NSManagedObjectID: GraphRecord]
    ) throws {
        self.fold = fold
        self.names = names
        for (id, fate) in fold.fates {
            switch fate {
            case .inserted: inserted.insert(names.name(of: id))
            case .updated: records[id] = try present[id].map { try updated($0, id) }
            case .deleted:
                if session.plan.includes(id.entity) {
                    records[id] = try deleted(id, by: session.plan.plan(for: id.entity))
                }
            }
        }
        for id in records.keys { try setMembers(of: id) }
        moveMembers(present, in: session.plan)
        records = records.mapValues(\.canonical)
    }

    // MARK: - Attributes and to-one relationships

    private func updated(_ record: GraphRecord, _ id: NSManagedObjectID) throws -> GraphRecord {
        var old = record
        for index in old.attributes.indices {
            guard let attribute = id.entity.attributesByName[old.attributes[index].name],
                let value = try fold.reversal.value(of: attribute, id)
            else { continue }
            old.attributes[index].value = value
        }
        for index in old.relationships.indices {
            guard let target = fold.reversal.target(of: old.relationships[index].name, id) else { continue }
            old.relationships[index].target = .toOne(target.map(names.name))
        }
        return old
    }

    /// The record of a deleted object, without members of to-many relationships.
    private func deleted(_ id: NSManagedObjectID, by plan: EntityPlan) throws -> GraphRecord {
        var record = GraphRecord(id: names.name(of: id), entity: id.entity.name ?? "")
        for planned in plan.attributes {
            guard let attribute = id.entity.attributesByName[planned.name], !attribute.isTransient else { continue }
            let value = try fold.reversal.value(of: attribute, id) ?? .null
            record.attributes.append(GraphAttribute(name: planned.name, value: value))
        }
        for relationship in plan.relationships {
            let target = (fold.reversal.target(of: relationship.name, id) ?? nil).map(names.name)
            record.relationships.append(
                GraphRelationship(
                    name: relationship.name, target: relationship.isToMany ? .toMany([]) : .toOne(target),
                    isOrdered: relationship.isOrdered))
        }
        return record
    }

    // MARK: - Members

    /// Removes inserted objects from an object's to-many relationships, and restores many-to-many relationships.
    private mutating func setMembers(of id: NSManagedObjectID) throws {
        guard var record = records[id] else { return }
        for index in record.relationships.indices {
            guard case .toMany(var ids) = record.relationships[index].target else { continue }
            let changed = fold.reversal.members(of: record.relationships[index].name, id)
            let named = Dictionary(changed.map { (names.name(of: $0), $1) }, uniquingKeysWith: { $0 || $1 })
            ids.removeAll { inserted.contains($0) || named[$0] == false }
            ids += named.filter { $0.value && !ids.contains($0.key) }.keys
            record.relationships[index].target = .toMany(ids)
        }
        records[id] = record
    }

    /// Restores the former owners of members of one-to-many relationships.
    private mutating func moveMembers(_ present: [NSManagedObjectID: GraphRecord], in plan: ShapePlan) {
        let owners = Dictionary(records.map { ($0.value.id, $0.key) }, uniquingKeysWith: { first, _ in first })
        for (id, old) in records {
            for relationship in old.relationships {
                guard case .toOne(let before) = relationship.target,
                    let inverse = id.entity.relationshipsByName[relationship.name]?.inverseRelationship,
                    inverse.isToMany
                else { continue }
                var after: RecordID?
                if case .toOne(let target)? = present[id]?.target(of: relationship.name) { after = target }
                let (oldOwner, newOwner) = (before.flatMap { owners[$0] }, after.flatMap { owners[$0] })
                guard before != after else { continue }
                if let newOwner, present[newOwner] != nil {
                    change(newOwner, inverse.name) { members in members.removeAll { $0 == old.id } }
                }
                if let oldOwner { change(oldOwner, inverse.name) { $0.append(old.id) } }
            }
        }
    }

    private mutating func change(
        _ id: NSManagedObjectID, _ relationship: String, _ body: (inout [RecordID]) -> Void
    ) {
        guard let index = records[id]?.relationships.firstIndex(where: { $0.name == relationship }),
            case .toMany(var ids)? = records[id]?.relationships[index].target
        else { return }
        body(&ids)
        records[id]?.relationships[index].target = .toMany(ids)
    }
}
