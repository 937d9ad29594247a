/// The values of a changed object: those of single slots over its row or its committed values, or one for each slot.
///
/// Most objects that change have few changes. Only these are kept then, and the other values of the row are not decoded.
package enum OwnValues {
    /// One value for each slot.
    case complete(ContiguousArray<Value>)
    /// The values of some slots, ascending; at most ``mostChanges``.
    case changes(ContiguousArray<Change>)

    /// The value of one slot.
    package struct Change {
        let slot: Int
        var value: Value
    }

    /// The number of changes that are searched one by one. An object with more has a value for each slot.
    private static let mostChanges = 8

    /// The number of changes for which an object allocates memory at its first one: most have no more.
    private static let firstCapacity = 4

    static var noChanges: OwnValues { .changes([]) }

    /// The value of a slot; nil if it has not been changed: the row or the committed values have it then.
    subscript(slot: Int) -> Value? {
        switch self {
        case .complete(let values): return values[slot]
        case .changes(let changes):
            for change in changes where change.slot == slot { return change.value }
            return nil
        }
    }

    /// Sets the value of a slot.
    ///
    /// - Returns: False, without a change, if the values must be complete first.
    mutating func set(_ value: Value, at slot: Int) -> Bool {
        switch self {
        case .complete(var values):
            // Without this reference the array is changed in place, unless it has another one.
            self = .noChanges
            values[slot] = value
            self = .complete(values)
            return true
        case .changes(var changes):
            self = .noChanges
            var index = 0
            while index < changes.count, changes[index].slot < slot { index += 1 }
            let isNew = index == changes.count || changes[index].slot != slot
            let hasRoom = !isNew || changes.count < Self.mostChanges
            if !isNew {
                changes[index].value = value
            } else if hasRoom {
                if changes.isEmpty { changes.reserveCapacity(Self.firstCapacity) }
                let change = Change(slot: slot, value: value)
                // Appending is faster than an insertion at the end.
                if index == changes.count { changes.append(change) } else { changes.insert(change, at: index) }
            }
            self = .changes(changes)
            return hasRoom
        }
    }

    /// The values of all slots.
    ///
    /// - Parameter stored: The values that were changed; evaluated only if some slots have not been.
    func complete(over stored: @autoclosure () -> ContiguousArray<Value>) -> ContiguousArray<Value> {
        switch self {
        case .complete(let values): return values
        case .changes(let changes):
            var values = stored()
            for change in changes { values[change.slot] = change.value }
            return values
        }
    }

    /// Calls a block with each slot that has a value, ascending.
    @inline(__always)
    func forEach(_ body: (_ slot: Int, _ value: Value) -> Void) {
        switch self {
        case .complete(let values): for slot in values.indices { body(slot, values[slot]) }
        case .changes(let changes): for change in changes { body(change.slot, change.value) }
        }
    }
}
