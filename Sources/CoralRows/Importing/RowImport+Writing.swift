import Coral
import CoreData
import ManagedObjects
import SQLStores

// Writing the records of a batch as rows.
extension RowImport: ImportSteps {
    mutating func assignObjects() throws {
        guard let batch else { return }
        try throwMistakes()
        for key in plan.keys { try index.lookUp(key) }
        batch.prepare()
        try RowMatcher.match(batch, in: index, equality: equality, validates: options.validates)
        for waiting in batch.waiting {
            forward.append(
                ForwardReference(
                    key: batch.keys[waiting.row], entity: batch.entity, link: waiting.link, isToMany: false,
                    digest: waiting.digest, record: batch.firstRecord + waiting.row))
        }
    }

    /// Writes new and changed rows. To-one relationships are columns of the rows.
    mutating func setValues() throws {
        guard let batch else { return }
        for row in 0..<batch.rows.count where !batch.isLeft(row) {
            if batch.keys[row] > batch.firstNewKey {
                try insert(row, of: batch)
            } else {
                try update(row, of: batch)
            }
        }
        try writer.writeWaiting()
        try throwMistakes()
        requireEmptied()
        try noteTaken()
    }

    mutating func setLinks() throws {
        guard let batch else { return }
        try writeLists(of: batch)
    }

    /// Documents in the plain layout have no tombstones, and the options with which rows are imported delete nothing.
    func deleteObjects() {}

    /// Each row was validated before it was written.
    func validate() throws { try writer.flush() }

    private func throwMistakes() throws {
        if !mistakes.isEmpty { throw RowImportMistakes(mistakes: mistakes) }
    }

    // MARK: - Rows

    private mutating func note(_ record: Int, _ property: String) {
        mistakes.append(.init(record: record, property: property))
    }

    private mutating func insert(_ row: Int, of batch: RowImportBatch) throws {
        let (entity, rows, key) = (batch.entity, batch.rows, batch.keys[row])
        let record = batch.firstRecord + row
        guard isValid(row, of: batch, isNew: true) else { return }
        for link in entity.toOne {
            let slot = link.reference.slot
            guard rows.kind(row, slot) == .reference else {
                require(link, of: key, record)
                continue
            }
            guard link.reference.admits(rows.entity(row, slot)) else { return note(record, link.name) }
            _ = try link.reference.setPosition(row, of: rows)
            result.linkCount += 1
        }
        try entity.table.insert(row, of: rows, key: key)
        result.insertCount += 1
        for link in entity.toOne where link.reference.hasInverse {
            let slot = link.reference.slot
            guard rows.kind(row, slot) == .reference else { continue }
            try link.reference.didSet(key, from: nil, to: (rows.integer(row, slot), rows.entity(row, slot)))
        }
    }

    private mutating func update(_ row: Int, of batch: RowImportBatch) throws {
        let (entity, rows, key) = (batch.entity, batch.rows, batch.keys[row])
        var changes = batch.changes[row]
        let hasChangedValues = changes != 0
        var changedLinks: [(reference: RowReference, old: Int64?, new: (key: Int64, entity: Int)?)] = []
        for (number, link) in entity.toOne.enumerated() {
            let slot = link.reference.slot
            guard rows.kind(row, slot) != .absent else { continue }
            // An unresolved reference keeps its current value until forward references are resolved at the end.
            if batch.waiting.contains(where: { $0.row == row && $0.link == number }) { continue }
            let old = link.reference.current(batch.references[row * entity.toOne.count + number], of: key)
            let isSet = rows.kind(row, slot) == .reference
            let new = isSet ? rows.integer(row, slot) : 0
            if isSet, !link.reference.admits(rows.entity(row, slot)) {
                return note(batch.firstRecord + row, link.name)
            }
            if old == new { continue }
            if !isSet { require(link, of: key, batch.firstRecord + row) }
            changes |= 1 << UInt64(slot)
            if let position = try link.reference.setPosition(row, of: rows) { changes |= 1 << UInt64(position) }
            changedLinks.append(
                (link.reference, old == 0 ? nil : old, isSet ? (new, rows.entity(row, slot)) : nil))
        }
        guard changes != 0, isValid(row, of: batch, isNew: false) else { return }
        if batch.isLeft(row) { return try index.release(row, of: batch, key: key) }
        if hasChangedValues { result.updateCount += 1 }
        result.linkCount += changedLinks.count
        try entity.table.update(row, of: rows, key: key, slots: changes)
        for (reference, old, new) in changedLinks { try reference.didSet(key, from: old, to: new) }
    }

    /// Whether the attributes of a row satisfy the model's rules. Records the first attribute that does not. A record whose
    /// validity depends on a stored value that the row does not contain is imported through objects.
    private mutating func isValid(_ row: Int, of batch: RowImportBatch, isNew: Bool) -> Bool {
        if !options.validates { return true }
        switch batch.entity.table.validate(row, of: batch.rows, isNew: isNew) {
        case .valid: return true
        case .invalid(let property):
            note(batch.firstRecord + row, property)
            return false
        case .needsObject(let property):
            let name = batch.entity.name
            let message =
                "A record changes an object of \(name) without stating \(property), "
                + "whose stored value must be validated."
            batch.leave(row, because: ObjectsReason(.contents, message, entity: name, property: property))
            return true
        }
    }

    // MARK: - To-many relationships

    private mutating func writeLists(of batch: RowImportBatch) throws {
        var present: [Int: [Int64: [Int64]]] = [:]
        for link in batch.entity.toMany.indices {
            let keys = batch.lists.filter { $0.link == link }.map { batch.keys[$0.row] }
                .filter { $0 > 0 && $0 <= batch.firstNewKey }
            if keys.isEmpty { continue }
            for (key, member) in try batch.entity.toMany[link].members.members(of: keys) {
                present[link, default: [:]][key, default: []].append(member)
            }
        }
        var wanted: [Int64] = []
        for (number, list) in batch.lists.enumerated() where !batch.isLeft(list.row) {
            let members = batch.members(of: number)
            let link = batch.entity.toMany[list.link]
            let key = batch.keys[list.row]
            wanted.removeAll(keepingCapacity: true)
            for member in members {
                guard let owner = batch.members[member].owner ?? index.identities[batch.members[member].digest],
                    let target = owner.key
                else { break }
                guard link.members.admits(owner.entity) else {
                    note(batch.firstRecord + list.row, link.name)
                    return try throwMistakes()
                }
                wanted.append(target)
            }
            guard wanted.count == members.count else {
                // A member is not found yet, so the whole list is deferred.
                for member in members {
                    forward.append(
                        ForwardReference(
                            key: key, entity: batch.entity, link: list.link, isToMany: true,
                            digest: batch.members[member].digest, record: batch.firstRecord + list.row))
                }
                continue
            }
            try set(link.members, of: key, from: present[list.link]?[key] ?? [], to: &wanted)
        }
    }

    /// Replaces the members of a row. `present` is sorted.
    private mutating func set(
        _ members: RowMembers, of key: Int64, from present: [Int64], to wanted: inout [Int64]
    ) throws {
        wanted.sort()
        let difference = MemberDifference(ofRows: present, to: wanted)
        if difference.isEmpty { return }
        if !difference.removed.isEmpty { try members.remove(difference.removed.map { present[$0] }, from: key) }
        if !difference.added.isEmpty { try members.add(difference.added.map { wanted[$0] }, to: key) }
        result.linkCount += 1
    }

    // MARK: - Forward references

    /// Resolves the forward references.
    mutating func setDeferredLinks() throws {
        var position = 0
        while position < forward.count {
            if position % 4096 == 0 {
                try writer.flush()
                if isCancelled { throw CocoaError(.userCancelled) }
            }
            let first = forward[position]
            var end = position + 1
            while first.isToMany, end < forward.count, forward[end].isToMany, forward[end].key == first.key,
                forward[end].entity === first.entity, forward[end].link == first.link
            {
                end += 1
            }
            try resolve(forward[position..<end])
            position = end
        }
        try throwMistakes()
    }

    // MARK: - Required relationships

    /// Records that a row lacks a required destination, which the inverse or a later record may still set.
    private mutating func require(_ link: RowEntity.ToOne, of key: Int64, _ record: Int) {
        guard options.validates, let requirement = link.requirement else { return }
        requirements.add(requirement, of: key, record: record)
    }

    /// Reports the children that new owners have taken from others.
    private mutating func noteTaken() throws {
        for row in try writer.takeTaken() {
            guard let inverse = row.relationship.inverseRelationship,
                model.entity(row.former.entity)?.relationships[inverse.name]?.isOwned == true
            else { continue }
            result.conflicts.add(
                .taken(ImportSubject(row.child), from: row.former, inverse: row.relationship.name))
        }
    }

    /// Records the rows that have lost a required destination to another row.
    private mutating func requireEmptied() {
        for emptied in writer.takeEmptied() where options.validates {
            let relationship = emptied.relationship
            requirements.add(
                ImportRequirement(relationship, of: relationship.entity), of: emptied.key, record: nil)
        }
    }

    /// Throws the errors of the rows that lack a required relationship. One statement for each relationship that a
    /// row lacked.
    mutating func checkRequirements() throws {
        requireEmptied()
        try noteTaken()
        var errors = CountedEntries<ImportError>(limit: options.entryLimit)
        let violations = try requirements.violations { requirement, keys in
            try writer.objects(lacking: requirement.relationship, of: requirement.entity, among: keys)
                .map { ($0.key, $0.id) }
        }
        for violation in violations {
            if let record = violation.record {
                note(record, violation.requirement.relationship)
            } else {
                errors.add(violation.requirement.error(of: violation.object, record: nil))
            }
        }
        try throwMistakes()
        if let error = errors.combined { throw error }
    }

    private mutating func resolve(_ references: ArraySlice<ForwardReference>) throws {
        guard let first = references.first else { return }
        if first.isToMany {
            let link = first.entity.toMany[first.link]
            var wanted = destinations(of: references, link.name, where: link.members.admits).map(\.key)
            if !mistakes.isEmpty { return }
            let present = try link.members.members(of: [first.key]).map(\.member)
            try set(link.members, of: first.key, from: present, to: &wanted)
        } else {
            let link = first.entity.toOne[first.link]
            let targets = destinations(of: references, link.name, where: link.reference.admits)
            if !mistakes.isEmpty { return }
            if let target = targets.first, try link.reference.set(first.key, to: target) { result.linkCount += 1 }
        }
    }

    /// The objects to which references of a relationship refer. Records as mistakes the references to an object of an entity
    /// that the relationship does not permit and, if the policy for dangling references is `fail`, those to no object.
    private mutating func destinations(
        of references: ArraySlice<ForwardReference>, _ name: String, where admits: (Int) -> Bool
    ) -> [(key: Int64, entity: Int)] {
        var destinations: [(key: Int64, entity: Int)] = []
        for reference in references {
            if let owner = index.identities[reference.digest], let key = owner.key, admits(owner.entity) {
                destinations.append((key, owner.entity))
            } else if index.identities[reference.digest] != nil
                || options.danglingReferences.outcome(isKnown: false) == .error
            {
                note(reference.record, name)
            }
        }
        return destinations
    }
}
