import Foundation
import ManagedObjects
import Synchronization

/// The bit mask of the properties that an update has changed, one bit each, the highest bit of the first byte first.
///
/// The order: to-one relationships, companion columns of those that may refer to several entities, positions,
/// attributes, to-many relationships; in each group inherited properties come first.
struct ChangeBitmap: @unchecked Sendable {  // because properties of a frozen model do not change
    private var bitsBySlot: [[Int]]
    private var bitByToMany: [Int?]
    /// The property of each bit. Companions and positions have the to-one relationship that they belong to.
    private var properties: [NSPropertyDescription?] = []

    /// The names of the properties, in the order of their bits.
    var propertyNames: [String?] { properties.map { $0?.name } }

    private var byteCount: Int { (properties.count + 7) / 8 }

    init(_ entity: SQLEntity) {
        let layout = entity.entity.layout
        bitsBySlot = layout.slots.map { _ in [] }
        bitByToMany = layout.toMany.map { _ in nil }
        for kind in 0..<4 {
            for (index, slot) in layout.slots.enumerated() where slot.isPersistent {
                let isMember =
                    switch kind {
                    case 0: slot.kind == .toOne && !slot.isHidden
                    case 1: entity.columns[index]?.companion != nil
                    case 2: slot.kind == .position
                    default: slot.attribute != nil
                    }
                guard isMember else { continue }
                bitsBySlot[index].append(properties.count)
                properties.append(Self.property(of: slot, in: entity.entity))
            }
        }
        for (index, toMany) in layout.toMany.enumerated() where toMany.isPersistent {
            bitByToMany[index] = properties.count
            properties.append(toMany.relationship)
        }
    }

    /// The property of the entity that a slot belongs to: for an element of a composite attribute, the composite; nil
    /// for a slot that serves a relationship of another entity.
    private static func property(of slot: EntityLayout.Slot, in entity: NSEntityDescription) -> NSPropertyDescription? {
        let name = slot.name ?? slot.property.name
        let first = name.prefix { $0 != "." }
        guard let property = entity.propertiesByName[String(first)] else { return nil }
        return slot.isHidden && property !== slot.property ? nil : property
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
    func properties(in data: Data, isPadded: Bool) -> Set<NSPropertyDescription>? {
        guard isPadded ? data.count >= byteCount : data.count == byteCount else { return nil }
        var found: Set<NSPropertyDescription> = []
        for (bit, property) in properties.enumerated() {
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

    func properties(in mask: Data, entityIndex: Int) -> Set<NSPropertyDescription>? {
        guard schema.model.orderedEntities.indices.contains(entityIndex),
            let entity = schema.entity(schema.model.orderedEntities[entityIndex])
        else { return nil }
        return bitmap(of: entity).properties(in: mask, isPadded: !areReliable)
    }
}
