import Foundation
import ManagedObjects

/// Updates a list of results with the changes that a context reports.
struct ResultsFold {
    let request: FollowedRequest
    let context: NSManagedObjectContext

    /// An object to be inserted into the new list: it is new, or was removed because it has changed.
    private struct Arrival {
        let object: NSManagedObject
        let values: [SortValue]
        let section: SectionName
        /// The number of unchanged objects before it.
        let rank: Int
        /// Its position in the old list.
        let old: Int?
        /// Whether it is between the same unchanged objects as before, and in the same section.
        let isInPlace: Bool
    }

    // MARK: - In memory

    /// The change of a list that results from changed objects. Faults among them are read by one statement; otherwise
    /// no statement is executed.
    ///
    /// Cost: a comparison of addresses for each object of the list, and a binary search for each changed object.
    ///
    /// - Returns: Nil if the list is the same.
    /// - Throws: ``UndecidedInMemory`` if the store must be queried, and code 134060 if sections are out of order.
    func change(of list: ResultsList, by touched: [NSManagedObject]) throws -> ResultsChange? {
        let concerned = touched.filter(request.isOfEntity)
        guard !concerned.isEmpty else { return nil }
        readTogether(concerned)
        let found = list.positions(of: Set(concerned.map { ObjectIdentifier($0) }))
        var rest = Rest(list: list, without: found)
        var deletions: [Int] = []
        var arrivals: [Arrival] = []
        for (index, position) in found.enumerated() {
            let object = list.objects[position]
            if try request.includes(object, in: context) {
                arrivals.append(try arrival(of: object, from: position, rank: position - index, to: rest))
            } else {
                deletions.append(position)
            }
        }
        let known = Set(found.map { ObjectIdentifier(list.objects[$0]) })
        for object in concerned where !known.contains(ObjectIdentifier(object)) {
            guard try request.includes(object, in: context) else { continue }
            arrivals.append(try arrival(of: object, to: rest))
        }
        arrivals.sort(by: precedes)
        try keepWithinLimit(&arrivals, &rest, of: list, &deletions)
        guard !deletions.isEmpty || !arrivals.isEmpty else { return nil }
        let new = try rest.list(with: arrivals.map { ($0.object, $0.section, $0.rank) }, named: request.naming)
        let candidates = arrivals.indices.filter { arrivals[$0].isInPlace }
        let stayed = Set(candidates.lazy.map { arrivals[$0].old ?? 0 }.longestAscent().map { candidates[$0] })
        var insertions: [Int] = []
        var moves: [(Int, Int)] = []
        var updates: [(Int, Int)] = []
        for (index, arrival) in arrivals.enumerated() {
            let position = arrival.rank + index
            if let old = arrival.old {
                if stayed.contains(index) { updates.append((old, position)) } else { moves.append((old, position)) }
            } else {
                insertions.append(position)
            }
        }
        return ResultsChange(
            from: list, to: new, deletions: deletions, insertions: insertions, moves: moves.sorted { $0.0 < $1.0 },
            updates: updates)
    }

    /// Reads the rows of several faults with one statement instead of one statement each.
    private func readTogether(_ objects: [NSManagedObject]) {
        guard context.parentContext == nil else { return }
        let keys = objects.filter { object in
            object.context === context && object.isFaultInternally && (object.page == nil || object.originSlot >= 0)
                && !object.key.isTemporary
        }.map(\.key)
        // If the store cannot be read, the first access to one of the objects reports the error.
        if keys.count > 1 { _ = try? context.readAgain(keys) }
    }

    /// The new position of an object from its old position and the number of unchanged objects before it.
    private func arrival(of object: NSManagedObject, from position: Int, rank: Int, to rest: Rest) throws -> Arrival {
        let values = try request.order.values(of: object)
        let section = request.naming.name(of: object)
        let fits =
            try (rank == 0 || compare(rest[rank - 1], to: values) != .orderedDescending)
            && (rank == rest.count || compare(rest[rank], to: values) != .orderedAscending)
        return Arrival(
            object: object, values: values, section: section, rank: try fits ? rank : self.rank(of: values, in: rest),
            old: position, isInPlace: fits && rest.list.sections[rest.list.sectionIndex(of: position)].name == section)
    }

    private func arrival(of object: NSManagedObject, to rest: Rest) throws -> Arrival {
        let values = try request.order.values(of: object)
        return Arrival(
            object: object, values: values, section: request.naming.name(of: object),
            rank: try rank(of: values, in: rest), old: nil, isInPlace: false)
    }

    /// The position after the objects that compare equal.
    private func rank(of values: [SortValue], in rest: Rest) throws -> Int {
        try partitioningIndex(in: 0..<rest.count) { try compare(rest[$0], to: values) == .orderedDescending }
    }

    private func compare(_ object: NSManagedObject, to values: [SortValue]) throws -> ComparisonResult {
        try request.order.compare(object, to: values)
    }

    private func precedes(_ one: Arrival, _ other: Arrival) -> Bool {
        if one.rank != other.rank { return one.rank < other.rank }
        switch request.order.compare(one.values, other.values) {
        case .orderedAscending: return true
        case .orderedDescending: return false
        case .orderedSame: break
        }
        switch (one.old, other.old) {
        case (let one?, let other?): return one < other
        case (nil, nil): return Self.isOlder(one.object.key, than: other.object.key)
        default: return one.old != nil
        }
    }

    /// Whether an object precedes another that compares equal: stored objects before new ones, each in the order of
    /// their creation.
    private static func isOlder(_ one: ObjectKey, than other: ObjectKey) -> Bool {
        if one.isTemporary != other.isTemporary { return other.isTemporary }
        return one.number.magnitude < other.number.magnitude
    }

    /// Removes what a limit excludes from the end of the new list.
    ///
    /// A list of as many objects as the limit permits may be followed by others in the store. So an object that comes after its last
    /// one is outside, and a list that becomes shorter must be fetched.
    ///
    /// - Parameter deletions: The positions in the old list of objects that are not in the new one.
    /// - Throws: ``UndecidedInMemory`` if an object of the store belongs to the list, or if objects that compare equal are divided.
    private func keepWithinLimit(
        _ arrivals: inout [Arrival], _ rest: inout Rest, of list: ResultsList, _ deletions: inout [Int]
    ) throws {
        let limit = request.specification.fetchLimit
        guard limit > 0 else { return }
        var excluded: [SortValue]?
        func excludeLastArrival() {
            let arrival = arrivals.removeLast()
            excluded = arrival.values
            if let old = arrival.old { deletions.append(old) }
        }
        let isFull = list.objects.count >= limit
        if isFull {
            while let last = arrivals.last, last.rank == rest.count { excludeLastArrival() }
        }
        while rest.count + arrivals.count > limit {
            if let last = arrivals.last, last.rank == rest.count {
                excludeLastArrival()
            } else {
                let position = rest.removeLast()
                excluded = try request.order.values(of: list.objects[position])
                deletions.append(position)
            }
        }
        if isFull, rest.count + arrivals.count < limit { throw UndecidedInMemory() }
        deletions.sort()
        guard let excluded else { return }
        let isEqual =
            if let last = arrivals.last, last.rank == rest.count {
                request.order.compare(last.values, excluded) == .orderedSame
            } else {
                try rest.count > 0 && compare(rest[rest.count - 1], to: excluded) == .orderedSame
            }
        if isEqual { throw UndecidedInMemory() }
    }

    // MARK: - By another fetch

    /// The difference between a list and the result of a new fetch.
    ///
    /// - Parameter touched: Objects that have changed; those that have kept their positions are reported as updated.
    /// - Returns: Nil if the list is the same and none of its objects has changed.
    /// - Throws: The errors of a fetch, and code 134060 if sections are out of order.
    func changeByFetching(of list: ResultsList, touched: [NSManagedObject]) throws -> ResultsChange? {
        let objects = try context.fetchResults(request.specification).compactMap { $0 as? NSManagedObject }
        let new = try ResultsList(objects, named: request.naming)
        var positions: [ObjectIdentifier: Int] = [:]
        for (position, object) in list.objects.enumerated() { positions[ObjectIdentifier(object)] = position }
        let sectionNames = list.sections.flatMap { section in section.range.map { _ in section.name } }
        let olds = new.objects.map { positions.removeValue(forKey: ObjectIdentifier($0)) }
        let deletions = positions.values.sorted()
        var candidates: [Int] = []
        for section in new.sections {
            for position in section.range {
                if let old = olds[position], sectionNames[old] == section.name { candidates.append(position) }
            }
        }
        let stayed = Set(candidates.lazy.map { olds[$0] ?? 0 }.longestAscent().map { candidates[$0] })
        let changed = Set(touched.map { ObjectIdentifier($0) })
        var insertions: [Int] = []
        var moves: [(Int, Int)] = []
        var updates: [(Int, Int)] = []
        for (position, old) in olds.enumerated() {
            guard let old else {
                insertions.append(position)
                continue
            }
            if !stayed.contains(position) {
                moves.append((old, position))
            } else if changed.contains(ObjectIdentifier(new.objects[position])) {
                updates.append((old, position))
            }
        }
        guard !deletions.isEmpty || !insertions.isEmpty || !moves.isEmpty || !updates.isEmpty else { return nil }
        return ResultsChange(
            from: list, to: new, deletions: deletions, insertions: insertions, moves: moves.sorted { $0.0 < $1.0 },
            updates: updates)
    }
}

/// A list without the objects at some positions.
private struct Rest {
    let list: ResultsList
    /// The positions of the removed objects, ascending.
    private var missing: [Int]

    init(list: ResultsList, without missing: [Int]) {
        self.list = list
        self.missing = missing
    }

    var count: Int { list.objects.count - missing.count }

    subscript(rank: Int) -> NSManagedObject { list.objects[position(of: rank)] }

    private func position(of rank: Int) -> Int {
        rank + partitioningIndex(in: 0..<missing.count) { missing[$0] - $0 > rank }
    }

    /// Removes the last object, and returns its position in the list.
    mutating func removeLast() -> Int {
        let position = position(of: count - 1)
        missing.insert(position, at: partitioningIndex(in: 0..<missing.count) { missing[$0] > position })
        return position
    }

    /// The list with other objects inserted, each with its section and the number of remaining objects before it.
    func list(
        with arrivals: [(object: NSManagedObject, section: SectionName, rank: Int)], named naming: SectionNaming
    ) throws -> ResultsList {
        var objects = ResultsObjectsBuilder()
        var runs = SectionRuns()
        var pieces = Pieces(list: list, missing: missing)
        for arrival in arrivals {
            pieces.take(until: arrival.rank, into: &objects, &runs)
            objects.append(arrival.object)
            runs.append(arrival.section, count: 1)
        }
        pieces.take(until: count, into: &objects, &runs)
        // A list without a key path has one section even if it is empty.
        if naming.keyPath == nil { runs.append(SectionName(""), count: 0) }
        return ResultsList(objects.objects, sections: try runs.sections(named: naming))
    }

    /// The remaining objects of a list, section by section, removed from the front.
    private struct Pieces {
        let list: ResultsList
        let missing: [Int]
        private var position = 0
        private var nextMissing = 0
        private var section = 0
        private var taken = 0

        init(list: ResultsList, missing: [Int]) {
            self.list = list
            self.missing = missing
        }

        mutating func take(until rank: Int, into objects: inout ResultsObjectsBuilder, _ runs: inout SectionRuns) {
            while taken < rank {
                while nextMissing < missing.count, missing[nextMissing] == position {
                    nextMissing += 1
                    position += 1
                }
                while list.sections[section].range.upperBound <= position { section += 1 }
                let gap = nextMissing < missing.count ? missing[nextMissing] : list.objects.count
                let end = min(gap, list.sections[section].range.upperBound, position + rank - taken)
                objects.append(position..<end, of: list.objects)
                runs.append(list.sections[section].name, count: end - position)
                taken += end - position
                position = end
            }
        }
    }
}
