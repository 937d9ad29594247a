import Foundation
import ManagedObjects
import Synchronization

/// The bit mask of the properties that an update has changed, one bit each, the highest bit of the first byte first.
///
/// The order: to-one relationships, companion columns of those that may refer to several entities, positions,
/// attributes, to-many relationships; in each group inherited properties come first.
struct ChangeBitmap: Sendable {
    private var bitsBySlot: [[Int]]
    private var bitByToMany: [Int?]
    /// The names of the properties, in the order of their bits. Companions and positions have the to-one relationship that they
    /// belong to.
    private(set) var propertyNames: [String?] = []

    private var byteCount: Int { (propertyNames.count + 7) / 8 }

    init(_ entity: SQLEntity) {
        let described = entity.entity
        bitsBySlot = described.slots.map { _ in [] }
        bitByToMany = described.toMany.map { _ in nil }
        for kind in 0..<4 {
            for (index, slot) in described.slots.enumerated() where slot.isPersistent {
                let isMember =
                    switch kind {
                    case 0: slot.kind == .toOne && !slot.isHidden
                    case 1: entity.columns[index]?.companion != nil
                    case 2: slot.kind == .position
                    default: slot.attribute != nil
                    }
                guard isMember else { continue }
                bitsBySlot[index].append(propertyNames.count)
                propertyNames.append(Self.property(of: slot, in: described))
            }
        }
        for (index, toMany) in described.toMany.enumerated() where !toMany.isTransient {
            bitByToMany[index] = propertyNames.count
            propertyNames.append(toMany.name)
        }
    }

    /// The property of the entity that a slot belongs to: for an element of a composite attribute, the composite; nil
    /// for a slot that serves a relationship of another entity.
    private static func property(of slot: SchemaSlot, in entity: SchemaEntity) -> String? {
        if let name = slot.name { return String(name.prefix { $0 != "." }) }
        return entity.relationshipNumbers[slot.property] == slot.relationship ? slot.property : nil
    }

    func data(slots: [Int], toMany: Set<Int>) -> Data {
        var data = Data(count: byteCount)
        for bit in slots.flatMap({ bitsBySlot[$0] }) + toMany.compactMap({ bitByToMany[$0] }) {
            data[bit / 8] |= 0x80 >> UInt8(bit % 8)
        }
        return data
    }

    /// The properties whose bits are set; nil if the data does not have the length of a mask of the entity.
    ///
    /// - Parameter isPadded: Whether more bytes may follow, which are ignored.
    func properties(in data: Data, isPadded: Bool) -> Set<String>? {
        guard isPadded ? data.count >= byteCount : data.count == byteCount else { return nil }
        var found: Set<String> = []
        for (bit, property) in propertyNames.enumerated() {
            guard let property, data[data.startIndex + bit / 8] & (0x80 >> UInt8(bit % 8)) != 0 else { continue }
            found.insert(property)
        }
        return found
    }
}

/// The bitmaps of a store's entities, created on first use.
final class ChangeBitmaps: PropertyMasks {
    private let schema: SQLSchema
    let areReliable: Bool
    private let known = Mutex<[Int: ChangeBitmap]>([:])

    /// - Parameter areReliable: False for stores of macOS 10.13, whose masks have a fixed length and random bits.
    init(_ schema: SQLSchema, areReliable: Bool) {
        self.schema = schema
        self.areReliable = areReliable
    }

    func bitmap(of entity: SQLEntity) -> ChangeBitmap {
        known.withLock { known in
            if let bitmap = known[entity.entity.index] { return bitmap }
            let bitmap = ChangeBitmap(entity)
            known[entity.entity.index] = bitmap
            return bitmap
        }
    }

    func properties(in mask: Data, entityIndex: Int) -> Set<String>? {
        schema.entity(at: entityIndex).flatMap { bitmap(of: $0).properties(in: mask, isPadded: !areReliable) }
    }
}
