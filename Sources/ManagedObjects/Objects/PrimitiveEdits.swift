/// The relationships that hand-written accessors have set by their primitive values, with the members before.
///
/// An accessor announces a change by `willChangeValue(forKey:)`, sets the primitive value or changes the collection that
/// `primitiveValue(forKey:)` returns, and calls `didChangeValue(forKey:)`, which updates the inverse. Without an
/// announced change the inverse stays as it is.
struct PrimitiveEdits {
    /// A relationship before its first edit since the change was announced.
    struct Edit {
        let object: NSManagedObject
        let end: RelationshipLinks.End
        /// The destinations before.
        let before: ContiguousArray<ObjectKey>
    }

    private var edits: [Edit] = []

    func contains(_ object: NSManagedObject, _ end: RelationshipLinks.End) -> Bool {
        edits.contains { $0.object === object && $0.end == end }
    }

    mutating func append(_ edit: Edit) { edits.append(edit) }

    mutating func remove(_ object: NSManagedObject, _ end: RelationshipLinks.End) -> Edit? {
        guard let index = edits.firstIndex(where: { $0.object === object && $0.end == end }) else { return nil }
        return edits.remove(at: index)
    }

    func hasEdits(of object: NSManagedObject) -> Bool { edits.contains { $0.object === object } }

    mutating func removeAll() { edits = [] }
}

extension NSManagedObject {
    /// Records the destinations of a relationship before its primitive value changes, if a change was announced.
    final func notePrimitiveEdit(of end: RelationshipLinks.End) {
        guard let context, flags.contains(.changedInEvent), !context.primitiveEdits.contains(self, end) else { return }
        context.primitiveEdits.append(PrimitiveEdits.Edit(object: self, end: end, before: destinations(at: end)))
        state.mark(.setPrimitively)
    }

    /// Updates the inverse of a relationship whose primitive value has changed.
    final func updateInverse(ofPrimitivelySet key: String) {
        guard let context else { return }
        state.unmark(.announcedUnread)
        let end: RelationshipLinks.End =
            switch field(of: key) {
            case .slot(let slot): .slot(slot)
            case .toMany(let index): .toMany(index)
            default: .none
            }
        guard let edit = context.primitiveEdits.remove(self, end) else { return }
        if !context.primitiveEdits.hasEdits(of: self) { state.unmark(.setPrimitively) }
        let link: RelationshipLinks.Link
        switch end {
        case .slot(let slot): link = layout.links.slots[slot]
        case .toMany(let index): link = layout.links.toMany[index]
        case .none: return
        }
        let now = destinations(at: end)
        let (old, new) = (Set(edit.before), Set(now))
        for key in edit.before where !new.contains(key) { context.object(for: key).leaveInverse(of: self, by: link) }
        for key in now where !old.contains(key) { context.object(for: key).joinInverse(of: self, by: link) }
    }

    private func destinations(at end: RelationshipLinks.End) -> ContiguousArray<ObjectKey> {
        switch end {
        case .none: []
        case .slot(let slot): slotValue(slot).referenceKey.map { [$0] } ?? []
        case .toMany(let index): memberKeys(at: index)
        }
    }
}
