/// What a save checks of each object of an entity: the properties that can be wrong at all, found once. A class, as every
/// object that is saved hands it on.
final class ValidationRules {
    struct SlotRule {
        let slot: Int
        let kind: EntityLayout.Slot.Kind
        /// Whether there must be a value.
        let isRequired: Bool
        /// Whether the attribute has predicates of its own.
        let hasPredicates: Bool
    }

    let slots: ContiguousArray<SlotRule>
    /// To-many relationships whose members are counted.
    let toMany: ContiguousArray<Int>

    init(layout: EntityLayout) {
        slots = ContiguousArray(
            layout.slots.indices.compactMap { index -> SlotRule? in
                let slot = layout.slots[index]
                guard slot.name != nil, slot.isPersistent else { return nil }
                let isRequired = !slot.property.isOptional && slot.property as? NSDerivedAttributeDescription == nil
                let hasPredicates = slot.kind != .toOne && !slot.property.validationPredicates.isEmpty
                guard isRequired || hasPredicates || slot.kind.isLimited else { return nil }
                return SlotRule(slot: index, kind: slot.kind, isRequired: isRequired, hasPredicates: hasPredicates)
            })
        toMany = ContiguousArray(
            layout.toMany.indices.filter {
                let relationship = layout.toMany[$0].relationship
                return relationship.minCount > 0 || relationship.maxCount > 0
            })
    }
}

extension EntityLayout.Slot.Kind {
    /// Whether there are numbers that the kind cannot hold.
    fileprivate var isLimited: Bool {
        switch self {
        case .integer16, .integer32, .double, .float, .date: true
        default: false
        }
    }
}

extension ValidationRules.SlotRule {
    /// Whether a value is right without a closer look.
    @inline(__always)
    func admits(_ value: Value) -> Bool {
        switch value {
        case .null: !isRequired
        case .integer(let number) where kind == .integer16: Int16(exactly: number) != nil && !hasPredicates
        case .integer(let number) where kind == .integer32: Int32(exactly: number) != nil && !hasPredicates
        case .real(let number): !number.isNaN && !hasPredicates
        default: !hasPredicates
        }
    }
}
