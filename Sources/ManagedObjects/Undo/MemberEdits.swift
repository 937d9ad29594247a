/// How the members of a to-many relationship have changed since an event began, for the undo manager.
///
/// What was done is listed, and the members are not copied: a step of undo costs as much as its changes. A member that has left
/// its place in an ordered relationship is listed with its former position, as long as these are few.
struct MemberEdits {
    /// The former position of an ordered member.
    struct Place {
        var key: ObjectKey
        var position: Int
    }

    private(set) var added = KeyList()
    private(set) var removed = KeyList()
    /// The members that have left their places, by ascending former position. Some of them may be members again.
    private(set) var places: [Place] = []
    /// All former members in order; nil unless more have left their places than `mostPlaces`.
    private(set) var order: ContiguousArray<ObjectKey>?

    /// Finding a former position takes a step for each member that was added or has left its place.
    private static let mostPlaces = 64

    mutating func noteAddition(of key: ObjectKey) {
        if !removed.remove(key, keepsOrder: true) { added.append(key) }
    }

    mutating func noteRemoval(of key: ObjectKey) {
        if !added.remove(key, keepsOrder: true) { removed.append(key) }
    }

    /// Notes that an ordered member leaves its place. Called while it is still a member.
    mutating func noteDeparture(of key: ObjectKey, from members: inout KeyList) {
        guard order == nil, !added.contains(key), !places.contains(where: { $0.key == key }) else { return }
        guard added.count + places.count < Self.mostPlaces else { return noteOrder(of: members.keys) }
        guard var position = members.rank(of: key) else { return }
        // Those before it that were not there, and those that were there and are not.
        for other in added.keys where members.precedes(other, key) { position -= 1 }
        for place in places where members.precedes(place.key, key) { position -= 1 }
        for place in places where place.position <= position { position += 1 }
        let index = places.firstIndex { $0.position > position } ?? places.endIndex
        places.insert(Place(key: key, position: position), at: index)
    }

    /// Notes the former order before members change their order.
    mutating func noteOrder(of members: ContiguousArray<ObjectKey>) {
        guard order == nil else { return }
        order = former(members)
        places = []
    }

    /// The former members, in order; without those of an unordered relationship that were removed.
    private mutating func former(_ members: ContiguousArray<ObjectKey>) -> ContiguousArray<ObjectKey> {
        if let order { return order }
        let moved = Set(places.lazy.map(\.key))
        var former = ContiguousArray(members.filter { !added.contains($0) && !moved.contains($0) })
        for place in places { former.insert(place.key, at: min(place.position, former.count)) }
        return former
    }

    /// All former members of a relationship that has others now.
    mutating func allFormer(_ members: ContiguousArray<ObjectKey>) -> ContiguousArray<ObjectKey> {
        let former = former(members)
        let known = Set(former)
        return former + removed.keys.filter { !known.contains($0) }
    }

    var isEmpty: Bool { added.isEmpty && removed.isEmpty && places.isEmpty && order == nil }

    /// Replaces temporary keys by permanent ones.
    mutating func resolve(by keys: PermanentKeys) {
        replace { $0.isTemporary ? keys.permanent($0) : $0 }
    }

    mutating func replace(_ transform: (ObjectKey) -> ObjectKey) {
        added.replace(transform)
        removed.replace(transform)
        for index in places.indices { places[index].key = transform(places[index].key) }
        order = order.map { ContiguousArray($0.map(transform)) }
    }
}
