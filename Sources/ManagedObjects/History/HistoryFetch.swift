import CoreDataErrors
import Foundation
import FoundationAdditions

// History.
//
// `HistoryWriter` collects the changes of a transaction and appends them to the store's history at the end of the
// transaction, each object once, in blocks of rows that SQLite numbers (`HistoryChangeWriter`). `HistoryReader` reads
// transactions and changes with two interleaved statements; the statements of histories are in `HistoryStatements`. The
// folder `History` contains Core Data's classes, `HistoryFetch`, which executes requests, and `HistoryCursor`, which
// reads the histories of all stores batch by batch and is the basis of the sequence `HistoryChanges`. A predicate is
// evaluated with objects; `HistoryFilter` is the part that SQL can evaluate first. Old values are recorded by temporary
// triggers of the writing connection (`SQLiteOldValues`; `OldValueStatements` reads and stores them), so that they are
// recorded for every kind of write, and are stored at the end of the transaction. `HistoryMigration` rewrites a history
// for another version of the model.

/// Executes the fetch of a history request.
struct HistoryFetch {
    private let request: NSPersistentHistoryChangeRequest
    private let coordinator: NSPersistentStoreCoordinator
    private let specification: FetchSpecification?
    /// Whether the request's fetch request is for changes; otherwise it is for transactions.
    private let isForChanges: Bool
    private let filter: HistoryFilter

    init(_ request: NSPersistentHistoryChangeRequest, coordinator: NSPersistentStoreCoordinator) throws {
        self.request = request
        self.coordinator = coordinator
        specification = request.fetchRequest?.specification
        let name = specification.flatMap { $0.entity?.name ?? $0.entityName }
        switch name {
        case nil, HistoryEntities.transactionName: isForChanges = false
        case HistoryEntities.changeName: isForChanges = true
        case let name?:
            throw CocoaError(
                .coreData,
                userInfo: [
                    NSLocalizedDescriptionKey:
                        "A history request fetches transactions or changes, not objects of “\(name)”."
                ])
        }
        filter = HistoryFilter(
            implying: specification?.predicate, ofChanges: isForChanges, coordinator: coordinator)
    }

    func result(from stores: [(store: NSPersistentStore, history: any HistoryStore)]) throws -> Any {
        switch request.resultType {
        case .statusOnly:
            for (store, history) in stores { try history.readHistory(query(store)) { _, _ in false } }
            return true
        case .count where specification == nil:
            return try stores.reduce(0) { try $0 + $1.history.countHistory(query($1.store)) }
        case .transactionsOnly, .transactionsAndChanges: return try transactions(from: stores)
        case .changesOnly: return try changes(from: stores)
        case .objectIDs: return try changes(from: stores).map(\.ownID)
        case .count: return try changes(from: stores).count
        }
    }

    private func query(_ store: NSPersistentStore) -> HistoryQuery {
        let start: HistoryQuery.Start =
            switch request.bound {
            case .none: .beginning
            case .date(let date): .later(date)
            case .token(let token): token?.number(ofStore: store.identifier).map { .after($0) } ?? .beginning
            }
        return HistoryQuery(
            start: start, includesChanges: isForChanges || request.resultType != .transactionsOnly, filter: filter)
    }

    // MARK: - Reading

    private func transactions(
        from stores: [(store: NSPersistentStore, history: any HistoryStore)]
    ) throws -> [NSPersistentHistoryTransaction] {
        var transactions: [NSPersistentHistoryTransaction] = []
        let keepsChanges = request.resultType == .transactionsAndChanges
        if isForChanges, narrowsChanges {
            // The transactions of the matching changes, in the order of their first matching change.
            var order: [NSPersistentHistoryTransaction] = []
            var members: [NSPersistentHistoryTransaction: [NSPersistentHistoryChange]] = [:]
            for change in try changes(from: stores) {
                guard let transaction = change.transaction else { continue }
                if members[transaction] == nil { order.append(transaction) }
                members[transaction, default: []].append(change)
            }
            return order.map { $0.copy(with: keepsChanges ? members[$0] : nil) }
        }
        try read(from: stores) { row, changes, origin, predicate in
            let transaction = NSPersistentHistoryTransaction(
                row,
                changes: keepsChanges ? changes.map { NSPersistentHistoryChange($0, of: row, origin: origin) } : nil,
                origin: origin)
            if try matches(transaction, predicate) { transactions.append(transaction) }
            return isForChanges || transactions.count < sufficientCount
        }
        return try isForChanges ? transactions : arranged(transactions)
    }

    /// The matching changes, or all changes of the matching transactions.
    private func changes(
        from stores: [(store: NSPersistentStore, history: any HistoryStore)]
    ) throws -> [NSPersistentHistoryChange] {
        var found: [NSPersistentHistoryChange] = []
        if isForChanges || specification == nil {
            try read(from: stores) { row, changes, origin, predicate in
                for change in changes {
                    let change = NSPersistentHistoryChange(change, of: row, origin: origin)
                    if try matches(change, predicate) { found.append(change) }
                }
                return !isForChanges || found.count < sufficientCount
            }
            return try isForChanges ? arranged(found) : found
        }
        var transactions: [NSPersistentHistoryTransaction] = []
        try read(from: stores) { row, changes, origin, predicate in
            let transaction = NSPersistentHistoryTransaction(
                row, changes: changes.map { NSPersistentHistoryChange($0, of: row, origin: origin) }, origin: origin)
            if try matches(transaction, predicate) { transactions.append(transaction) }
            return transactions.count < sufficientCount
        }
        return try arranged(transactions).flatMap { $0.changes ?? [] }
    }

    /// Reads one store after the other until the body returns false. The body also receives the predicate for that store. In
    /// tokens, a store that was read before has the number of its last transaction, and a store that is read later has the
    /// number at which its reading begins.
    private func read(
        from stores: [(store: NSPersistentStore, history: any HistoryStore)],
        _ body: (HistoryTransactionRow, ContiguousArray<HistoryChangeRow>, HistoryOrigin, NSPredicate?) throws -> Bool
    ) throws {
        var origins: [HistoryOrigin] = []
        var begins: [String: Int64] = request.token?.numbers ?? [:]
        var ends: [String: Int64] = [:]
        var goesOn = true
        for (store, history) in stores {
            guard let identifier = store.identifier else { continue }
            let origin = try HistoryOrigin(history, identifier: identifier, coordinator: coordinator)
            origins.append(origin)
            let predicate = try specification?.predicate?.comparingTokens(ofStore: identifier)
            var first: Int64?
            var last = begins[identifier]
            try history.readHistory(query(store)) { row, changes in
                first = first ?? row.number
                guard goesOn else { return false }
                last = row.number
                goesOn = try body(row, changes, origin, predicate)
                return goesOn
            }
            // If nothing was found, the token names the last transaction of the store.
            begins[identifier] = try begins[identifier] ?? first.map { $0 - 1 } ?? history.historyExtent()?.last
            ends[identifier] = last ?? begins[identifier]
        }
        guard stores.count > 1 || begins.count > 1 else { return }
        for (position, origin) in origins.enumerated() {
            let others = ends.filter { end in origins[..<position].contains { $0.storeIdentifier == end.key } }
            origin.setOthers(begins.merging(others) { $1 })
        }
    }

    // MARK: - Narrowing

    /// The number of results at which reading can stop. Results that are sorted must all be read.
    private var sufficientCount: Int {
        guard let specification, specification.fetchLimit > 0, specification.sortDescriptors?.isEmpty != false else {
            return .max
        }
        let (count, overflows) = specification.fetchLimit.addingReportingOverflow(max(0, specification.fetchOffset))
        return overflows ? .max : count
    }

    private var narrowsChanges: Bool {
        guard let specification else { return false }
        return specification.predicate != nil || specification.sortDescriptors?.isEmpty == false
            || specification.fetchLimit > 0 || specification.fetchOffset > 0
    }

    private func matches(_ candidate: NSObject, _ predicate: NSPredicate?) throws -> Bool {
        guard let predicate, (candidate is NSPersistentHistoryChange) == isForChanges else {
            return true
        }
        do {
            return try predicate.evaluation(with: candidate)
        } catch let error as CocoaError {
            throw error
        } catch {
            throw CocoaError(.coreData, userInfo: [NSLocalizedDescriptionKey: "\(error)"])
        }
    }

    private func arranged<Element>(_ found: [Element]) throws -> [Element] {
        guard let specification else { return found }
        var found = found
        if let descriptors = specification.sortDescriptors, !descriptors.isEmpty {
            // Results that compare equal stay in the order of their numbers.
            found = try found.enumerated().sorted { one, other in
                for descriptor in descriptors {
                    let result = try RowSelection.explaining(descriptor.key ?? "self") {
                        try descriptor.comparison(of: one.element, other.element)
                    }
                    if result != .orderedSame { return result == .orderedAscending }
                }
                return one.offset < other.offset
            }.map(\.element)
        }
        let start = min(max(0, specification.fetchOffset), found.count)
        let limit = specification.fetchLimit > 0 ? specification.fetchLimit : found.count
        return Array(found[start..<min(found.count, start + min(limit, found.count - start))])
    }
}
