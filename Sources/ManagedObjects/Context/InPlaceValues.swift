import Foundation

/// Values of transformable attributes that a context has returned to the program, and that may be changed in place.
///
/// Values of value types cannot be changed in place and are not included. The others are compared when changes are
/// queried, at the end of an event and before a save, by the bytes that the transformer encodes. A value without other
/// references is compared once more and then removed.
struct InPlaceValues {
    /// A value that was returned to the program.
    struct Watched {
        /// The object's value, as returned.
        var box: ObjectValue
        /// The encoding of the unchanged value; nil until the first comparison.
        var bytes: Data?
    }

    private struct Entry {
        /// Retained, since an object with an undetected change may have no other reference.
        var object: NSManagedObject?
        /// The object during a sweep, which checks for other references.
        weak var loosened: NSManagedObject?
        var values: [Int: Watched]
    }

    private var entries: [ObjectIdentifier: Entry] = [:]
    /// True while changes are being detected, to prevent recursion.
    var isNoticing = false

    var isEmpty: Bool { entries.isEmpty }

    /// The objects whose values were returned.
    var objects: [NSManagedObject] { entries.values.compactMap(\.object) }

    /// The watched values of an object, by slot.
    func values(of object: NSManagedObject) -> [Int: Watched] {
        entries[ObjectIdentifier(object)]?.values ?? [:]
    }

    /// Watches a value of an object; nil stops watching.
    mutating func set(_ watched: Watched?, of object: NSManagedObject, slot: Int) {
        let id = ObjectIdentifier(object)
        if let watched {
            entries[id, default: Entry(object: object, values: [:])].values[slot] = watched
            object.state.mark(.watched)
        } else {
            entries[id]?.values[slot] = nil
            if entries[id]?.values.isEmpty == true { remove(object) }
        }
    }

    /// Stops watching all values of an object.
    mutating func remove(_ object: NSManagedObject) {
        entries[ObjectIdentifier(object)] = nil
        object.state.unmark(.watched)
    }

    mutating func removeAll() {
        for entry in entries.values { entry.object?.state.unmark(.watched) }
        entries = [:]
    }

    // MARK: - Sweeping

    /// Makes references to objects weak, except to those with undetected changes.
    mutating func loosen() {
        for (id, entry) in entries {
            guard let object = entry.object, !Self.isChanged(entry.values, of: object) else { continue }
            entries[id]?.loosened = object
            entries[id]?.object = nil
        }
    }

    private static func isChanged(_ values: [Int: Watched], of object: NSManagedObject) -> Bool {
        values.contains { slot, watched in
            guard let attribute = object.layout.slots[slot].attribute else { return false }
            guard let before = watched.bytes,
                let now = try? TransformableCoding.bytes(of: watched.box.value, attribute: attribute)
            else { return true }
            return !TransformableCoding.areSame(before, now)
        }
    }

    /// Makes the references strong again, and removes the entries of deallocated objects.
    mutating func tighten() {
        for (id, entry) in entries where entry.object == nil {
            entries[id]?.object = entry.loosened
            if entry.loosened == nil { entries[id] = nil }
        }
    }
}

extension NSManagedObjectContext {
    /// Detects in-place changes: marks the objects as changed, and records the changes for undo. Cost: one encoding for
    /// each watched value.
    final func noticeInPlaceChanges() {
        guard !inPlaceValues.isEmpty, !inPlaceValues.isNoticing else { return }
        for object in inPlaceValues.objects { noticeInPlaceChanges(of: object) }
    }

    /// Detects the in-place changes of one object.
    final func noticeInPlaceChanges(of object: NSManagedObject) {
        guard !inPlaceValues.isNoticing else { return }
        guard object.context === self, !object.flags.contains(.deleted), !object.isFaultInternally else {
            return inPlaceValues.remove(object)
        }
        inPlaceValues.isNoticing = true
        defer { inPlaceValues.isNoticing = false }
        for (slot, watched) in inPlaceValues.values(of: object).sorted(by: { $0.key < $1.key }) {
            notice(watched, of: object, slot: slot)
        }
    }

    private func notice(_ watched: InPlaceValues.Watched, of object: NSManagedObject, slot: Int) {
        guard object.holds(watched.box, slot: slot), let attribute = object.layout.slots[slot].attribute else {
            return inPlaceValues.set(nil, of: object, slot: slot)
        }
        // A value that cannot be encoded is an error of the next save, which names it.
        guard let bytes = try? TransformableCoding.bytes(of: watched.box.value, attribute: attribute) else { return }
        var watched = watched
        guard let before = watched.bytes else {
            watched.bytes = bytes
            if watched.box.encoded == nil, object.values != nil {
                // From here on the bytes represent the value before the change.
                watched.box = ObjectValue(watched.box.value, encoded: bytes)
                object.setOwnValue(slot, to: .object(watched.box))
            }
            return inPlaceValues.set(watched, of: object, slot: slot)
        }
        if !TransformableCoding.areSame(before, bytes) {
            change(watched, to: bytes, of: object, slot: slot, attribute: attribute)
        } else if watched.box.isHeldOnlyHere {
            inPlaceValues.set(nil, of: object, slot: slot)
        }
    }

    /// Restores the value before the change, then sets the changed one like a setter.
    private func change(
        _ watched: InPlaceValues.Watched, to bytes: Data, of object: NSManagedObject, slot: Int,
        attribute: NSAttributeDescription
    ) {
        if let encoded = watched.box.encoded {
            let before = TransformableCoding.decode(encoded, attribute: attribute)
            if object.values != nil {
                object.setOwnValue(slot, to: before)
            } else if object.committed != nil {
                object.setCommittedValue(slot, to: before)
            }
        }
        inPlaceValues.set(nil, of: object, slot: slot)
        let box = ObjectValue(watched.box.value, encoded: bytes)
        object.setSlot(slot, to: .object(box))
        inPlaceValues.set(InPlaceValues.Watched(box: box, bytes: bytes), of: object, slot: slot)
    }

}

extension NSManagedObject {
    /// The value of a transformable slot for the public API: the same instance each time if it can be changed in
    /// place.
    final func transformableValue(_ slot: Int) -> Any? {
        if values == nil, let box = watchedBox(slot) { return box.value }
        guard case .object(let box) = slotValue(slot), !(box.value is UndecodableValue) else { return nil }
        // A row without bytes is of a store that keeps the value itself, which a change in place has changed already.
        if values != nil || committed != nil || box.encoded != nil { watch(box, slot: slot) }
        return box.value
    }

    /// Watches a value that is returned, if it can be changed in place and the attribute detects that.
    final func watch(_ box: ObjectValue, slot: Int) {
        guard let context, layout.inPlaceSlots.contains(slot), watchedBox(slot) !== box,
            ChangeableValue.isChangeable(box.value), let attribute = layout.slots[slot].attribute
        else { return }
        // The bytes of a value that was just set are encoded at the end of the event.
        let bytes = box.encoded == nil ? nil : try? TransformableCoding.bytes(of: box.value, attribute: attribute)
        if box.encoded != nil, bytes == nil { return }
        context.inPlaceValues.set(InPlaceValues.Watched(box: box, bytes: bytes), of: self, slot: slot)
    }

    private func watchedBox(_ slot: Int) -> ObjectValue? {
        guard flags.contains(.watched) else { return nil }
        return context?.inPlaceValues.values(of: self)[slot]?.box
    }

    /// Whether a watched value still is the object's value.
    final func holds(_ box: ObjectValue, slot: Int) -> Bool {
        guard let held = values?[slot] ?? committed?[slot] else { return page != nil }
        if case .object(let held) = held { return held === box }
        return false
    }

    /// Replaces values of the row by those that were returned.
    final func overlayWatched(_ values: inout ContiguousArray<Value>) {
        for (slot, watched) in context?.inPlaceValues.values(of: self) ?? [:] { values[slot] = .object(watched.box) }
    }

    /// Detects in-place changes before changes are queried.
    @inline(__always)
    final func noticeInPlaceChanges() {
        if flags.contains(.watched) { context?.noticeInPlaceChanges(of: self) }
    }

    /// Copies of the values, which are independent of in-place changes of the originals. A value that cannot be encoded
    /// is not copied.
    final func isolated(_ values: ContiguousArray<Value>) -> ContiguousArray<Value> {
        guard !layout.transformableSlots.isEmpty else { return values }
        var values = values
        for slot in layout.transformableSlots {
            guard case .object(let box) = values[slot], ChangeableValue.isChangeable(box.value),
                let attribute = layout.slots[slot].attribute,
                let bytes = try? TransformableCoding.encode(box, attribute: attribute)
            else { continue }
            values[slot] = TransformableCoding.decode(bytes, attribute: attribute)
        }
        return values
    }
}
