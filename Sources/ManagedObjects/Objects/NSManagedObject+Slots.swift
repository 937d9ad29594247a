import Foundation

// Reading and writing slots. Every access to an attribute or a to-one relationship uses these functions.

extension NSManagedObject {
    /// Whether the object has its values: a fault is realised, unless its row cannot be read.
    @inline(__always)
    final var isRead: Bool {
        realise()
        return !isFaultInternally
    }

    /// Realises a fault.
    @inline(__always)
    final func realise() {
        if state.isWithoutValues, key.number != 0 { fire() }
    }

    /// Realises a fault by its context. An object that has lost its context has its initial values.
    private final func fire() {
        if let unmanagedContext {
            unmanagedContext._withUnsafeGuaranteedRef { $0.fire(self) }
        } else {
            state.realiseWithoutContext()
        }
    }

    /// Ends the fault of an object whose row is known. Transient attributes, which the row does not contain, get their defaults.
    final func becomeRealised() {
        state.realise()
        for slot in layout.transientDefaultSlots { setCommittedValue(slot, to: layout.initialValues[slot]) }
    }

    /// The cell of a slot, if the object's values are those of its row. Realises a fault.
    @inline(__always)
    final func rowCell(_ slot: Int) -> RowPage.Cell? {
        if values != nil || committed != nil { return nil }
        realise()
        return state.cell(slot)
    }

    /// The value of a slot.
    package final func slotValue(_ slot: Int) -> Value {
        realise()
        if let value = values?[slot] ?? state.committedValue(slot) { return value }
        // A fault whose row could not be read has no values.
        return isFaultInternally ? .null : layout.initialValues[slot]
    }

    /// The committed value of a slot: as in the store, before any unsaved change.
    final func committedValue(_ slot: Int) -> Value {
        realise()
        return state.committedValue(slot) ?? .null
    }

    /// Sets a slot and notifies the context and observers, unless the object's row cannot be read. To-one relationships are set
    /// by `setReference`.
    package final func setSlot(_ slot: Int, to value: Value) {
        guard let name = layout.slots[slot].name, !flags.contains(.initialising) else {
            return setPrimitiveSlot(slot, to: value)
        }
        guard isRead else { return }
        willChangeValue(forKey: name)
        setPrimitiveSlot(slot, to: value)
        didChangeValue(forKey: name)
    }

    /// Calls a closure that sets attributes of an object which it has just inserted. Nobody is informed of them: the insertion is the
    /// change.
    package final func settingInitialValues(_ work: () -> Void) {
        state.mark(.initialising)
        defer { state.unmark(.initialising) }
        work()
    }

    /// Sets a slot without notifications. An object whose row cannot be read stays unchanged.
    @inline(__always)
    final func setPrimitiveSlot(_ slot: Int, to value: Value) {
        makeMutable()
        setOwnValue(slot, to: value)
    }

    /// Sets a slot of the object's own values, if it has any.
    @inline(__always)
    final func setOwnValue(_ slot: Int, to value: Value) {
        if flags.contains(.indexed) { context?.tracker.index.noteChange(of: self) }
        if !state.setValue(value, at: slot) { state.setValue(value, at: slot, completing: currentValues()) }
    }

    /// Sets a slot of the committed values, which are then complete if they exceed the number of single ones.
    final func setCommittedValue(_ slot: Int, to value: Value) {
        state.setCommitted(value, at: slot, initial: layout.initialValues)
    }

    /// Sets a value that the store has computed during a save: part of the row, and no change of the object.
    ///
    /// - Returns: Whether the object had another value.
    final func adoptComputed(_ value: Value, slot: Int) -> Bool {
        guard !slotValue(slot).isSame(as: value) else { return false }
        if flags.contains(.listed) {
            // Committed with the object's changes.
            setPrimitiveSlot(slot, to: value)
        } else {
            setCommittedValue(slot, to: value)
            if values?[slot] != nil { setOwnValue(slot, to: value) }
        }
        return true
    }

    /// The values of derived attributes in the object's row, without firing a fault; empty if no row has been read.
    package final var derivedValues: [Value] {
        layout.derivedSlots.compactMap { slot in
            if let value = committed?[slot] { return value }
            guard state.hasOwnRow, let page else { return nil }
            return page.value(row: Int(row), slot: slot)
        }
    }

    /// Gives the object values of its own, so that they can be changed.
    @inline(__always)
    final func makeMutable() {
        guard values == nil else { return }
        realise()
        // An object whose row could not be read cannot be changed.
        guard !isFaultInternally else { return }
        // A value that can be changed in place must be decoded once only.
        let isWhole = !layout.transformableSlots.isEmpty || committed == nil && page == nil
        state.becomeChangeable(isWhole ? .complete(currentValues()) : .noChanges)
    }

    /// The current values.
    package final func currentValues() -> ContiguousArray<Value> {
        realise()
        if let values { return values.complete(over: committedValues() ?? layout.initialValues) }
        var current = committedValues() ?? layout.initialValues
        if flags.contains(.watched) { overlayWatched(&current) }
        return current
    }

    /// The committed values; nil for an object that is in no store.
    final func committedValues() -> ContiguousArray<Value>? {
        realise()
        return state.committedValues(initial: layout.initialValues)
    }

    /// The slots whose values differ from the store's.
    final func changedSlots() -> [Int] { changedSlots { _ in true } }

    /// The slots with columns whose values differ from the store's.
    ///
    /// - Parameter other: The slots of another object. The same array is returned if they are equal, so that objects with
    ///   the same changes share one.
    final func persistentChangedSlots(sharing other: [Int] = []) -> [Int] {
        var (count, isKnown) = (0, true)
        values?.forEach { slot, value in
            guard isKnown, layout.slots[slot].isPersistent, !state.isCommitted(value, slot: slot, in: layout) else {
                return
            }
            isKnown = count < other.count && other[count] == slot
            count += 1
        }
        if isKnown, count == other.count { return other }
        return changedSlots { layout.slots[$0].isPersistent }
    }

    private func changedSlots(where isIncluded: (Int) -> Bool) -> [Int] {
        var changed: [Int] = []
        values?.forEach { slot, value in
            if isIncluded(slot), !state.isCommitted(value, slot: slot, in: layout) { changed.append(slot) }
        }
        return changed
    }

    final func hasChangedToMany(persistent: Bool) -> Bool {
        guard toMany.hasStates else { return false }
        return zip(toMany, layout.toMany).contains { state, field in
            state?.isChanged == true && (!persistent || field.isPersistent)
        }
    }

    /// The fields in the layout of the to-many relationships that have changed.
    final var changedToManyIndexes: [Int] {
        guard toMany.hasStates else { return [] }
        var fields: [Int] = []
        for (field, state) in toMany.enumerated() where state?.isChanged == true { fields.append(field) }
        return fields
    }
}

extension RowPage {
    /// The value of a slot of a row.
    @inline(__always)
    func value(row: Int, slot: Int) -> Value { value(of: cell(row: row, slot: slot), slot: layout.slots[slot]) }

    /// The value of a cell, converted to the slot's kind.
    package func value(of cell: Cell, slot: EntityLayout.Slot) -> Value {
        switch cell.kind {
        case .null: return .null
        case .integer:
            let number = Int64(bitPattern: cell.payload)
            return slot.kind == .decimal ? .decimal(Decimal(number)) : .integer(number)
        case .real:
            let number = Double(bitPattern: cell.payload)
            return slot.kind == .decimal ? .decimal(Decimal(shortestOf: number)) : .real(number)
        case .reference:
            return .reference(
                ObjectKey(store: store, entity: cell.entity, number: Int64(bitPattern: cell.payload)))
        case .text:
            let text = string(of: cell)
            switch slot.kind {
            case .uri: return URL(string: text).map { .object(ObjectValue($0)) } ?? .null
            case .decimal: return .decimal(Decimal(string: text) ?? .nan)
            default: return .string(text)
            }
        case .blob:
            let bytes = bytes(of: cell)
            switch slot.kind {
            case .uuid where bytes.count == 16:
                return .uuid(UUID(uuid: bytes.loadUnaligned(as: uuid_t.self)))
            default: return value(of: Data(bytes), slot: slot)
            }
        case .file: return file(of: cell).content().map { value(of: $0, slot: slot) } ?? .null
        case .object: return .object(ObjectValue(object(of: cell)))
        }
    }

    private func value(of data: Data, slot: EntityLayout.Slot) -> Value {
        guard slot.kind == .transformable, let attribute = slot.attribute else { return .data(data) }
        return TransformableCoding.decode(data, attribute: attribute)
    }

    /// Whether a value equals that of a cell. Compares bytes if possible, without creating the cell's value.
    func holds(_ value: Value, in cell: Cell, slot: EntityLayout.Slot) -> Bool {
        switch (cell.kind, value) {
        case (.null, .null): return true
        case (.integer, .integer(let number)): return cell.payload == UInt64(bitPattern: number)
        case (.real, .real(let number)): return cell.payload == number.bitPattern
        case (.reference, .reference(let key)):
            return key == ObjectKey(store: store, entity: cell.entity, number: Int64(bitPattern: cell.payload))
        case (.text, .string(let text)) where text.hasBytes(bytes(of: cell)): return true
        case (.blob, .uuid(let uuid)) where cell.length == 16:
            return UUID(uuid: bytes(of: cell).loadUnaligned(as: uuid_t.self)) == uuid
        // A value that was repaired when it was read has other bytes.
        default: return self.value(of: cell, slot: slot).isSame(as: value)
        }
    }

    /// All values of a row.
    func values(row: Int) -> ContiguousArray<Value> {
        // The empty array is shared by all threads, and would be written to.
        if width == 0 { return [] }
        return ContiguousArray(unsafeUninitializedCapacity: width) { buffer, count in
            for slot in 0..<width {
                let value = value(of: cell(row: row, slot: slot), slot: layout.slots[slot])
                buffer.initializeElement(at: slot, to: value)
            }
            count = width
        }
    }
}

// MARK: - Changed values

// The unsaved changes of an object, and the values before them.

extension NSManagedObject {
    /// ``changedValues()``, for all classes.
    final func collectChangedValues() -> [String: Any] {
        checkQueue()
        noticeInPlaceChanges()
        var result: [String: Any] = [:]
        let isNew = committed == nil && page == nil
        for slot in changedSlots() where layout.slots[slot].isPersistent {
            if isNew, values?[slot]?.isSame(as: layout.initialValues[slot]) == true { continue }
            guard let name = topLevelName(ofSlot: slot) else { continue }
            result[name] = value(forKey: name) ?? NSNull()
        }
        for (index, state) in toMany.enumerated() where state?.isChanged == true && layout.toMany[index].isPersistent {
            result[layout.toMany[index].name] = value(forKey: layout.toMany[index].name)
        }
        return result
    }

    /// ``changedValuesForCurrentEvent()``, for all classes.
    final func collectChangedValuesForCurrentEvent() -> [String: Any] {
        checkQueue()
        noticeInPlaceChanges()
        guard let eventStart = state.eventStart else { return [:] }
        var result: [String: Any] = [:]
        if values != nil {
            let now = currentValues()
            var before = committedValues() ?? layout.initialValues
            if case .values(let earlier) = eventStart { before = earlier.complete(over: before) }
            for slot in now.indices where layout.slots[slot].isPersistent && !before[slot].isSame(as: now[slot]) {
                guard let name = topLevelName(ofSlot: slot) else { continue }
                result[name] = publicValue(of: name) { before[$0] } ?? NSNull()
            }
        }
        for (index, state) in toMany.enumerated() where state?.isChangedInEvent == true {
            guard layout.toMany[index].isPersistent else { continue }
            let former = loadedToManyState(at: index).membersBeforeEvent
            result[layout.toMany[index].name] = collection(of: former, at: index)
        }
        return result
    }

    /// ``committedValues(forKeys:)``, for all classes.
    final func collectCommittedValues(_ keys: [String]?) -> [String: Any] {
        checkQueue()
        noticeInPlaceChanges()
        var result: [String: Any] = [:]
        guard !flags.contains(.inserted) else { return result }
        // An element of a composite attribute, whose key is a path, is a part of the composite's value.
        for name in keys ?? layout.fields.keys.filter({ !$0.contains(".") }).sorted() {
            switch field(of: name) {
            case .slot, .composite: result[name] = publicValue(of: name, committedValue) ?? NSNull()
            case .toMany(let index): result[name] = collection(of: committedMemberKeys(at: index), at: index)
            case .fetched, nil: continue
            }
        }
        return result
    }

    /// The public value of an attribute or a to-one relationship that has certain values in its slots.
    private final func publicValue(of name: String, _ value: (Int) -> Value) -> Any? {
        func object(_ slot: Int) -> Any? {
            let value = value(slot)
            if case .reference(let target) = value { return context?.object(for: target) }
            return value.object(kind: layout.kinds[slot])
        }
        return switch field(of: name) {
        case .slot(let slot): object(slot)
        case .composite(let composite, let slots): compositeValue(of: composite, slots: slots, object)
        default: nil
        }
    }

    private final func collection(of keys: ContiguousArray<ObjectKey>, at index: Int) -> Any {
        let objects = keys.compactMap { context?.object(for: $0) }
        return layout.toMany[index].isOrdered ? NSOrderedSet(array: objects) : NSSet(array: objects)
    }

    /// The property of a slot: for an element of a composite, the composite.
    final func topLevelName(ofSlot slot: Int) -> String? {
        layout.slots[slot].name.map { name in name.split(separator: ".").first.map(String.init) ?? name }
    }
}
