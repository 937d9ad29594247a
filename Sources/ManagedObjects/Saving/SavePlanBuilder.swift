import Foundation
import StoreSupport

/// Builds the plan of a save for one store from the changed objects. Does not change objects.
struct SavePlanBuilder {
    private let context: NSManagedObjectContext
    private let store: UInt16
    /// Whether the store keeps transformable values that cannot be encoded.
    private let keepsValues: Bool
    private var inserts = Groups<SavePlan.Insert>()
    private var updates = Groups<SavePlan.Update>()
    private var deletes = Groups<SavePlan.Delete>()
    private var pairs: [SavePlan.PairGroup] = []
    /// The index of each relationship's group, and the group used last: most pairs follow others of their relationship.
    private var pairGroups: [ObjectIdentifier: Int] = [:]
    private var lastPairGroup: (relationship: ObjectIdentifier, index: Int)?
    /// The changed slots of the last updated object.
    private var lastSlots: [Int] = []
    /// Objects whose rows the plan updates.
    private(set) var updated: ContiguousArray<NSManagedObject> = []

    init(context: NSManagedObjectContext, store: any RowStore) {
        self.context = context
        self.store = store.number
        keepsValues = store.hasRowsInMemory
    }

    /// The plan for the changed objects of this store. All of them have permanent keys.
    mutating func plan(for objects: ContiguousArray<NSManagedObject>) throws -> SavePlan {
        for object in objects where object.key.store == store && object.hasChanges { try add(object) }
        return SavePlan(
            inserts: inserts.sorted, updates: updates.sorted, deletes: deletes.sorted, pairs: pairs,
            metadata: nil, author: context.transactionAuthor, contextName: context.name)
    }

    private mutating func add(_ object: NSManagedObject) throws {
        let entity = object.layout.entity
        let isNew = object.flags.contains(.inserted)
        if object.flags.contains(.deleted) {
            guard !isNew else { return }
            addPairs(of: object)
            deletes.append(SavePlan.Delete(key: object.key.number, version: object.version), of: entity)
            return
        }
        if isNew {
            inserts.append(SavePlan.Insert(key: object.key.number, values: try storedValues(of: object)), of: entity)
            addPairs(of: object)
            return
        }
        let slots = object.persistentChangedSlots(sharing: lastSlots)
        lastSlots = slots
        addPairs(of: object)
        guard !slots.isEmpty || object.hasChangedToMany(persistent: true) else { return }
        updates.append(
            SavePlan.Update(
                key: object.key.number, version: object.version, values: try updatedValues(of: object), slots: slots,
                toMany: object.changedToManyIndexes),
            of: entity)
        updated.append(object)
    }

    /// The values of an object with a row, in their stored form.
    private func updatedValues(of object: NSManagedObject) throws -> UpdatedValues {
        guard object.layout.transformableSlots.isEmpty, let values = object.values else {
            return UpdatedValues(try storedValues(of: object))
        }
        return UpdatedValues(values, committed: object.committed, page: object.page, row: Int(object.row))
    }

    /// An object's values in their stored form: transformables as bytes, or as they are where the store keeps those.
    private func storedValues(of object: NSManagedObject) throws -> ContiguousArray<Value> {
        var values = object.currentValues()
        for slot in object.layout.transformableSlots {
            guard case .object(let value) = values[slot], !(value.value is MissingFileValue),
                let attribute = object.layout.slots[slot].attribute
            else { continue }
            do {
                values[slot] = .data(try TransformableCoding.encode(value, attribute: attribute))
            } catch _ where keepsValues {}
        }
        return values
    }

    // MARK: - Order

    /// Assigns positions to the members of changed ordered relationships, before the plan is built: a member that has
    /// only moved becomes a changed object.
    static func numberMembers(
        of objects: ContiguousArray<NSManagedObject>, in context: NSManagedObjectContext, store: UInt16
    ) {
        for object in objects
        where object.key.store == store && object.hasChanges && !object.flags.contains(.deleted) {
            clearPositions(of: object)
            numberMembers(of: object, in: context)
        }
    }

    /// An object that has left an ordered relationship has no position in it any more.
    private static func clearPositions(of object: NSManagedObject) {
        guard !object.layout.positionedSlots.isEmpty, object.values != nil else { return }
        for (reference, position) in object.layout.positionedSlots
        where object.slotValue(reference).isNull && !object.committedValue(reference).isNull {
            object.setPrimitiveSlot(position, to: .null)
        }
    }

    // A failed read changes nothing and makes the plan fail.
    private static func numberMembers(of object: NSManagedObject, in context: NSManagedObjectContext) {
        guard object.toMany.hasStates else { return }
        for (index, state) in object.toMany.enumerated() {
            guard let state, state.isChanged else { continue }
            let field = object.layout.toMany[index]
            guard field.isOrdered, field.isPersistent, object.loadedToManyState(at: index).isLoaded else { continue }
            switch object.layout.storage[index] {
            case .memberSlot(_, let slot?): numberBySlot(slot, state: state, in: context)
            case .pairs: numberPairs(of: state)
            default: continue
            }
        }
    }

    /// Numbers the members of a relationship in a slot of theirs: only the added ones if there is room for them.
    private static func numberBySlot(_ slot: Int, state: ToManyState, in context: NSManagedObjectContext) {
        let members = state.members.keys
        if !state.wasEmpty, !state.isReordered {
            let indexes = state.differences().added.compactMap(state.index).sorted()
            if number(runs: indexes, of: members, in: slot, context: context) { return }
        }
        number(members[...], in: slot, context: context) { _ in true }
    }

    /// Numbers runs of added members between the members around them, which keep their numbers.
    ///
    /// - Returns: False if the members around a run have no numbers, or none between them is free.
    private static func number(
        runs indexes: [Int], of members: ContiguousArray<ObjectKey>, in slot: Int, context: NSManagedObjectContext
    ) -> Bool {
        var position = 0
        while position < indexes.count {
            var end = position + 1
            while end < indexes.count, indexes[end] == indexes[end - 1] + 1 { end += 1 }
            let run = indexes[position]...indexes[end - 1]
            let window = max(0, run.lowerBound - 1)..<min(members.count, run.upperBound + 2)
            guard number(members[window], in: slot, context: context, mayNumber: run.contains) else { return false }
            position = end
        }
        return true
    }

    /// Numbers members in order. Changes nothing if a member would get another number that may not.
    ///
    /// - Parameter mayNumber: Whether the member at an index may get another number.
    @discardableResult
    private static func number(
        _ members: ContiguousArray<ObjectKey>.SubSequence, in slot: Int, context: NSManagedObjectContext,
        mayNumber: (Int) -> Bool
    ) -> Bool {
        let objects = ContiguousArray(members.map { context.object(for: $0) })
        guard objects.allSatisfy(\.isRead) else { return true }
        let existing = ContiguousArray(
            objects.map { object -> Int64? in
                guard case .integer(let position) = object.slotValue(slot), position > 0 else { return nil }
                return position
            })
        let assigned = OrderedPositions.assign(existing)
        let changed = objects.indices.filter { existing[$0] != assigned[$0] }
        guard changed.allSatisfy({ mayNumber(members.startIndex + $0) }) else { return false }
        for index in changed {
            // A new object is written anyway.
            if !objects[index].flags.contains(.inserted) { context.recordChange(of: objects[index]) }
            objects[index].setPrimitiveSlot(slot, to: .integer(assigned[index]))
        }
        return true
    }

    private static func numberPairs(of state: ToManyState) {
        var before: [ObjectKey: Int64] = [:]
        for (key, position) in zip(state.committed ?? [], state.positions ?? []) { before[key] = position }
        state.newPositions = OrderedPositions.assign(ContiguousArray(state.members.keys.map { before[$0] }))
    }

    // MARK: - Pairs

    private mutating func addPairs(of object: NSManagedObject) {
        guard object.toMany.hasStates else { return }
        for (index, state) in object.toMany.enumerated() {
            guard let state, state.isChanged, let pairs = object.layout.pairs[index] else { continue }
            addDifferences(of: object, state: state, pairs: pairs, other: object.layout.links.toMany[index].inverse)
            if pairs.isOrdered { addMoves(of: object, state: state, pairs: pairs) }
        }
    }

    /// The first side of a relationship writes each pair; the second only where the first does not have the change,
    /// because it was read before another context changed it.
    private mutating func addDifferences(
        of object: NSManagedObject, state: ToManyState, pairs: EntityLayout.Pairs, other: RelationshipLinks.End
    ) {
        let relationship = pairs.relationship
        let isReflexive = pairs.isReflexive
        let (added, removed) = state.differences()
        for key in removed {
            // For a relationship that is its own inverse, both objects have the same pair.
            if isReflexive, key.number < object.key.number, isChanged(key, relationship) { continue }
            if !pairs.isFirstSide, writes(key, of: object.key, by: other) { continue }
            append(
                SavePlan.Pair(kind: .delete, source: object.key.number, destination: key.number), to: relationship)
        }
        for key in added {
            if isReflexive, key.number < object.key.number, isChanged(key, relationship) { continue }
            if !pairs.isFirstSide, writes(key, of: object.key, by: other) { continue }
            append(
                SavePlan.Pair(
                    kind: .insert, source: object.key.number, destination: key.number,
                    position: state.newPosition(of: key),
                    inversePosition: pairs.orderedInverse.flatMap { inversePosition(of: object, in: key, by: $0) }),
                to: relationship)
        }
    }

    /// Whether the other end of a relationship writes a pair too.
    private func writes(_ key: ObjectKey, of member: ObjectKey, by end: RelationshipLinks.End) -> Bool {
        guard case .toMany(let index) = end, let object = context.registeredObject(for: key),
            let state = object.toManyState(at: index)
        else { return false }
        return state.isAdded(member) || state.isRemoved(member)
    }

    private func isChanged(_ key: ObjectKey, _ relationship: NSRelationshipDescription) -> Bool {
        guard let object = context.registeredObject(for: key),
            case .toMany(let index)? = object.layout.fields[relationship.name]
        else { return false }
        return object.toManyState(at: index)?.isChanged == true
    }

    private func inversePosition(
        of object: NSManagedObject, in key: ObjectKey, by inverse: NSRelationshipDescription
    ) -> Int64? {
        guard let member = context.registeredObject(for: key),
            case .toMany(let index)? = member.layout.fields[inverse.name]
        else { return nil }
        return member.toManyState(at: index)?.newPosition(of: object.key)
    }

    private mutating func addMoves(
        of object: NSManagedObject, state: ToManyState, pairs: EntityLayout.Pairs
    ) {
        guard let committed = state.committed, let newPositions = state.newPositions else { return }
        var before: [ObjectKey: Int64] = [:]
        for (key, position) in zip(committed, state.positions ?? []) { before[key] = position }
        for (key, position) in zip(state.members.keys, newPositions) {
            guard let old = before[key], old != position else { continue }
            if pairs.isFirstSide {
                append(
                    SavePlan.Pair(
                        kind: .move, source: object.key.number, destination: key.number, position: position),
                    to: pairs.relationship)
            } else if let inverse = pairs.inverse {
                append(
                    SavePlan.Pair(
                        kind: .move, source: key.number, destination: object.key.number, inversePosition: position),
                    to: inverse)
            }
        }
    }

    private mutating func append(_ pair: SavePlan.Pair, to relationship: NSRelationshipDescription) {
        let id = ObjectIdentifier(relationship)
        if let lastPairGroup, lastPairGroup.relationship == id {
            pairs[lastPairGroup.index].pairs.append(pair)
            return
        }
        let index = pairGroups[id] ?? pairs.count
        if index == pairs.count { pairs.append(SavePlan.PairGroup(relationship: relationship, pairs: [])) }
        pairGroups[id] = index
        lastPairGroup = (id, index)
        pairs[index].pairs.append(pair)
    }
}

/// Changes by the entity of their objects.
private struct Groups<Change> {
    private var groups: [SavePlan.Group<Change>] = []
    /// The position of the group to which the last change was added: most changes follow others of their entity.
    private var last = 0

    mutating func append(_ change: consuming Change, of entity: NSEntityDescription) {
        if last >= groups.count || groups[last].entity !== entity {
            last = groups.firstIndex { $0.entity === entity } ?? groups.count
            if last == groups.count { groups.append(SavePlan.Group(entity: entity, changes: [])) }
        }
        groups[last].changes.append(change)
    }

    /// The groups in the order of the model's entities.
    var sorted: [SavePlan.Group<Change>] { groups.sorted { $0.entity.index < $1.entity.index } }
}
