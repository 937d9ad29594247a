import FoundationAdditions
import Foundation

// Key-value observing of to-many relationships. An observer receives the kind of a change, the members that were added and removed, and
// their indexes in an ordered relationship.
//
// Setting a relationship has the kind `.setting`. A change through a mutable collection, a generated method or the inverse relationship
// has another kind. Apple documents this for mutable collections; for the inverse it is assumed. Nothing is collected for an object
// without observers.

extension NSManagedObject {
    /// Makes a change of members between the calls that announce it.
    @inline(__always)
    final func changeMembers(of name: String, _ members: @autoclosure () -> MemberChange, _ change: () -> Void) {
        guard flags.contains(.observed), let context, !context.observations.isPart(of: self, name) else {
            willChangeValue(forKey: name)
            change()
            return didChangeValue(forKey: name)
        }
        announce(members(), of: name, in: context, isWhole: false, change)
    }

    /// Changes several members. Observers receive one change with all of them.
    @inline(__always)
    final func changeMembersAtOnce(at index: Int, _ members: @autoclosure () -> MemberChange, _ changes: () -> Void) {
        let name = layout.toMany[index].name
        guard flags.contains(.observed), let context, !context.observations.isPart(of: self, name) else {
            return changes()
        }
        announce(members(), of: name, in: context, isWhole: true, changes)
    }

    /// Adds members, at the end of an ordered relationship. Observers receive one change.
    final func addMembers(_ members: [NSManagedObject], at index: Int, primitive: Bool = false) {
        func add() { for member in members { addMember(member, at: index, primitive: primitive) } }
        primitive ? add() : changeMembersAtOnce(at: index, addition(of: members, at: index), add)
    }

    /// Removes members. Observers receive one change.
    final func removeMembers(_ members: [NSManagedObject], at index: Int, primitive: Bool = false) {
        func remove() { for member in members { removeMember(member, at: index, primitive: primitive) } }
        primitive ? remove() : changeMembersAtOnce(at: index, removal(of: members, at: index), remove)
    }

    private func announce(
        _ members: MemberChange, of name: String, in context: NSManagedObjectContext, isWhole: Bool,
        _ change: () -> Void
    ) {
        context.observations.announce(members, of: self, name, isWhole: isWhole)
        willChangeValue(forKey: name)
        change()
        didChangeValue(forKey: name)
        context.observations.complete(of: self, name)
    }

    // MARK: - The kinds

    /// The addition of objects, at a position of an ordered relationship or at its end. Those that are members already do not count.
    final func addition(of objects: [NSManagedObject], at index: Int, position: Int? = nil) -> MemberChange {
        let state = ensureToManyState(at: index)
        var seen: Set<ObjectKey> = []
        let added = objects.filter { object in
            let isMember = state.isLoaded ? state.contains(object.key) : state.isAdded(object.key)
            return !isMember && seen.insert(object.key).inserted
        }
        guard layout.toMany[index].isOrdered else { return MemberChange(.insertion, added: added) }
        let first = position ?? loadedToManyState(at: index).count
        return MemberChange(.insertion, added: added, indexes: IndexSet(integersIn: first..<first + added.count))
    }

    /// The removal of members; objects that are none do not count.
    final func removal(of objects: [NSManagedObject], at index: Int) -> MemberChange {
        guard layout.toMany[index].isOrdered else {
            let state = ensureToManyState(at: index)
            let removed = objects.filter { object in
                state.isLoaded ? state.contains(object.key) : !state.isRemoved(object.key)
            }
            return MemberChange(.removal, removed: removed)
        }
        let state = loadedToManyState(at: index)
        var removed: [Int: NSManagedObject] = [:]
        for object in objects { if let place = state.index(of: object.key) { removed[place] = object } }
        let places = IndexSet(removed.keys)
        return MemberChange(.removal, removed: places.compactMap { removed[$0] }, indexes: places)
    }

    /// The replacement of the members at some places of an ordered relationship.
    final func replacement(at places: IndexSet, by objects: [NSManagedObject], at index: Int) -> MemberChange {
        let members = members(at: index)
        let removed = places.filter(members.indices.contains).map { members[$0] }
        return MemberChange(.replacement, added: objects, removed: removed, indexes: places)
    }

    // MARK: - Announced by a program

    /// The change that a program announces for a set, as Foundation's documentation of `NSKeyValueSetMutationKind` says.
    private func change(
        _ kind: NSKeyValueSetMutationKind, _ objects: Set<AnyHashable>, at index: Int
    ) -> MemberChange {
        let objects = objects.compactMap { $0.base as? NSManagedObject }
        let members = members(at: index)
        switch kind {
        case .union:
            let before = Set(members)
            return MemberChange(.insertion, added: objects.filter { !before.contains($0) })
        case .minus:
            let before = Set(members)
            return MemberChange(.removal, removed: objects.filter { before.contains($0) })
        case .intersect:
            let kept = Set(objects)
            return MemberChange(.removal, removed: members.filter { !kept.contains($0) })
        case .set:
            let (before, after) = (Set(members), Set(objects))
            return MemberChange(
                .replacement, added: objects.filter { !before.contains($0) },
                removed: members.filter { !after.contains($0) })
        }
    }

    final func announceChange(of key: String, _ kind: NSKeyValueSetMutationKind, _ objects: Set<AnyHashable>) {
        if flags.contains(.observed), let context, case .toMany(let index)? = field(of: key) {
            context.observations.announce(change(kind, objects, at: index), of: self, key, isWhole: false)
        }
        willChangeValue(forKey: key)
    }

    final func completeChange(of key: String, _ kind: NSKeyValueSetMutationKind, _ objects: Set<AnyHashable>) {
        guard let context, var members = context.observations.announced(of: self, key) else {
            return didChangeValue(forKey: key)
        }
        // A program may know the new members only after the change.
        if kind == .set, members.added.isEmpty {
            members.added = objects.compactMap { $0.base as? NSManagedObject }
            context.observations.correct(members, of: self, key)
        }
        didChangeValue(forKey: key)
        context.observations.complete(of: self, key)
    }

    /// To be called before a primitive value of an ordered relationship changes at some places.
    public func willChange(_ changeKind: NSKeyValueChange, valuesAt indexes: IndexSet, forKey key: String) {
        if changeKind != .setting, flags.contains(.observed), let context, case .toMany(let index)? = field(of: key) {
            let members = replacement(at: changeKind == .insertion ? [] : indexes, by: [], at: index).removed
            context.observations.announce(
                MemberChange(changeKind, removed: members, indexes: indexes), of: self, key, isWhole: false)
        }
        willChangeValue(forKey: key)
    }

    /// To be called after a primitive value of an ordered relationship has changed at some places.
    public func didChange(_ changeKind: NSKeyValueChange, valuesAt indexes: IndexSet, forKey key: String) {
        guard changeKind != .setting, let context, var members = context.observations.announced(of: self, key),
            case .toMany(let index)? = field(of: key)
        else { return didChangeValue(forKey: key) }
        if changeKind != .removal {
            let now = self.members(at: index)
            members.added = indexes.filter(now.indices.contains).map { now[$0] }
            context.observations.correct(members, of: self, key)
        }
        didChangeValue(forKey: key)
        context.observations.complete(of: self, key)
    }
}
