import FoundationAdditions
import Foundation

/// The ordered set that ``NSManagedObject/mutableOrderedSetValue(forKey:)`` and
/// ``NSManagedObject/primitiveValue(forKey:)`` return.
///
/// Foundation's class uses storage of its own that a subclass cannot access. So this set also contains the members,
/// lets Foundation change them, and then assigns them to the relationship; single changes go to the relationship
/// directly.
final class RelationshipOrderedSet: NSMutableOrderedSet {
    private var owner: NSManagedObject?
    private var index = 0
    /// Whether changes do not update the inverse, because the accessor that makes them does.
    private var isPrimitive = false
    /// The revision of the relationship whose members this set has.
    private var revision = 0
    /// Whether the members could be read; else only single ones can be added and removed.
    private var isComplete = true

    convenience init(owner: NSManagedObject, index: Int, isPrimitive: Bool = false) {
        self.init(capacity: 0)
        super.addObjects(from: owner.members(at: index))
        self.owner = owner
        self.index = index
        self.isPrimitive = isPrimitive
        let state = owner.loadedToManyState(at: index)
        revision = state.revision
        isComplete = state.isLoaded
    }

    override init(capacity numItems: Int) { super.init(capacity: numItems) }

    required init(arrayLiteral elements: Any...) { super.init(capacity: elements.count) }

    required init?(coder: NSCoder) { nil }

    // MARK: - Everyday changes

    override func add(_ object: Any) { insert(object, at: count) }

    override func addObjects(from array: [Any]) {
        guard owner != nil else { return super.addObjects(from: array) }
        changeAtOnce({ $0.addition(of: array.compactMap { $0 as? NSManagedObject }, at: $1) }) {
            for object in array { add(object) }
        }
    }

    override func insert(_ object: Any, at position: Int) {
        guard let object = object as? NSManagedObject, !contains(object) else { return }
        change {
            let position = position == count ? nil : position
            super.insert(object, at: position ?? count)
            owner?.addMember(object, at: index, position: position, primitive: isPrimitive)
        }
    }

    override func removeObject(at position: Int) {
        guard let object = object(at: position) as? NSManagedObject else { return }
        change {
            super.removeObject(at: position)
            owner?.removeMember(object, at: index, primitive: isPrimitive)
        }
    }

    override func remove(_ object: Any) {
        guard let object = object as? NSManagedObject else { return super.remove(object) }
        change {
            if let place = place(of: object) { super.removeObject(at: place) } else { super.remove(object) }
            owner?.removeMember(object, at: index, primitive: isPrimitive)
        }
    }

    override func index(of object: Any) -> Int {
        (object as? NSManagedObject).flatMap(place) ?? super.index(of: object)
    }

    /// The position of a member, if the relationship has it at the same one: Foundation's set compares one member after the other.
    private func place(of object: NSManagedObject) -> Int? {
        guard let place = owner?.loadedToManyState(at: index).index(of: object.key), place < count,
            self.object(at: place) as? NSManagedObject === object
        else { return nil }
        return place
    }

    /// Changes one member in this set and in the relationship. If nothing else has changed the relationship, this set still
    /// has its members, and is returned for it again.
    ///
    /// - Parameter revisions: By how many revisions of the relationship the change counts.
    private func change(revisions: Int = 1, _ body: () -> Void) {
        guard !isPrimitive, let owner else { return body() }
        let state = owner.loadedToManyState(at: index)
        let revision = state.revision
        let wasCurrent = revision == self.revision
        body()
        guard wasCurrent, state.revision == revision + revisions else { return }
        self.revision = state.revision
        owner.keepCollection(self, at: index)
    }

    // MARK: - Changes of many members

    /// Changes several members. Observers of the relationship receive one change with all of them.
    private func changeAtOnce(_ members: (NSManagedObject, Int) -> MemberChange, _ changes: () -> Void) {
        guard let owner, !isPrimitive else { return changes() }
        owner.changeMembersAtOnce(at: index, members(owner, index), changes)
    }

    /// Keeps some members, in their order.
    private func keepOnly(where isKept: (Any) -> Bool) {
        let removed = array.filter { !isKept($0) }
        changeAtOnce({ $0.removal(of: removed.compactMap { $0 as? NSManagedObject }, at: $1) }) {
            replaceAll(array.filter(isKept))
        }
    }

    private func makeRelationshipEqual() {
        guard isComplete else { return }
        // All members come from the relationship or from `insert`, so their types are right.
        try? owner?.setMembers(array.compactMap { $0 as? NSManagedObject }, at: index, primitive: isPrimitive)
    }

    override func replaceObject(at position: Int, with object: Any) {
        let object = object as? NSManagedObject
        changeAtOnce({ $0.replacement(at: [position], by: object.map { [$0] } ?? [], at: $1) }) {
            if let object { super.replaceObject(at: position, with: object) }
            makeRelationshipEqual()
        }
    }

    override func setObject(_ object: Any, at position: Int) {
        super.setObject(object, at: position)
        makeRelationshipEqual()
    }

    override func exchangeObject(at first: Int, withObjectAt second: Int) {
        super.exchangeObject(at: first, withObjectAt: second)
        makeRelationshipEqual()
    }

    override func moveObjects(at indexes: IndexSet, to position: Int) {
        if indexes.count == 1, let first = indexes.first, let owner, isComplete, !isPrimitive,
            let moved = object(at: first) as? NSManagedObject
        {
            let place = Swift.min(position, count - 1)
            guard place != first else { return }
            return change(revisions: 2) {
                super.removeObject(at: first)
                super.insert(moved, at: place)
                owner.moveMember(moved, at: index, to: place)
            }
        }
        // Foundation's implementation removes and inserts one by one through this class; one step changes the order
        // only once.
        let moved = indexes.map { object(at: $0) }
        var rest = array.enumerated().filter { !indexes.contains($0.offset) }.map(\.element)
        rest.insert(contentsOf: moved, at: Swift.min(position, rest.count))
        replaceAll(rest)
    }

    override func insert(_ objects: [Any], at indexes: IndexSet) {
        let added = objects.compactMap { $0 as? NSManagedObject }
        changeAtOnce({ _, _ in MemberChange(.insertion, added: added, indexes: indexes) }) {
            for (object, position) in zip(objects, indexes) { insert(object, at: position) }
        }
    }

    override func replaceObjects(at indexes: IndexSet, with objects: [Any]) {
        let added = objects.compactMap { $0 as? NSManagedObject }
        changeAtOnce({ $0.replacement(at: indexes, by: added, at: $1) }) {
            super.replaceObjects(at: indexes, with: objects)
            makeRelationshipEqual()
        }
    }

    override func removeObjects(in range: NSRange) {
        removeObjects(at: IndexSet(integersIn: range.location..<range.location + range.length))
    }

    override func removeObjects(at indexes: IndexSet) {
        let removed = indexes.compactMap { object(at: $0) as? NSManagedObject }
        changeAtOnce({ $0.removal(of: removed, at: $1) }) {
            for position in indexes.reversed() { removeObject(at: position) }
        }
    }

    override func removeAllObjects() { keepOnly { _ in false } }

    override func removeObjects(in array: [Any]) {
        changeAtOnce({ $0.removal(of: array.compactMap { $0 as? NSManagedObject }, at: $1) }) {
            for object in array { remove(object) }
        }
    }

    override func intersect(_ other: NSOrderedSet) { keepOnly { other.contains($0) } }

    override func minus(_ other: NSOrderedSet) { keepOnly { !other.contains($0) } }

    override func union(_ other: NSOrderedSet) { addObjects(from: other.array) }

    override func intersectSet(_ other: Set<AnyHashable>) {
        keepOnly { ($0 as? NSManagedObject).map(other.contains) ?? false }
    }

    override func minusSet(_ other: Set<AnyHashable>) {
        keepOnly { !(($0 as? NSManagedObject).map(other.contains) ?? false) }
    }

    override func unionSet(_ other: Set<AnyHashable>) { addObjects(from: other.map(\.base)) }

    override func sortRange(
        _ range: NSRange, options: NSSortOptions = [], usingComparator comparator: (Any, Any) -> ComparisonResult
    ) {
        super.sortRange(range, options: options, usingComparator: comparator)
        makeRelationshipEqual()
    }

    override func sort(comparator: (Any, Any) -> ComparisonResult) {
        super.sort(comparator: comparator)
        makeRelationshipEqual()
    }

    override func sort(options: NSSortOptions = [], usingComparator comparator: (Any, Any) -> ComparisonResult) {
        super.sort(options: options, usingComparator: comparator)
        makeRelationshipEqual()
    }

    private func replaceAll(_ objects: [Any]) {
        let owner = owner
        self.owner = nil
        super.removeObjects(at: IndexSet(0..<count))
        super.addObjects(from: objects)
        self.owner = owner
        makeRelationshipEqual()
    }
}
