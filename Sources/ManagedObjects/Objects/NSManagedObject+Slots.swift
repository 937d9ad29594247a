import Foundation

// Reading and writing slots. Every access to an attribute or a to-one relationship uses these functions.

extension NSManagedObject {
    /// Realises a fault.
    @inline(__always)
    final func realise() {
        if values == nil, !state.contains(.realised), key.number != 0 { fire() }
    }

    /// Realises a fault by its context. An object that has lost its context has its initial values.
    private final func fire() {
        if let unmanagedContext {
            unmanagedContext._withUnsafeGuaranteedRef { $0.fire(self) }
        } else {
            page = nil
            originSlot = -1
            state.insert(.realised)
        }
    }

    /// Sets the row with the object's values. The object stays a fault until it is realised.
    @inline(__always)
    final func adopt(_ page: RowPage, row: Int) {
        self.page = page
        self.row = Int32(truncatingIfNeeded: row)
        cells = page.cells(row: row)
        originSlot = -1
        // Own values, if there are any, were not copied from this row.
        touched = .max
    }

    /// The cell of a slot, if the object's values are those of its row. Realises a fault.
    @inline(__always)
    final func rowCell(_ slot: Int) -> RowPage.Cell? {
        if values != nil { return nil }
        realise()
        guard state.contains(.realised), page != nil, let cells else { return nil }
        return cells[slot]
    }

    /// The value of a slot.
    final func slotValue(_ slot: Int) -> Value {
        if let cell = rowCell(slot), let page { return decodedValue(cell, slot: slot, page: page) }
        if let values { return values[slot] }
        if let committed { return committed[slot] }
        return layout.initialValues[slot]
    }

    /// The committed value of a slot: as in the store, before any unsaved change.
    final func committedValue(_ slot: Int) -> Value {
        realise()
        if let page, state.contains(.realised) {
            return decodedValue(page.cell(row: Int(row), slot: slot), slot: slot, page: page)
        }
        if let committed { return committed[slot] }
        return .null
    }

    /// Sets a slot and notifies the context and observers. To-one relationships are set by `setReference`.
    final func setSlot(_ slot: Int, to value: Value) {
        guard let name = layout.slots[slot].name else { return setPrimitiveSlot(slot, to: value) }
        willChangeValue(forKey: name)
        setPrimitiveSlot(slot, to: value)
        didChangeValue(forKey: name)
    }

    /// Sets a slot without notifications.
    @inline(__always)
    final func setPrimitiveSlot(_ slot: Int, to value: Value) {
        makeMutable()
        setOwnValue(slot, to: value)
    }

    /// Sets a slot of the object's own values, if it has any.
    @inline(__always)
    final func setOwnValue(_ slot: Int, to value: Value) {
        values?[slot] = value
        touched |= Self.bit(ofSlot: slot)
    }

    /// The bit of a slot in `touched`; slots after the first 31 share one.
    private static func bit(ofSlot slot: Int) -> UInt32 { 1 << UInt32(truncatingIfNeeded: min(slot, 31)) }

    /// Sets a value that the store has computed during a save: part of the row, and no change of the object.
    ///
    /// - Returns: Whether the object had another value.
    final func adoptComputed(_ value: Value, slot: Int) -> Bool {
        guard !slotValue(slot).isSame(as: value) else { return false }
        if state.contains(.listed) {
            // Committed with the object's changes.
            setPrimitiveSlot(slot, to: value)
        } else {
            committed = committedValues()
            committed?[slot] = value
            values?[slot] = value
            page = nil
            originSlot = -1
        }
        return true
    }

    /// The values of derived attributes in the object's row, without firing a fault; empty if no row has been read.
    final var derivedValues: [Value] {
        layout.derivedSlots.compactMap { slot in
            guard let page else { return committed?[slot] }
            guard originSlot < 0, page.fetched == nil else { return nil }
            return page.value(of: page.cell(row: Int(row), slot: slot), slot: layout.slots[slot])
        }
    }

    /// Copies the values from the row, so that they can be changed.
    @inline(__always)
    final func makeMutable() {
        guard values == nil else { return }
        values = currentValues()
        touched = state.contains(.watched) ? .max : 0
    }

    /// The current values.
    final func currentValues() -> ContiguousArray<Value> {
        realise()
        if let values { return values }
        var current = committedValues() ?? layout.initialValues
        if state.contains(.watched) { overlayWatched(&current) }
        return current
    }

    /// The committed values; nil for an object that is in no store.
    final func committedValues() -> ContiguousArray<Value>? {
        realise()
        if let page, state.contains(.realised) { return page.values(row: Int(row)) }
        return committed
    }

    final func decodedValue(_ cell: RowPage.Cell, slot: Int, page: RowPage) -> Value {
        page.value(of: cell, slot: layout.slots[slot])
    }

    /// The slots whose values differ from the store's.
    final func changedSlots() -> [Int] { changedSlots { _ in true } }

    /// The slots with columns whose values differ from the store's.
    final func persistentChangedSlots() -> [Int] { changedSlots { layout.slots[$0].isPersistent } }

    private func changedSlots(where isIncluded: (Int) -> Bool) -> [Int] {
        guard let values else { return [] }
        guard let page, state.contains(.realised) else {
            guard let committed else { return values.indices.filter(isIncluded) }
            return values.indices.filter { isIncluded($0) && !values[$0].isSame(as: committed[$0]) }
        }
        // Slots that were not set since they were copied from the row need not be compared.
        return values.indices.filter { slot in
            touched & Self.bit(ofSlot: slot) != 0 && isIncluded(slot)
                && !page.holds(values[slot], in: page.cell(row: Int(row), slot: slot), slot: layout.slots[slot])
        }
    }

    final func hasChangedToMany(persistent: Bool) -> Bool {
        zip(toMany, layout.toMany).contains { state, field in
            state?.isChanged == true && (!persistent || field.isPersistent)
        }
    }

    /// The fields in the layout of the to-many relationships that have changed.
    final var changedToManyIndexes: [Int] {
        var fields: [Int] = []
        for (field, state) in toMany.enumerated() where state?.isChanged == true { fields.append(field) }
        return fields
    }
}

extension RowPage {
    /// The value of a cell, converted to the slot's kind.
    func value(of cell: Cell, slot: EntityLayout.Slot) -> Value {
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
            case .transformable:
                let data = Data(bytes)
                return slot.attribute.map { TransformableCoding.decode(data, attribute: $0) } ?? .data(data)
            default: return .data(Data(bytes))
            }
        }
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
