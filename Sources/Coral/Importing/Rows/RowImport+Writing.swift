#if !canImport(Darwin) && !CORAL_PUBLIC_API

    import CoreData
    @_spi(Stores) import ManagedObjects

    extension RowImport {
        /// Matches the records of a batch with rows, and writes new and changed rows.
        mutating func write(_ batch: RowImportBatch) throws {
            if !mistakes.isEmpty { throw RowImportMistakes(mistakes: mistakes) }
            for key in plan.keys { try lookUp(key) }
            batch.prepare()
            resolve(batch)
            try identify(batch)
            resolve(batch)
            for waiting in batch.waiting {
                forward.append(
                    ForwardReference(
                        key: batch.keys[waiting.row], entity: batch.entity, link: waiting.link, isToMany: false,
                        digest: waiting.digest, record: batch.firstRecord + waiting.row))
            }
            for row in 0..<batch.rows.count {
                if batch.keys[row] > batch.firstNewKey {
                    try insert(row, of: batch)
                } else {
                    try update(row, of: batch)
                }
            }
            if !mistakes.isEmpty { throw RowImportMistakes(mistakes: mistakes) }
            try writeLists(of: batch)
            try writer.flush()
        }

        /// Sets the references whose destinations are known by now.
        private func resolve(_ batch: RowImportBatch) {
            batch.waiting.removeAll { waiting in
                guard let owner = identities[waiting.digest], let key = owner.key,
                    let slot = batch.entity.toOne[waiting.link].link.slot
                else { return false }
                batch.rows.setReference(to: key, entity: owner.entity, waiting.row, slot)
                return true
            }
        }

        // MARK: - Matching

        /// Assigns every record its row: one found by its key, or a new one.
        private mutating func identify(_ batch: RowImportBatch) throws {
            batch.firstNewKey = batch.entity.table.lastKey
            guard let key = batch.entity.key else {
                for row in 0..<batch.rows.count { batch.keys[row] = batch.entity.table.makeKey() }
                return
            }
            var open = Array(0..<batch.rows.count)
            // In rounds, because a key may refer to a record of the same batch.
            while !open.isEmpty {
                let blocked = Set(
                    batch.waiting.compactMap { waiting in
                        let slot = batch.entity.toOne[waiting.link].link.slot
                        return slot.map(key.slots.contains) == true ? waiting.row : nil
                    })
                let ready = blocked.isEmpty ? open : open.filter { !blocked.contains($0) }
                // A key that refers to a later record needs the whole document; the object importer handles it.
                if ready.isEmpty {
                    throw ObjectsReason(
                        .document, "A key of \(batch.entity.entity.name) refers to a record that follows.",
                        entity: batch.entity.entity.name)
                }
                try identify(ready, of: batch, by: key)
                open.removeAll { !blocked.contains($0) }
                if !open.isEmpty { resolve(batch) }
            }
        }

        private mutating func identify(_ rows: [Int], of batch: RowImportBatch, by key: RowKey) throws {
            if !batch.entity.table.wasEmpty { try loadKeysWithoutIndex(key) }
            var digests: [KeyDigest?] = []
            digests.reserveCapacity(rows.count)
            /// The batch's rows by the primary keys of matched rows, if all keys of the table are loaded.
            var known: [Int64: Int] = [:]
            for row in rows {
                let digest = RowImport.digest(of: row, in: batch.rows, key)
                digests.append(digest)
                guard let digest else { continue }
                // Several records of one object are merged by the object importer.
                if let owner = identities[digest] {
                    if key.ambiguous.contains(digest) { throw key.ambiguity }
                    if owner.isRecord || owner.isWaiting {
                        throw ObjectsReason(
                            .document, "Several records of \(batch.entity.entity.name) have the same key.",
                            entity: batch.entity.entity.name)
                    }
                    if key.isLoaded, let found = owner.key { known[found] = row }
                }
                identities.set(digest, IdentityMap.Owner(waiting: row))
            }
            if key.isLoaded {
                try find(known, of: batch, by: key)
            } else if !batch.entity.table.wasEmpty {
                try find(rows, of: batch, by: key)
            }
            for (row, digest) in zip(rows, digests) {
                if batch.keys[row] == 0 { batch.keys[row] = batch.entity.table.makeKey() }
                guard let digest else { continue }
                try identities.set(
                    digest,
                    IdentityMap.Owner(key: batch.keys[row], entity: batch.entity.table.index, isRecord: true))
            }
        }

        /// Looks up records by their keys, and compares them with the rows found. One statement.
        private mutating func find(_ rows: [Int], of batch: RowImportBatch, by key: RowKey) throws {
            let found = try batch.entity.table.find(batch.rows, rows: rows, by: key.slots, among: key.table)
            defer { found.finish() }
            while try found.next() {
                guard let digest = RowImport.digest(of: found, key), let owner = identities[digest], owner.isWaiting
                else { continue }
                try take(found, for: owner.place, of: batch)
            }
        }

        /// Compares records with rows whose primary keys are known. One statement.
        private mutating func find(_ known: [Int64: Int], of batch: RowImportBatch, by key: RowKey) throws {
            if known.isEmpty { return }
            let found = try batch.entity.table.find(known.keys.sorted(), among: key.table)
            defer { found.finish() }
            while try found.next() {
                if let row = known[found.key] { try take(found, for: row, of: batch) }
            }
        }

        /// Matches a stored row with a record, and computes the slots that differ.
        private func take(_ found: FoundRows, for row: Int, of batch: RowImportBatch) throws {
            let entity = batch.entity
            // Several objects with one key, and an object of another entity, are handled by the object importer.
            guard batch.keys[row] == 0 else { throw entity.key?.ambiguity ?? entity.ofOtherEntity }
            guard found.entity == entity.table.index else { throw entity.ofOtherEntity }
            batch.keys[row] = found.key
            batch.changes[row] = differences(found, row, of: batch)
            for (place, link) in entity.toOne.enumerated() {
                guard let slot = link.link.slot, !found.isNull(slot) else { continue }
                batch.references[row * entity.toOne.count + place] = found.integer(slot)
            }
        }

        /// The slots of attributes in which a record differs from a stored row, as bits.
        private func differences(_ found: FoundRows, _ row: Int, of batch: RowImportBatch) -> UInt64 {
            var differences: UInt64 = 0
            for attribute in batch.entity.comparedAttributes {
                let slot = attribute.slot
                let isSame =
                    switch batch.rows.kind(row, slot) {
                    case .absent: true
                    case .null: found.isNull(slot)
                    default:
                        !found.isNull(slot) && attribute.codec.isSame(found, batch.rows, row, slot, by: equality)
                    }
                if !isSame { differences |= 1 << UInt64(slot) }
            }
            return differences
        }

        // MARK: - Rows

        private mutating func note(_ record: Int, _ property: String) {
            mistakes.append(.init(record: record, property: property))
        }

        private mutating func insert(_ row: Int, of batch: RowImportBatch) throws {
            let (entity, rows, key) = (batch.entity, batch.rows, batch.keys[row])
            let record = batch.firstRecord + row
            if options.validates, let slot = try entity.table.invalidSlot(row, of: rows, isNew: true) {
                return note(record, entity.table.name(ofSlot: slot))
            }
            for place in entity.required {
                guard options.validates, let slot = entity.toOne[place].link.slot, rows.kind(row, slot) != .reference
                else { continue }
                // The inverse or a later record may still set it.
                incomplete.append(IncompleteRow(key: key, entity: entity, link: place, record: record))
            }
            for link in entity.toOne {
                guard let slot = link.link.slot, rows.kind(row, slot) == .reference else { continue }
                guard link.link.destinations.contains(rows.entity(row, slot)) else { return note(record, link.name) }
                _ = try link.link.setPosition(row, of: rows)
                result.linkCount += 1
            }
            try entity.table.insert(row, of: rows, key: key)
            result.insertCount += 1
            for link in entity.toOne where link.link.hasOtherEnd {
                guard let slot = link.link.slot, rows.kind(row, slot) == .reference else { continue }
                try link.link.didSet(key, from: nil, to: (rows.integer(row, slot), rows.entity(row, slot)))
            }
        }

        private mutating func update(_ row: Int, of batch: RowImportBatch) throws {
            let (entity, rows, key) = (batch.entity, batch.rows, batch.keys[row])
            var changes = batch.changes[row]
            if changes != 0 { result.updateCount += 1 }
            var changedLinks: [(link: RowLink, old: Int64?, new: (key: Int64, entity: Int)?)] = []
            for (place, link) in entity.toOne.enumerated() {
                guard let slot = link.link.slot, rows.kind(row, slot) != .absent else { continue }
                // Forward references are resolved at the end.
                if batch.waiting.contains(where: { $0.row == row && $0.link == place }) { continue }
                let old = link.link.current(batch.references[row * entity.toOne.count + place], of: key)
                let isSet = rows.kind(row, slot) == .reference
                let new = isSet ? rows.integer(row, slot) : 0
                if isSet, !link.link.destinations.contains(rows.entity(row, slot)) {
                    return note(batch.firstRecord + row, link.name)
                }
                if old == new { continue }
                if !isSet, entity.required.contains(place) { return note(batch.firstRecord + row, link.name) }
                changes |= 1 << UInt64(slot)
                if let position = try link.link.setPosition(row, of: rows) { changes |= 1 << UInt64(position) }
                changedLinks.append((link.link, old == 0 ? nil : old, isSet ? (new, rows.entity(row, slot)) : nil))
                result.linkCount += 1
            }
            guard changes != 0 else { return }
            if options.validates, let slot = try entity.table.invalidSlot(row, of: rows, isNew: false) {
                return note(batch.firstRecord + row, entity.table.name(ofSlot: slot))
            }
            try entity.table.update(row, of: rows, key: key, slots: changes)
            for (link, old, new) in changedLinks { try link.didSet(key, from: old, to: new) }
        }

        // MARK: - To-many relationships

        private mutating func writeLists(of batch: RowImportBatch) throws {
            var present: [Int: [Int64: [Int64]]] = [:]
            for link in batch.entity.toMany.indices {
                let keys = batch.lists.filter { $0.link == link }.map { batch.keys[$0.row] }
                    .filter { $0 <= batch.firstNewKey }
                if keys.isEmpty { continue }
                for (key, member) in try batch.entity.toMany[link].link.members(of: keys) {
                    present[link, default: [:]][key, default: []].append(member)
                }
            }
            var wanted: [Int64] = []
            for (place, list) in batch.lists.enumerated() {
                let members = batch.members(of: place)
                let link = batch.entity.toMany[list.link]
                let key = batch.keys[list.row]
                wanted.removeAll(keepingCapacity: true)
                for member in members {
                    guard let owner = batch.members[member].owner ?? identities[batch.members[member].digest],
                        let target = owner.key
                    else { break }
                    guard link.link.destinations.contains(owner.entity) else {
                        note(batch.firstRecord + list.row, link.name)
                        throw RowImportMistakes(mistakes: mistakes)
                    }
                    wanted.append(target)
                }
                guard wanted.count == members.count else {
                    // A member is not known yet: the whole list is deferred.
                    for member in members {
                        forward.append(
                            ForwardReference(
                                key: key, entity: batch.entity, link: list.link, isToMany: true,
                                digest: batch.members[member].digest, record: batch.firstRecord + list.row))
                    }
                    continue
                }
                try set(link.link, of: key, from: present[list.link]?[key] ?? [], to: &wanted)
            }
        }

        /// Replaces the members of a row. `present` is sorted.
        private mutating func set(_ link: RowLink, of key: Int64, from present: [Int64], to wanted: inout [Int64])
            throws
        {
            wanted.sort()
            let difference = MemberDifference(from: present, to: wanted, policy: .set, isOrdered: false)
            if difference.isEmpty { return }
            if !difference.removed.isEmpty { try link.remove(difference.removed.map { present[$0] }, from: key) }
            if !difference.added.isEmpty { try link.add(difference.added.map { wanted[$0] }, to: key) }
            result.linkCount += 1
        }

        // MARK: - Forward references

        /// Resolves the forward references, and checks that required relationships are set.
        mutating func resolveForwardReferences() throws {
            var index = 0
            while index < forward.count {
                if index % 4096 == 0 {
                    try writer.flush()
                    if isCancelled { throw CocoaError(.userCancelled) }
                }
                let first = forward[index]
                var end = index + 1
                while first.isToMany, end < forward.count, forward[end].isToMany, forward[end].key == first.key,
                    forward[end].entity === first.entity, forward[end].link == first.link
                {
                    end += 1
                }
                try resolve(forward[index..<end])
                index = end
            }
            for row in incomplete where try row.entity.toOne[row.link].link.isEmpty(row.key) {
                note(row.record, row.entity.toOne[row.link].name)
            }
            if !mistakes.isEmpty { throw RowImportMistakes(mistakes: mistakes) }
        }

        private mutating func resolve(_ references: ArraySlice<ForwardReference>) throws {
            guard let first = references.first else { return }
            let entity = first.entity
            let link = first.isToMany ? entity.toMany[first.link] : entity.toOne[first.link]
            var targets: [(key: Int64, entity: Int)] = []
            for reference in references {
                if let owner = identities[reference.digest], let key = owner.key,
                    link.link.destinations.contains(owner.entity)
                {
                    targets.append((key, owner.entity))
                } else if identities[reference.digest] != nil
                    || options.danglingReferences.outcome(isKnown: false) == .error
                {
                    note(reference.record, link.name)
                }
            }
            if !mistakes.isEmpty { return }
            if first.isToMany {
                var wanted = targets.map(\.key)
                try set(
                    link.link, of: first.key, from: try link.link.members(of: [first.key]).map(\.member), to: &wanted)
            } else if let target = targets.first, try link.link.set(first.key, to: target) {
                result.linkCount += 1
            }
        }
    }

#endif
