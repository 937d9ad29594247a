import Foundation

/// Which properties of an object an update has changed, one bit each, the highest bit of the first byte first.
///
/// The order: to-one relationships, companions of those that may refer to several entities, positions, attributes,
/// to-many relationships; in each group what is inherited stands first.
struct ChangeBitmap {
    private var bitsBySlot: [[Int]]
    private var bitByToMany: [Int?]
    private let count: Int

    init(_ entity: SQLEntity) {
        let layout = entity.entity.layout
        bitsBySlot = layout.slots.map { _ in [] }
        bitByToMany = layout.toMany.map { _ in nil }
        var next = 0
        func take(_ isMember: (Int) -> Bool, _ bits: inout [[Int]]) {
            for slot in layout.slots.indices where layout.slots[slot].isPersistent && isMember(slot) {
                bits[slot].append(next)
                next += 1
            }
        }
        let kinds = layout.slots.map(\.kind)
        take({ kinds[$0] == .toOne && !layout.slots[$0].isHidden }, &bitsBySlot)
        take({ entity.columns[$0]?.companion != nil }, &bitsBySlot)
        take({ kinds[$0] == .position }, &bitsBySlot)
        take({ layout.slots[$0].attribute != nil }, &bitsBySlot)
        for place in layout.toMany.indices where layout.toMany[place].isPersistent {
            bitByToMany[place] = next
            next += 1
        }
        count = next
    }

    func data(slots: [Int], toMany: Set<Int>) -> Data {
        var data = Data(count: (count + 7) / 8)
        for bit in slots.flatMap({ bitsBySlot[$0] }) + toMany.compactMap({ bitByToMany[$0] }) {
            data[bit / 8] |= 0x80 >> UInt8(bit % 8)
        }
        return data
    }
}
