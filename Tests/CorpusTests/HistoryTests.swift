import Coral
import GRDB
import Testing

/// The histories of stores written by Apple's Core Data: every transaction and change, compared with SQL queries.
@Suite(.enabled(if: !Corpus.stores.isEmpty, "The files of the corpus are not here."))
struct HistoryTests {
    private struct Change: Hashable {
        var number, type, entity, key, transaction: Int64
    }

    private func open(_ copy: StoreCopy) throws -> NSPersistentStoreCoordinator? {
        guard let model = try StoreInspection(url: copy.url).cachedModel else { return nil }
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model.keepingStoredArchives())
        try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: copy.url,
            options: [NSReadOnlyPersistentStoreOption: true])
        return coordinator
    }

    @Test(arguments: Corpus.stores)
    func `every transaction and change is equal to the rows`(_ original: URL) throws {
        let copy = try StoreCopy(original)
        guard let coordinator = try open(copy) else { return }
        guard try StoreInspection(url: copy.url).hasHistory else {
            #expect(coordinator.currentPersistentHistoryToken(fromStores: nil) == nil)
            return
        }
        var transactions: [NSPersistentHistoryTransaction] = []
        try HistoryPages(coordinator).forEach { transactions.append($0) }
        let plain = try StoreCopy(original)
        let sql = try DatabaseQueue(path: plain.url.path)
        defer { withExtendedLifetime(plain) {} }
        let rows = try sql.read { database in
            try Row.fetchAll(
                database,
                sql: """
                    SELECT t.Z_PK AS number, t.ZTIMESTAMP AS time, a.ZNAME AS author, b.ZNAME AS bundle, c.ZNAME AS context,
                      p.ZNAME AS process
                    FROM ATRANSACTION t LEFT JOIN ATRANSACTIONSTRING a ON a.Z_PK = t.ZAUTHORTS
                      LEFT JOIN ATRANSACTIONSTRING b ON b.Z_PK = t.ZBUNDLEIDTS
                      LEFT JOIN ATRANSACTIONSTRING c ON c.Z_PK = t.ZCONTEXTNAMETS
                      LEFT JOIN ATRANSACTIONSTRING p ON p.Z_PK = t.ZPROCESSIDTS
                    ORDER BY t.Z_PK
                    """)
        }
        #expect(transactions.map(\.transactionNumber) == rows.map { $0["number"] })
        #expect(transactions.map(\.timestamp.timeIntervalSinceReferenceDate) == rows.map { $0["time"] })
        #expect(transactions.map(\.author) == rows.map { $0["author"] as String? })
        #expect(transactions.map(\.contextName) == rows.map { $0["context"] as String? })
        #expect(transactions.map(\.bundleID) == rows.map { ($0["bundle"] as String?) ?? "" })
        #expect(transactions.map(\.processID) == rows.map { ($0["process"] as String?) ?? "" })

        let changes = try sql.read { database in
            try Row.fetchAll(database, sql: "SELECT * FROM ACHANGE ORDER BY ZTRANSACTIONID, Z_PK")
        }
        let names = try sql.read { database in
            try Row.fetchAll(database, sql: "SELECT Z_ENT, Z_NAME FROM Z_PRIMARYKEY")
        }
        let numbers = Dictionary(uniqueKeysWithValues: names.map { ($0["Z_NAME"] as String, $0["Z_ENT"] as Int64) })
        let found = transactions.flatMap { $0.changes ?? [] }
        #expect(found.count == changes.count)
        for (change, row) in zip(found, changes) {
            let uri = change.changedObjectID.uriRepresentation()
            #expect(
                Change(
                    number: change.changeID, type: Int64(change.changeType.rawValue),
                    entity: numbers[change.changedObjectID.entity.name ?? ""] ?? 0,
                    key: Int64(uri.lastPathComponent.dropFirst()) ?? 0,
                    transaction: change.transaction?.transactionNumber ?? 0)
                    == Change(
                        number: row["Z_PK"], type: row["ZCHANGETYPE"], entity: row["ZENTITY"], key: row["ZENTITYPK"],
                        transaction: row["ZTRANSACTIONID"]))
            // A mask fits its entity, and contains at least as many bits as properties.
            if let mask = row["ZCOLUMNS"] as Data? {
                let bits = mask.reduce(0) { $0 + $1.nonzeroBitCount }
                let count = try #require(change.updatedProperties).count
                #expect(count <= bits && (count > 0) == (bits > 0))
                #expect(change.updatedPropertiesAreReliable)
            } else {
                #expect(change.updatedProperties == nil)
            }
            // A tombstone has a value for each column that has one.
            let columns = row.columnNames.filter { $0.hasPrefix("ZTOMBSTONE") }
            let kept = columns.filter { !(row[$0] as DatabaseValue).isNull }.count
            #expect((change.tombstone ?? [:]).values.filter { !($0 is NSNull) }.count == kept)
        }
    }

    @Test(arguments: Corpus.stores)
    func `a fetch after any transaction returns the remaining ones`(_ original: URL) throws {
        let copy = try StoreCopy(original)
        guard try StoreInspection(url: copy.url).hasHistory, let coordinator = try open(copy) else { return }
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        func numbers(after transaction: NSPersistentHistoryTransaction?) throws -> [Int64] {
            let request = NSPersistentHistoryChangeRequest.fetchHistory(after: transaction)
            request.resultType = .transactionsOnly
            let result = try context.performAndWait { try context.execute(request) } as? NSPersistentHistoryResult
            return (result?.result as? [NSPersistentHistoryTransaction])?.map(\.transactionNumber) ?? []
        }
        let request = NSPersistentHistoryChangeRequest.fetchHistory(after: Date.distantPast)
        let result = try context.performAndWait { try context.execute(request) } as? NSPersistentHistoryResult
        let all = try #require(result?.result as? [NSPersistentHistoryTransaction])
        for (position, transaction) in all.enumerated() {
            #expect(try numbers(after: transaction) == all[(position + 1)...].map(\.transactionNumber))
        }
    }

    @Test(arguments: Corpus.stores)
    func `a save continues an existing history`(_ original: URL) throws {
        let copy = try StoreCopy(original)
        let inspection = try StoreInspection(url: copy.url)
        guard inspection.hasHistory, let model = inspection.cachedModel else { return }
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model.keepingStoredArchives())
        try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: copy.url,
            options: [NSPersistentHistoryTrackingKey: true])
        let before = coordinator.currentPersistentHistoryToken(fromStores: nil)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        context.transactionAuthor = "test"
        try context.performAndWait {
            // The first object of an entity that can be saved without changes.
            for entity in model.entities.sorted(by: { ($0.name ?? "") < ($1.name ?? "") }) where !entity.isAbstract {
                let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
                request.fetchLimit = 1
                guard let object = try context.fetch(request).first,
                    let name = object.entity.attributesByName.keys.sorted().first(where: {
                        object.value(forKey: $0) is String && object.entity.attributesByName[$0]?.isTransient == false
                    })
                else { continue }
                object.setValue("\(object.value(forKey: name) ?? "")x", forKey: name)
                guard (try? context.save()) != nil else {
                    context.rollback()
                    continue
                }
                break
            }
        }
        var transactions: [NSPersistentHistoryTransaction] = []
        try HistoryPages(coordinator, from: before.map { .token($0) } ?? .beginning).forEach { transactions.append($0) }
        #expect(transactions.map(\.author) == ["test"])
        #expect(transactions.first?.changes?.contains { $0.changeType == .update } == true)
    }
}
