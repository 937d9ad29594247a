import Foundation

// Rows that are read again, for objects whose values may be outdated.

extension NSManagedObjectContext {
    /// Turns an object without changes into a fault, so that its row is read again.
    final func readAgainUnlessChanged(_ object: NSManagedObject) {
        guard !object.hasChanges, !object.key.isTemporary, object.context === self else { return }
        removeRowsAhead()
        turnIntoFault(object)
    }

    /// Discards rows that were read ahead.
    final func removeRowsAhead() {
        rowsAhead.removeAll()
        epoch += 1
    }

    /// Reads rows again, from which objects then get their values: one statement for each entity hierarchy.
    ///
    /// - Parameter isReadAhead: Whether a loop is likely to access the rows one after another.
    /// - Returns: The keys of the existing rows.
    @discardableResult
    final func readAgain(_ keys: some Collection<ObjectKey>, isReadAhead: Bool = false) throws -> Set<ObjectKey> {
        if let parentContext {
            let wanted = Array(keys)
            let there = try query(parentContext) { parent in try wanted.filter { try parent.hasObject($0) } }
            // Translated to permanent keys that the parent may have assigned.
            return Set(there.map { $0.isTemporary ? aliases[$0.number] ?? $0 : $0 })
        }
        var there: Set<ObjectKey> = []
        let stored = keys.filter { !$0.isTemporary }
        for (store, keys) in Dictionary(grouping: stored, by: \.store).sorted(by: { $0.key < $1.key }) {
            guard let store = rowStore(number: store) else { continue }
            let hierarchies = Dictionary(grouping: keys, by: { layout(of: $0).rootIndex })
            for (_, keys) in hierarchies.sorted(by: { $0.key < $1.key }) {
                let pages = try store.rows(
                    withKeys: keys.map(\.number), entity: entity(of: keys[0]).rootEntity,
                    generation: pinnedGenerations?.generation(of: store))
                for page in pages {
                    page.isReadAhead = isReadAhead
                    rowsAhead.add(page)
                    for row in 0..<page.count { there.insert(page.key(ofRow: row)) }
                }
            }
        }
        return there
    }

    /// Whether an object with a key exists, saved or unsaved.
    private func hasObject(_ key: ObjectKey) throws -> Bool {
        let object = object(for: key)
        guard object.state.isDisjoint(with: .removed) else { return false }
        return try object.state.contains(.inserted) || realise(object)
    }
}
