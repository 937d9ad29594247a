import Synchronization

/// The fields of an entity's properties by the number of their name, for typed accessors.
///
/// Any thread reads it without a lock: a table is never changed, only replaced by a larger one when a new name is
/// looked up. Replaced tables are kept until the layout is deallocated, since another thread may be reading them; there
/// are few.
final class FieldTable: @unchecked Sendable {  // because tables are immutable and published atomically
    /// A slot from 0; to-many relationships from -2 downwards; -1 for other properties.
    typealias Code = Int32
    static let none: Code = -1

    /// The number of names, followed by their codes.
    typealias Current = Atomic<UnsafeMutablePointer<Code>?>
    /// Unsafe because objects read it for each property: access through this table would count a reference.
    let current: UnsafeMutablePointer<Current>
    private let made = Mutex<[UInt]>([])

    init() {
        current = .allocate(capacity: 1)
        current.initialize(to: Current(nil))
    }

    deinit {
        current.deinitialize(count: 1)
        current.deallocate()
        made.withLock { addresses in
            for address in addresses { UnsafeMutablePointer<Code>(bitPattern: address)?.deallocate() }
        }
    }

    func codeInNewTable(of name: PropertyName, in layout: EntityLayout) -> Code {
        made.withLock { addresses in
            let names = PropertyName.all
            let table = UnsafeMutablePointer<Code>.allocate(capacity: names.count + 1)
            table[0] = Code(names.count)
            for (number, string) in names.enumerated() { table[1 + number] = Self.code(of: layout.fields[string]) }
            addresses.append(UInt(bitPattern: table))
            current.pointee.store(table, ordering: .releasing)
            return table[1 + name.number]
        }
    }

    private static func code(of field: EntityLayout.Field?) -> Code {
        switch field {
        case .slot(let slot): Code(slot)
        case .toMany(let index): -2 - Code(index)
        default: none
        }
    }
}

extension NSManagedObject {
    @inline(__always)
    private final func fieldCode(of name: PropertyName) -> FieldTable.Code {
        if let table = layout.currentFields.pointee.load(ordering: .acquiring), name.number < Int(table[0]) {
            return table[1 + name.number]
        }
        return placeCodeInNewTable(of: name)
    }

    @inline(never)
    private final func placeCodeInNewTable(of name: PropertyName) -> FieldTable.Code {
        layout.fieldTable.codeInNewTable(of: name, in: layout)
    }

    /// The slot of an attribute or to-one relationship; nil for any other property.
    @inline(__always)
    final func slot(of name: PropertyName) -> Int? {
        let code = fieldCode(of: name)
        return code >= 0 ? Int(code) : nil
    }

    /// The slot of an attribute or to-one relationship, for reading; nil for other properties. Notifies Observation of
    /// the access.
    @inline(__always)
    final func readSlot(of name: PropertyName) -> Int? {
        noteReading(name)
        return slot(of: name)
    }

    /// The value of a declared property by key-value coding. One that the entity does not have is an undefined key: key-value coding
    /// by itself would call the property's accessors, which call this.
    final func declaredValue(of name: PropertyName) -> Any? {
        let key = name.string
        guard fieldCode(of: name) == FieldTable.none, field(of: key) == nil else { return value(forKey: key) }
        if let primitive = property(ofPrimitiveKey: key) { return primitiveValue(forKey: primitive) }
        return value(forUndefinedKey: key)
    }

    /// Sets a declared property by key-value coding; see ``declaredValue(of:)``.
    final func setDeclaredValue(_ value: Any?, of name: PropertyName) {
        let key = name.string
        guard fieldCode(of: name) == FieldTable.none, field(of: key) == nil else { return setValue(value, forKey: key) }
        if let primitive = property(ofPrimitiveKey: key) { return setPrimitiveValue(value, forKey: primitive) }
        setValue(value, forUndefinedKey: key)
    }

    /// The index of a to-many relationship; nil for other properties, such as fetched ones.
    @inline(__always)
    final func toManyIndexIfAny(of name: PropertyName) -> Int? {
        let code = fieldCode(of: name)
        return code < FieldTable.none ? -2 - Int(code) : nil
    }

    /// The index of a to-many relationship, for reading; nil for other properties. Notifies Observation of the access.
    @inline(__always)
    final func readToManyIndex(of name: PropertyName) -> Int? {
        noteReading(name)
        return toManyIndexIfAny(of: name)
    }

    /// The index of a to-many relationship. Stops the program if the entity has none with that name, which is a
    /// programming error.
    @inline(__always)
    final func toManyIndex(of name: PropertyName) -> Int {
        if let index = toManyIndexIfAny(of: name) { return index }
        preconditionFailure("\(entity.name ?? "") has no to-many relationship \"\(name.string)\".")
    }
}
