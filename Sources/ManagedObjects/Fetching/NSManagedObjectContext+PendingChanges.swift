import Foundation
import FoundationAdditions
import PredicateLanguage

// Unsaved changes applied to the rows of a fetch.

/// The unsaved changes that matter to a fetch and can be decided without the rows: only the changed objects of the
/// fetched entity are evaluated. The rows of all others match and are ordered as the store says.
struct PendingMatches {
    /// The changed objects that match as they are now: by primary key, then new ones in the order of their creation.
    var matching: [NSManagedObject] = []
    /// The changed objects that may have rows, by entity.
    var stored: [ContiguousArray<NSManagedObject>] = []
    /// Whether a value selected the objects that were evaluated: then a fetch of the same value finds few rows.
    var areSelected = false

    /// Whether the rows are the result.
    var isEmpty: Bool { matching.isEmpty && stored.allSatisfy(\.isEmpty) }
    var storedCount: Int { stored.reduce(0) { $0 + $1.count } }
    var hasStored: Bool { stored.contains { !$0.isEmpty } }
    var storedKeys: [ObjectKey] { stored.flatMap { $0.map(\.key) } }
    /// Those that do not match.
    var removedKeys: [ObjectKey] {
        let remaining = Set(matching.map { ObjectIdentifier($0) })
        return stored.flatMap { $0.filter { !remaining.contains(ObjectIdentifier($0)) }.map(\.key) }
    }

    /// The number of changed rows up to which a statement excludes them at once. With more, a fetch first reads without them.
    static let fewStored = 64
}

extension NSManagedObjectContext {
    /// Whether unsaved changes may affect the result.
    final func needsPendingChanges(_ specification: FetchSpecification) -> Bool {
        specification.includesPendingChanges && hasUnsavedChanges && specification.resultType != .dictionaryResultType
    }

    /// The unsaved changes that matter to a request; nil if rows of unchanged objects must be evaluated too: changes of
    /// related objects affect the predicate or the order, or a store cannot be asked for a part of the result.
    final func pendingMatches(
        _ specification: FetchSpecification, entity: NSEntityDescription
    ) throws -> PendingMatches? {
        if let parentContext {
            // Adopts the keys that the parent has assigned, which it is asked to exclude.
            query(parentContext) { _ in }
        } else {
            let stores = try fetchedStores(specification, entity: entity)
            guard stores.count == 1, stores[0].objectStore == nil, !fetchesObjects(specification, stores) else {
                return nil
            }
        }
        let listed = changed
        tracker.index.follow(listed, isNested: parentContext != nil)
        let reach = RequestReach(of: specification, entity: entity, sectionNameKeyPath: nil)
        if reach.isWide, tracker.index.entities.contains(where: { reach.contains($0) }) { return nil }
        var pending = PendingMatches(areSelected: true)
        let required = specification.predicate.map { RequiredValue.all(of: $0.embeddedNode) } ?? []
        let excluded = Set(specification.excludedKeys)
        // Objects whose changes were undone stay listed until the next save. Their rows are what they are.
        let hasReverted = tracker.counts.total < listed.count
        let entities =
            specification.includesSubentities ? tracker.index.entities.filter(entity.subtree.contains) : [entity.index]
        for index in entities {
            guard let group = tracker.index.group(index) else { continue }
            let stored = hasReverted ? group.stored.filter(\.isPending) : group.stored
            if !stored.isEmpty { pending.stored.append(stored) }
            let (candidates, areSelected) = tracker.index.candidates(of: index, for: required)
            pending.areSelected = pending.areSelected && areSelected
            for object in candidates where object.isPendingResult && !excluded.contains(object.key) {
                if specification.mayContain(object), try specification.predicate?.holds(for: object) != false {
                    pending.matching.append(object)
                }
            }
        }
        if pending.matching.count > 1 { pending.matching.sort { $0.key.precedesInStore($1.key) } }
        return pending
    }

    /// The result of a request, evaluated on all objects that the store finds: for changes that affect unchanged objects.
    final func evaluatedObjects(
        _ specification: FetchSpecification, entity: NSEntityDescription
    ) throws -> [NSManagedObject] {
        var asked = specification
        asked.fetchOffset = 0
        asked.fetchLimit = 0
        asked.fetchBatchSize = 0
        asked.includesPropertyValues = true
        var found = try committedObjects(asked, entity: entity)
        try applyPendingChanges(to: &found, specification: specification, entity: entity)
        try sort(&found, by: specification.sortDescriptors ?? [])
        return Array(specification.window(of: found[...]))
    }

    private func applyPendingChanges(
        to found: inout [NSManagedObject], specification: FetchSpecification, entity: NSEntityDescription
    ) throws {
        let predicate = specification.predicate
        let excluded = Set(specification.excludedKeys)
        func belongs(_ object: NSManagedObject) throws -> Bool {
            let isOfEntity =
                specification.includesSubentities
                ? object.entity.isKindOf(entity: entity) : object.entity === entity
            guard isOfEntity, !object.flags.contains(.deleted), !excluded.contains(object.key),
                specification.mayContain(object)
            else { return false }
            return try predicate?.holds(for: object) != false
        }
        // A predicate may depend on related objects that have changed, so every object found is evaluated again.
        found = try found.filter { try !$0.flags.contains(.deleted) && (predicate == nil || belongs($0)) }
        var present = Set(found.map(ObjectIdentifier.init))
        for object in changed where try object.hasChanges && belongs(object) {
            if present.insert(ObjectIdentifier(object)).inserted { found.append(object) }
        }
    }

    final func sort(_ objects: inout [NSManagedObject], by descriptors: [NSSortDescriptor]) throws {
        guard !descriptors.isEmpty else { return }
        // A stable sort: objects that compare equal keep the store's order, so that the result is deterministic.
        objects = try RowOrder(ofObjectsBy: descriptors).sort(objects)
    }
}

extension NSManagedObject {
    /// Whether the object is among those that a fetch adds to the rows or takes from them, and was not deleted.
    fileprivate final var isPendingResult: Bool { isPending && !flags.contains(.deleted) }

    /// Whether the object has unsaved changes, which have been noticed.
    @inline(__always)
    final var isPending: Bool { !flags.isDisjoint(with: .changes) }
}

extension ObjectKey {
    /// The order of rows that sort descriptors do not distinguish: by primary key, new objects last.
    fileprivate func precedesInStore(_ other: ObjectKey) -> Bool {
        isTemporary == other.isTemporary ? number.magnitude < other.number.magnitude : other.isTemporary
    }
}

extension FetchSpecification {
    /// Whether an object's store is among those that the request asks.
    fileprivate func mayContain(_ object: NSManagedObject) -> Bool {
        guard let affectedStores else { return true }
        if !object.key.isTemporary { return affectedStores.contains { $0.number == object.key.store } }
        let store = try? object.context?.rootCoordinator?.rowStore(for: object.entity, assigned: object.assignedStore)
        return store.map { store in affectedStores.contains { $0.number == store.number } } ?? true
    }

    /// The part of a result between offset and limit.
    func window<Results: RandomAccessCollection>(of results: Results) -> Results.SubSequence {
        let rest = results.dropFirst(max(0, fetchOffset))
        return fetchLimit > 0 ? rest.prefix(fetchLimit) : rest
    }

    /// The number of results up to the end of the window; nil without a limit.
    fileprivate var windowEnd: Int? {
        guard fetchLimit > 0 else { return nil }
        let (end, isTooLarge) = max(0, fetchOffset).addingReportingOverflow(fetchLimit)
        return isTooLarge ? nil : end
    }
}

/// Corrects the rows of a fetch by the unsaved changes, without reading more rows than the limit and as many as have changed.
struct PendingCorrection<Element> {
    let context: NSManagedObjectContext
    let pending: PendingMatches
    /// The request, with its order.
    let specification: FetchSpecification
    let entity: NSEntityDescription
    /// The elements of a request without unsaved changes.
    let read: (FetchSpecification) throws -> [Element]
    /// The object of an element, if it is registered.
    let registered: (Element) -> NSManagedObject?
    let object: (Element) -> NSManagedObject
    let element: (NSManagedObject) -> Element

    func results() throws -> [Element] {
        (specification.sortDescriptors ?? []).isEmpty ? try unsorted() : try sorted()
    }

    // MARK: - In order

    /// Changed objects are placed among the rows of the others by binary search. Those may begin before the window by as many
    /// rows as there are matching changed objects, each of which moves them by one.
    private func sorted() throws -> [Element] {
        let order = try RowOrder(ofObjectsBy: specification.sortDescriptors ?? [])
        let offset = max(0, specification.fetchOffset)
        var asked = specification
        asked.fetchOffset = max(0, offset - pending.matching.count)
        asked.fetchLimit = specification.windowEnd.map { $0 - asked.fetchOffset } ?? 0
        let rest = try unchanged(asked)
        let merged = try merge(order.sort(pending.matching), into: rest, by: order)
        var window = specification
        window.fetchOffset = offset - asked.fetchOffset
        return Array(window.window(of: merged[...]))
    }

    private func merge(
        _ arrivals: [NSManagedObject], into rest: [Element], by order: RowOrder<NSManagedObject>
    ) throws -> [Element] {
        guard !arrivals.isEmpty else { return rest }
        var merged: [Element] = []
        merged.reserveCapacity(rest.count + arrivals.count)
        var next = 0
        for arrival in arrivals {
            let values = try order.values(of: arrival)
            var (low, high) = (next, rest.count)
            while low < high {
                let middle = low + (high - low) / 2
                let other = object(rest[middle])
                let result = try order.compare(other, to: values)
                let isBefore =
                    result == .orderedSame ? other.key.precedesInStore(arrival.key) : result == .orderedAscending
                if isBefore { low = middle + 1 } else { high = middle }
            }
            merged += rest[next..<low]
            merged.append(element(arrival))
            next = low
        }
        merged += rest[next...]
        return merged
    }

    /// The elements that have not changed.
    private func unchanged(_ asked: FetchSpecification) throws -> [Element] {
        guard pending.hasStored else { return try read(asked) }
        if asked.fetchLimit == 0, asked.fetchOffset == 0 { return try read(asked).filter { !isPending($0) } }
        if asked.fetchOffset == 0, pending.storedCount > PendingMatches.fewStored {
            let found = try read(asked)
            if !found.contains(where: isPending) { return found }
        }
        return try read(asked.excluding(pending.storedKeys))
    }

    private func isPending(_ element: Element) -> Bool { registered(element)?.isPending == true }

    // MARK: - In the store's order

    /// Changed objects stay at the positions of their rows; those whose rows do not match follow after all rows.
    private func unsorted() throws -> [Element] {
        let remaining = Set(pending.matching.map { ObjectIdentifier($0) })
        let isRemoved: (Element) -> Bool = { element in
            guard let object = registered(element) else { return false }
            return object.isPending && !remaining.contains(ObjectIdentifier(object))
        }
        let (offset, limit) = (max(0, specification.fetchOffset), specification.fetchLimit)
        let found: [Element]
        if offset == 0, limit <= 0 {
            found = try read(specification).filter { !isRemoved($0) }
        } else {
            found = try read(specification.excluding(pending.removedKeys))
        }
        guard limit <= 0 || found.count < limit, !pending.matching.isEmpty else { return found }
        // The rows end in the window.
        var before: [Element] = []
        if offset > 0 {
            var asked = specification.excluding(pending.removedKeys)
            (asked.fetchOffset, asked.fetchLimit) = (0, offset)
            before = try read(asked)
        }
        let present = Set((before + found).compactMap { registered($0).map { ObjectIdentifier($0) } })
        let added = pending.matching.filter { !present.contains(ObjectIdentifier($0)) }
        let skipped = found.isEmpty ? offset - before.count : 0
        let rest = added.dropFirst(skipped).map(element)
        return found + (limit > 0 ? rest.prefix(limit - found.count) : rest[...])
    }

    // MARK: - Numbers

    /// The number of results, given the number of rows of a request.
    func count(_ committedCount: (FetchSpecification) throws -> Int) throws -> Int {
        var asked = specification
        asked.sortDescriptors = nil
        asked.fetchOffset = 0
        asked.fetchLimit = specification.windowEnd ?? 0
        let rest: Int
        if !pending.hasStored {
            rest = try committedCount(asked)
        } else if pending.areSelected, pending.storedCount > PendingMatches.fewStored {
            rest = try unchanged(asked).count
        } else {
            rest = try committedCount(asked.excluding(pending.storedKeys))
        }
        let number = max(0, rest + pending.matching.count - max(0, specification.fetchOffset))
        return specification.fetchLimit > 0 ? min(number, specification.fetchLimit) : number
    }
}

extension FetchSpecification {
    fileprivate func excluding(_ keys: [ObjectKey]) -> FetchSpecification {
        var specification = self
        specification.excludedKeys += keys
        return specification
    }
}
