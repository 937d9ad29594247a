import ManagedObjects
import SQLStatements

// The sources of the columns of a migrated table.

extension MigratedSchema {
    /// The source of each slot's column.
    func sources(of pair: Pair) throws -> [ColumnSource?] {
        try pair.new.entity.slots.indices.map { slot in
            guard let column = pair.new.columns[slot] else { return nil }
            let description = pair.new.entity.slots[slot]
            return switch description.kind {
            case .toOne: link(description, .toOne, in: pair)
            case .position: link(description, .position, in: pair)
            default: try attribute(description, column, in: pair)
            }
        }
    }

    /// The source of the companion of each slot's column: the old companion with the new numbers.
    func companions(of pair: Pair, _ sources: [ColumnSource?]) -> [ColumnSource?] {
        sources.enumerated().map { slot, source in
            guard let source, pair.new.columns[slot]?.companion != nil else { return nil }
            let formerSlot = source.column.flatMap { name in pair.old.columns.firstIndex { $0?.name == name } }
            guard let formerSlot, let former = pair.old.columns[formerSlot]?.companion,
                let destination = pair.old.entity.slots[formerSlot].destination
            else { return .null }
            let numbers = Set(old.entity(at: destination)?.hierarchyNumbers ?? [])
            let renumbered = pairs.filter { numbers.contains($0.old.number) }
            guard renumbered.contains(where: { $0.old.number != $0.new.number }) else { return .column(former) }
            let numbered = renumbered.map { ($0.old.number, $0.new.number) }
            return .column(former, [.renumbering(Dictionary(numbered) { first, _ in first })])
        }
    }

    // MARK: - Attributes

    private func attribute(
        _ slot: SchemaSlot, _ column: SQLColumn, in pair: Pair
    ) throws -> ColumnSource {
        guard let name = slot.name, let attribute = slot.attribute else { return .null }
        // The elements of a composite attribute keep their names if it is renamed.
        let top = String(name.prefix { $0 != "." })
        let former = pair.old.entity
        let formerSlot = pair.attributes[top].flatMap { former.slot(named: $0 + name.dropFirst(top.count)) }
        let source = formerSlot.flatMap { pair.old.columns[$0] }
        let before = formerSlot.map { former.slots[$0] }
        if attribute.isDerived {
            return source.map { isDerivedAlike(before?.attribute, attribute) ? .column($0.name) : .null } ?? .null
        }
        let initial = try slot.initial.literal(
            of: slot, hasStorageByte: column.hasStorageByte, dialect: dialect)
        let isComputed = before?.attribute?.isDerived == true && before?.kind != slot.kind
        guard let source, !isComputed else { return .expression(initial) }
        var result = ColumnSource.column(source.name)
        if column.hasStorageByte, !source.hasStorageByte { result = result.converted(.addingStorageByte) }
        if source.hasStorageByte, !column.hasStorageByte { result = result.converted(.removingStorageByte) }
        let isRequired = !slot.isOptional && initial != "NULL"
        return isRequired ? result.converted(.replacingNull(initial)) : result
    }

    private func isDerivedAlike(_ before: SchemaAttribute?, _ after: SchemaAttribute) -> Bool {
        after.derivationText != nil && before?.derivationText == after.derivationText
    }

    /// Whether the values from which an attribute is derived are those of the same names in the old schema, unchanged. If they are
    /// not, a derivation of the same text has another result.
    func keepsSources(of derivation: Derivation, in pair: Pair) -> Bool {
        switch derivation {
        case .now: true
        case .copy(let name), .canonical(let name), .uppercase(let name), .lowercase(let name):
            keeps(attribute: name, in: pair)
        case .count(let name): keeps(relationship: name, in: pair) != nil
        case .sum(let name, let attribute), .related(let name, let attribute), .relatedText(_, let name, let attribute):
            keeps(relationship: name, in: pair)?.allSatisfy { keeps(attribute: attribute, in: $0) } ?? false
        }
    }

    private func keeps(attribute name: String, in pair: Pair) -> Bool {
        // An attribute that is derived itself may be computed too.
        guard let slot = pair.new.entity.slot(named: name), pair.attributes[name] == name,
            pair.new.entity.slots[slot].attribute?.isDerived != true
        else { return false }
        return pair.sources[slot]?.isUnchanged ?? false
    }

    /// The pairs of the entities of a relationship's objects; nil if its links are not those of the same name.
    private func keeps(relationship name: String, in pair: Pair) -> [Pair]? {
        guard let relationship = new.relationship(named: name, of: pair.new), pair.relationships[name] == name,
            !isMoved(relationship), let destination = relationship.destination
        else { return nil }
        return pairs(below: new.model.entities[destination])
    }

    // MARK: - References

    /// The old column of a reference or of its position; null if its links are copied later.
    private func link(_ slot: SchemaSlot, _ kind: EntityLayout.Slot.Kind, in pair: Pair) -> ColumnSource {
        guard let relationship = slot.relationship.map({ new.model.relationships[$0] }), !isMoved(relationship) else {
            return .null
        }
        // The owner of a to-many relationship without an inverse is in a column of its members.
        let before =
            relationship.isToMany ? origins(of: relationship).first : oldRelationship(relationship, in: pair)
        let formerSlot = pair.old.entity.slots.firstIndex { $0.kind == kind && $0.relationship == before?.number }
        return formerSlot.flatMap { pair.old.columns[$0] }.map { .column($0.name) } ?? .null
    }
}
