import Foundation

// Attributes of each type, directly from the row or from the object's own values. A slot of another kind is accessed by
// key-value coding, which reports the expected type.

extension NSManagedObject {
    @inline(__always)
    final func integer(_ name: PropertyName) -> Int64? {
        guard let slot = readSlot(of: name) else { return (declaredValue(of: name) as? NSNumber)?.int64Value }
        if let cell = rowCell(slot) {
            switch cell.kind {
            case .integer: return Int64(bitPattern: cell.payload)
            case .null: return nil
            default: break
            }
        }
        switch slotValue(slot) {
        case .integer(let number): return number
        case .null: return nil
        default: return (declaredValue(of: name) as? NSNumber)?.int64Value
        }
    }

    @inline(__always)
    final func real(_ name: PropertyName) -> Double? {
        guard let slot = readSlot(of: name) else { return (declaredValue(of: name) as? NSNumber)?.doubleValue }
        if let cell = rowCell(slot) {
            switch cell.kind {
            case .real: return Double(bitPattern: cell.payload)
            case .null: return nil
            default: break
            }
        }
        switch slotValue(slot) {
        case .real(let number): return number
        case .null: return nil
        default: return (declaredValue(of: name) as? NSNumber)?.doubleValue
        }
    }

    /// Sets a slot of certain kinds, or uses key-value coding if the slot is of another kind.
    @inline(__always)
    final func set(
        _ value: @autoclosure () -> Value, of name: PropertyName, where isAccepted: (EntityLayout.Slot.Kind) -> Bool,
        else other: @autoclosure () -> Any?
    ) {
        guard let slot = slot(of: name), isAccepted(layout.kinds[slot]) else {
            return setDeclaredValue(other(), of: name)
        }
        setSlot(slot, to: value())
    }
}

// MARK: - Numbers

extension Bool: ManagedSlotValue {
    public static func managedValueIfAny(of name: PropertyName, in object: NSManagedObject) -> Bool? {
        object.integer(name).map { $0 != 0 }
    }

    public static func setManagedValueIfAny(_ value: Bool?, of name: PropertyName, in object: NSManagedObject) {
        object.set(
            value.map { .integer($0 ? 1 : 0) } ?? .null, of: name,
            where: { $0 == .boolean }, else: value)
    }

    public static func missingManagedValue(of name: PropertyName, in object: NSManagedObject) -> Bool { false }
}

extension Int16: ManagedSlotValue {
    public static func managedValueIfAny(of name: PropertyName, in object: NSManagedObject) -> Int16? {
        object.integer(name).map { Int16(truncatingIfNeeded: $0) }
    }

    public static func setManagedValueIfAny(_ value: Int16?, of name: PropertyName, in object: NSManagedObject) {
        object.set(
            value.map { .integer(Int64($0)) } ?? .null, of: name,
            where: { $0.holdsIntegers }, else: value)
    }

    public static func missingManagedValue(of name: PropertyName, in object: NSManagedObject) -> Int16 { 0 }
}

extension Int32: ManagedSlotValue {
    public static func managedValueIfAny(of name: PropertyName, in object: NSManagedObject) -> Int32? {
        object.integer(name).map { Int32(truncatingIfNeeded: $0) }
    }

    public static func setManagedValueIfAny(_ value: Int32?, of name: PropertyName, in object: NSManagedObject) {
        object.set(
            value.map { .integer(Int64($0)) } ?? .null, of: name,
            where: { $0.holdsIntegers }, else: value)
    }

    public static func missingManagedValue(of name: PropertyName, in object: NSManagedObject) -> Int32 { 0 }
}

extension Int64: ManagedSlotValue {
    public static func managedValueIfAny(of name: PropertyName, in object: NSManagedObject) -> Int64? {
        object.integer(name)
    }

    public static func setManagedValueIfAny(_ value: Int64?, of name: PropertyName, in object: NSManagedObject) {
        object.set(
            value.map { .integer($0) } ?? .null, of: name,
            where: { $0.holdsIntegers }, else: value)
    }

    public static func missingManagedValue(of name: PropertyName, in object: NSManagedObject) -> Int64 { 0 }
}

extension Int: ManagedSlotValue {
    public static func managedValueIfAny(of name: PropertyName, in object: NSManagedObject) -> Int? {
        object.integer(name).map { Int(truncatingIfNeeded: $0) }
    }

    public static func setManagedValueIfAny(_ value: Int?, of name: PropertyName, in object: NSManagedObject) {
        object.set(
            value.map { .integer(Int64($0)) } ?? .null, of: name,
            where: { $0.holdsIntegers }, else: value)
    }

    public static func missingManagedValue(of name: PropertyName, in object: NSManagedObject) -> Int { 0 }
}

extension Double: ManagedSlotValue {
    public static func managedValueIfAny(of name: PropertyName, in object: NSManagedObject) -> Double? {
        object.real(name)
    }

    public static func setManagedValueIfAny(_ value: Double?, of name: PropertyName, in object: NSManagedObject) {
        object.set(
            value.map { .real($0) } ?? .null, of: name,
            where: { $0 == .double }, else: value)
    }

    public static func missingManagedValue(of name: PropertyName, in object: NSManagedObject) -> Double { 0 }
}

extension Float: ManagedSlotValue {
    public static func managedValueIfAny(of name: PropertyName, in object: NSManagedObject) -> Float? {
        object.real(name).map { Float($0) }
    }

    public static func setManagedValueIfAny(_ value: Float?, of name: PropertyName, in object: NSManagedObject) {
        object.set(
            value.map { .real(Double($0)) } ?? .null, of: name,
            where: { $0 == .float || $0 == .double }, else: value)
    }

    public static func missingManagedValue(of name: PropertyName, in object: NSManagedObject) -> Float { 0 }
}

extension Date: ManagedSlotValue {
    public static func managedValueIfAny(of name: PropertyName, in object: NSManagedObject) -> Date? {
        object.real(name).map { Date(timeIntervalSinceReferenceDate: $0) }
    }

    public static func setManagedValueIfAny(_ value: Date?, of name: PropertyName, in object: NSManagedObject) {
        object.set(
            value.map { .real($0.timeIntervalSinceReferenceDate) } ?? .null, of: name,
            where: { $0 == .date }, else: value)
    }

    public static func missingManagedValue(of name: PropertyName, in object: NSManagedObject) -> Date {
        Date(timeIntervalSinceReferenceDate: 0)
    }
}

extension EntityLayout.Slot.Kind {
    @inline(__always)
    fileprivate var holdsIntegers: Bool {
        self == .integer64 || self == .integer32 || self == .integer16
    }
}

// MARK: - Texts and bytes

extension String: ManagedSlotValue {
    public static func managedValueIfAny(of name: PropertyName, in object: NSManagedObject) -> String? {
        guard let slot = object.readSlot(of: name), object.layout.kinds[slot] == .string else {
            return object.declaredValue(of: name) as? String
        }
        if let cell = object.rowCell(slot), cell.kind == .text, let page = object.page { return page.string(of: cell) }
        if case .string(let value) = object.slotValue(slot) { return value }
        return nil
    }

    public static func setManagedValueIfAny(_ value: String?, of name: PropertyName, in object: NSManagedObject) {
        object.set(value.map { .string($0) } ?? .null, of: name, where: { $0 == .string }, else: value)
    }

    public static func missingManagedValue(of name: PropertyName, in object: NSManagedObject) -> String { "" }
}

extension Data: ManagedSlotValue {
    public static func managedValueIfAny(of name: PropertyName, in object: NSManagedObject) -> Data? {
        guard let slot = object.readSlot(of: name), object.layout.kinds[slot] == .data else {
            return object.declaredValue(of: name) as? Data
        }
        if let cell = object.rowCell(slot), cell.kind == .blob, let page = object.page {
            return Data(page.bytes(of: cell))
        }
        if case .data(let value) = object.slotValue(slot) { return value }
        return nil
    }

    public static func setManagedValueIfAny(_ value: Data?, of name: PropertyName, in object: NSManagedObject) {
        object.set(value.map { .data($0) } ?? .null, of: name, where: { $0 == .data }, else: value)
    }

    public static func missingManagedValue(of name: PropertyName, in object: NSManagedObject) -> Data { Data() }
}

extension UUID: ManagedSlotValue {
    public static func managedValueIfAny(of name: PropertyName, in object: NSManagedObject) -> UUID? {
        guard let slot = object.readSlot(of: name) else { return object.declaredValue(of: name) as? UUID }
        if case .uuid(let value) = object.slotValue(slot) { return value }
        return nil
    }

    public static func setManagedValueIfAny(_ value: UUID?, of name: PropertyName, in object: NSManagedObject) {
        object.set(value.map { .uuid($0) } ?? .null, of: name, where: { $0 == .uuid }, else: value)
    }

    /// The UUID with all bits zero.
    public static func missingManagedValue(of name: PropertyName, in object: NSManagedObject) -> UUID {
        UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
    }
}

// MARK: - Boxed values

extension URL: ManagedSlotValue {
    public static func managedValueIfAny(of name: PropertyName, in object: NSManagedObject) -> URL? {
        object.boxedValue(name) as? URL
    }

    public static func setManagedValueIfAny(_ value: URL?, of name: PropertyName, in object: NSManagedObject) {
        object.setDeclaredValue(value, of: name)
    }

    public static func missingManagedValue(of name: PropertyName, in object: NSManagedObject) -> URL {
        object.stopAtMissingValue(of: name)
    }
}

extension Decimal: ManagedSlotValue {
    public static func managedValueIfAny(of name: PropertyName, in object: NSManagedObject) -> Decimal? {
        guard let slot = object.readSlot(of: name) else {
            return (object.declaredValue(of: name) as? NSNumber).map { Decimal($0) }
        }
        switch object.slotValue(slot) {
        case .decimal(let value): return value
        case .null: return nil
        default: return (object.declaredValue(of: name) as? NSNumber).map { Decimal($0) }
        }
    }

    public static func setManagedValueIfAny(_ value: Decimal?, of name: PropertyName, in object: NSManagedObject) {
        object.set(
            value.map { .decimal($0) } ?? .null, of: name,
            where: { $0 == .decimal }, else: value)
    }

    public static func missingManagedValue(of name: PropertyName, in object: NSManagedObject) -> Decimal { 0 }
}

extension NSNumber: ManagedSlotValue {
    public static func managedValueIfAny(of name: PropertyName, in object: NSManagedObject) -> Self? {
        let value = object.declaredValue(of: name)
        if let value = value as? Self { return value }
        // Attributes of the other numeric types have no decimal numbers.
        guard Self.self == NSDecimalNumber.self, let number = value as? NSNumber else { return nil }
        return NSDecimalNumber(decimal: Decimal(number)) as? Self
    }

    public static func setManagedValueIfAny(_ value: NSNumber?, of name: PropertyName, in object: NSManagedObject) {
        object.setDeclaredValue(value, of: name)
    }

    public static func missingManagedValue(of name: PropertyName, in object: NSManagedObject) -> Self {
        object.stopAtMissingValue(of: name)
    }
}

extension NSManagedObject {
    /// The value in the box of a slot.
    fileprivate final func boxedValue(_ name: PropertyName) -> Any? {
        guard let slot = readSlot(of: name) else { return declaredValue(of: name) }
        if case .object(let box) = slotValue(slot) { return box.value }
        return nil
    }
}
