import Foundation

// The unsaved changes of an object, and the values before them.

extension NSManagedObject {
    /// ``changedValues()``, for all classes.
    final func collectChangedValues() -> [String: Any] {
        checkQueue()
        noticeInPlaceChanges()
        var result: [String: Any] = [:]
        let isNew = committed == nil && page == nil
        for slot in changedSlots() {
            if isNew, values?[slot]?.isSame(as: layout.initialValues[slot]) == true { continue }
            guard let name = topLevelName(ofSlot: slot) else { continue }
            result[name] = value(forKey: name) ?? NSNull()
        }
        for (index, state) in toMany.enumerated() where state?.isChanged == true {
            result[layout.toMany[index].name] = value(forKey: layout.toMany[index].name)
        }
        return result
    }

    /// ``changedValuesForCurrentEvent()``, for all classes.
    final func collectChangedValuesForCurrentEvent() -> [String: Any] {
        checkQueue()
        noticeInPlaceChanges()
        guard let eventStart, values != nil else { return [:] }
        let now = currentValues()
        let before: ContiguousArray<Value>?
        switch eventStart {
        case .unchanged: before = committedValues()
        case .values(let earlier): before = earlier.complete(over: committedValues() ?? layout.initialValues)
        }
        var result: [String: Any] = [:]
        for slot in now.indices where before.map({ !$0[slot].isSame(as: now[slot]) }) ?? true {
            guard let name = topLevelName(ofSlot: slot) else { continue }
            result[name] = value(forKey: name) ?? NSNull()
        }
        return result
    }

    /// ``committedValues(forKeys:)``, for all classes.
    final func collectCommittedValues(_ keys: [String]?) -> [String: Any] {
        checkQueue()
        noticeInPlaceChanges()
        var result: [String: Any] = [:]
        guard !state.contains(.inserted) else { return result }
        for name in keys ?? layout.fields.keys.sorted() {
            switch field(of: name) {
            case .slot(let slot):
                let value = committedValue(slot)
                if case .reference(let target) = value {
                    result[name] = context?.object(for: target) ?? NSNull()
                } else {
                    result[name] = value.object(kind: layout.slots[slot].kind) ?? NSNull()
                }
            case .toMany(let index):
                let objects = committedMemberKeys(at: index).compactMap { context?.object(for: $0) }
                result[name] = layout.toMany[index].isOrdered ? NSOrderedSet(array: objects) : NSSet(array: objects)
            default: continue
            }
        }
        return result
    }

    /// The property of a slot: for an element of a composite, the composite.
    final func topLevelName(ofSlot slot: Int) -> String? {
        layout.slots[slot].name.map { name in name.split(separator: ".").first.map(String.init) ?? name }
    }
}
