import Synchronization

/// The places of an entity's properties by the number of their name: what typed accessors look into.
///
/// Read by any thread without a lock: a table is never changed, only replaced by a larger one when a name has come that
/// it does not know. Replaced tables stay until the layout goes, since somebody may be reading them; there are few.
final class PlaceTable: @unchecked Sendable {  // because tables are immutable and published atomically
    /// A slot from 0; to-many relationships from -2 downwards; -1 for what is neither.
    typealias Code = Int32
    static let none: Code = -1

    /// A number of names, then their codes.
    private let current = Atomic<UnsafeMutablePointer<Code>?>(nil)
    private let made = Mutex<[UInt]>([])

    deinit {
        made.withLock { addresses in
            for address in addresses { UnsafeMutablePointer<Code>(bitPattern: address)?.deallocate() }
        }
    }

    @inline(__always)
    func code(of name: PropertyName, in layout: EntityLayout) -> Code {
        if let table = current.load(ordering: .acquiring), name.number < Int(table[0]) {
            return table[1 + name.number]
        }
        return codeInNewTable(of: name, in: layout)
    }

    @inline(never)
    private func codeInNewTable(of name: PropertyName, in layout: EntityLayout) -> Code {
        made.withLock { addresses in
            let names = PropertyName.all
            let table = UnsafeMutablePointer<Code>.allocate(capacity: names.count + 1)
            table[0] = Code(names.count)
            for (number, string) in names.enumerated() { table[1 + number] = Self.code(of: layout.places[string]) }
            addresses.append(UInt(bitPattern: table))
            current.store(table, ordering: .releasing)
            return table[1 + name.number]
        }
    }

    private static func code(of place: EntityLayout.Place?) -> Code {
        switch place {
        case .slot(let slot): Code(slot)
        case .toMany(let index): -2 - Code(index)
        default: none
        }
    }
}

extension NSManagedObject {
    /// The slot of an attribute or to-one relationship; nil for anything else.
    @inline(__always)
    final func slot(of name: PropertyName) -> Int? {
        let code = layout.placeTable.code(of: name, in: layout)
        return code >= 0 ? Int(code) : nil
    }

    /// The place of a to-many relationship; a programmer's error where the entity has none of the name.
    @inline(__always)
    final func toManyIndex(of name: PropertyName) -> Int {
        let code = layout.placeTable.code(of: name, in: layout)
        precondition(
            code < PlaceTable.none, "\(entity.name ?? "") has no to-many relationship \"\(name.string)\".")
        return -2 - Int(code)
    }
}
