import Foundation
import StoreSupport

/// Copies all rows of one store to another, empty one, with the same primary keys.
///
/// Rows are read and written one page at a time. Relationships that are stored as pairs are copied after all rows. Only
/// the keys and one page are in memory.
struct StoreCopy {
    private let source: any RowStore
    /// The pinned state of the source.
    private let state: any StoreGeneration
    private let target: any RowStore
    /// The number of rows that are read and written together.
    private static let batch = 1000

    /// - Throws: An error if the source's state cannot be pinned.
    init(from source: any RowStore, to target: any RowStore) throws {
        self.source = source
        state = try source.pinGeneration()
        self.target = target
    }

    /// Copies the rows of the entities, and the metadata of the store.
    func copy(
        _ entities: [NSEntityDescription], _ origin: NSPersistentStore, _ copy: NSPersistentStore
    ) throws {
        target.number = source.number
        for root in entities where root.superentity == nil || !entities.contains(where: { $0 === root.superentity }) {
            try copyRows(of: root)
        }
        for entity in entities {
            for toMany in entity.layout.toMany where toMany.relationship.entity === entity && toMany.isPersistent {
                if case .pairs = toMany.storage { try copyPairs(of: toMany) }
            }
        }
        // The rows of a store that identifies objects itself have no slots for order and owner.
        if source is any ObjectStore {
            for entity in entities {
                for toMany in entity.layout.toMany where toMany.relationship.entity === entity && toMany.isPersistent {
                    if case .memberSlot(let slot, let position) = toMany.storage {
                        try copyHiddenSlots(of: toMany, owner: slot, position: position)
                    }
                }
            }
        }
        var plan = SavePlan()
        plan.metadata = Self.metadata(of: origin, for: copy)
        copy.identifier = origin.identifier
        _ = try target.write(plan)
    }

    /// The metadata of a copy.
    static func metadata(of origin: NSPersistentStore, for copy: NSPersistentStore) -> [String: Any] {
        // The new store keeps the entries about its own file; the UUID and the program's entries are copied.
        var metadata: [String: Any] = origin.metadata
        metadata.merge(copy.metadata) { $1 }
        metadata[NSStoreUUIDKey] = origin.identifier
        return metadata
    }

    private func copyRows(of root: NSEntityDescription) throws {
        let keys = try source.keys(matching: RowQuery(entity: root), generation: state).map(\.number).sorted()
        guard let last = keys.last, last > 0 else { return }
        _ = try target.reserveKeys(entity: root, count: Int(last))
        for start in stride(from: 0, to: keys.count, by: Self.batch) {
            let batch = Array(keys[start..<min(start + Self.batch, keys.count)])
            var plan = SavePlan()
            for page in try source.rows(withKeys: batch, entity: root, generation: state) {
                plan.inserts.append(
                    SavePlan.Group(
                        entity: page.layout.entity,
                        changes: ContiguousArray(
                            (0..<page.count).map {
                                SavePlan.Insert(
                                    key: page.primaryKey(ofRow: $0), values: page.valuesAndMissingFiles(row: $0))
                            })))
            }
            _ = try target.write(plan)
        }
    }

    /// Copies the positions of a relationship's members, and the owner if no other relationship stores it.
    private func copyHiddenSlots(of toMany: EntityLayout.ToMany, owner slot: Int, position: Int?) throws {
        let isOwnerHidden = toMany.destination.layout.slots[slot].isHidden
        guard isOwnerHidden || position != nil else { return }
        let owners = try source.keys(matching: RowQuery(entity: toMany.relationship.entity), generation: nil)
        let model = toMany.relationship.entity.managedObjectModel.orderedEntities
        for (entity, owners) in Dictionary(grouping: owners, by: \.entity).sorted(by: { $0.key < $1.key }) {
            let ownerEntity = model[Int(entity)]
            let found = try source.members(
                of: toMany.relationship, owners: owners.map(\.number), ownerEntity: ownerEntity, includesRows: false,
                generation: nil)
            var updates: [UInt16: ContiguousArray<SavePlan.Update>] = [:]
            for (index, owner) in owners.enumerated() {
                let members = found.members[Int(found.starts[index])..<Int(found.starts[index + 1])]
                for (index, member) in members.enumerated() {
                    var values = ContiguousArray<Value>(
                        repeating: .null, count: model[Int(member.entity)].layout.slots.count)
                    var slots: [Int] = []
                    if isOwnerHidden {
                        values[slot] = .reference(owner)
                        slots.append(slot)
                    }
                    if let position {
                        values[position] = .integer(OrderedPositions.position(ofMember: index))
                        slots.append(position)
                    }
                    updates[member.entity, default: []].append(
                        SavePlan.Update(
                            key: member.number, version: 1, values: UpdatedValues(values), slots: slots,
                            checksVersion: false))
                }
            }
            var plan = SavePlan()
            plan.updates = updates.sorted { $0.key < $1.key }.map {
                SavePlan.Group(entity: model[Int($0.key)], changes: $0.value)
            }
            if !plan.isEmpty { _ = try target.write(plan) }
        }
    }

    /// Copies the pairs of a relationship once for both sides, from the side that comes first.
    private func copyPairs(of toMany: EntityLayout.ToMany) throws {
        let relationship = toMany.relationship
        guard !PairSide(relationship).isBackward else { return }
        let owners = try source.keys(matching: RowQuery(entity: relationship.entity), generation: state).map(\.number)
        for start in stride(from: 0, to: owners.count, by: Self.batch) {
            let batch = Array(owners[start..<min(start + Self.batch, owners.count)])
            let forward = try source.members(
                of: relationship, owners: batch, ownerEntity: relationship.entity, includesRows: false,
                generation: state)
            var pairs: ContiguousArray<SavePlan.Pair> = []
            for (index, owner) in batch.enumerated() {
                for position in Int(forward.starts[index])..<Int(forward.starts[index + 1]) {
                    pairs.append(
                        SavePlan.Pair(
                            kind: .insert, source: owner, destination: forward.members[position].number,
                            position: forward.positions.isEmpty ? nil : forward.positions[position]))
                }
            }
            try writePairs(pairs, of: relationship)
        }
        if let inverse = relationship.inverseRelationship, inverse.isOrdered { try copyOrder(of: inverse) }
    }

    /// Sets the order of the inverse's pairs.
    private func copyOrder(of inverse: NSRelationshipDescription) throws {
        let owners = try source.keys(matching: RowQuery(entity: inverse.entity), generation: state).map(\.number)
        for start in stride(from: 0, to: owners.count, by: Self.batch) {
            let batch = Array(owners[start..<min(start + Self.batch, owners.count)])
            let members = try source.members(
                of: inverse, owners: batch, ownerEntity: inverse.entity, includesRows: false, generation: state)
            guard !members.positions.isEmpty else { continue }
            var moves: ContiguousArray<SavePlan.Pair> = []
            for (index, owner) in batch.enumerated() {
                for position in Int(members.starts[index])..<Int(members.starts[index + 1]) {
                    moves.append(
                        SavePlan.Pair(
                            kind: .move, source: owner, destination: members.members[position].number,
                            position: members.positions[position]))
                }
            }
            try writePairs(moves, of: inverse)
        }
    }

    private func writePairs(_ pairs: ContiguousArray<SavePlan.Pair>, of relationship: NSRelationshipDescription) throws
    {
        guard !pairs.isEmpty else { return }
        var plan = SavePlan()
        plan.pairs = [SavePlan.PairGroup(relationship: relationship, pairs: pairs)]
        _ = try target.write(plan)
    }
}
