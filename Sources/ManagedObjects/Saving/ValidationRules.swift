import FoundationAdditions

/// The rules that a save checks for each object of an entity: only properties that can be invalid, computed once. A
/// class, because every saved object passes it on.
package final class ValidationRules {
    package struct SlotRule {
        package let slot: Int
        package let kind: EntityLayout.Slot.Kind
        /// Whether a value is required.
        let isRequired: Bool
        /// Whether the attribute has validation predicates.
        package let hasPredicates: Bool
    }

    package let slots: ContiguousArray<SlotRule>
    /// To-many relationships with a minimum or maximum count.
    package let toMany: ContiguousArray<Int>

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
    /// Whether there are numbers that the kind cannot store.
    fileprivate var isLimited: Bool {
        switch self {
        case .integer16, .integer32, .double, .float, .date: true
        default: false
        }
    }
}

extension ValidationRules.SlotRule {
    /// Whether a value is valid without further checks.
    @inline(__always)
    package func admits(_ value: Value) -> Bool {
        switch value {
        case .null: !isRequired
        case .integer(let number) where kind == .integer16: Int16(exactly: number) != nil && !hasPredicates
        case .integer(let number) where kind == .integer32: Int32(exactly: number) != nil && !hasPredicates
        case .real(let number): !number.isNaN && !hasPredicates
        default: !hasPredicates
        }
    }
}

extension NSPropertyDescription {
    /// Whether a value satisfies the validation predicates. One that cannot be evaluated is not satisfied; the errors of
    /// ``Validation`` state the reason.
    package final func isSatisfied(by value: Any) -> Bool {
        validationPredicates.allSatisfy { (try? $0.evaluation(with: value)) == true }
    }
}
