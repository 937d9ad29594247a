// The cost of a history: saving with and without it, and reading 100,000 changes, compared with hand-written SQL.
//
//     history [ROUNDS]
//
// The variants of a round follow each other. Prints the medians of the rounds (5 by default), and ratios of the medians.

import CoreData
import Dispatch
import GRDB

private let rounds = CommandLine.arguments.dropFirst().first.flatMap(Int.init) ?? 5
private let noteCount = 100_000

private func model() -> NSManagedObjectModel {
    let note = NSEntityDescription()
    note.name = "Note"
    note.managedObjectClassName = "NSManagedObject"
    for (name, type) in [
        ("title", NSAttributeType.stringAttributeType), ("body", .stringAttributeType),
        ("rank", .doubleAttributeType), ("createdAt", .dateAttributeType),
    ] {
        let attribute = NSAttributeDescription()
        attribute.name = name
        attribute.attributeType = type
        attribute.isOptional = true
        note.properties.append(attribute)
    }
    let model = NSManagedObjectModel()
    model.entities = [note]
    return model
}

private func seconds(_ body: () throws -> Void) rethrows -> Double {
    let start = DispatchTime.now().uptimeNanoseconds
    try body()
    return Double(DispatchTime.now().uptimeNanoseconds - start) / 1e9
}

private func context(_ url: URL, tracking: Bool) throws -> NSManagedObjectContext {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model())
    try coordinator.addPersistentStore(
        ofType: NSSQLiteStoreType, configurationName: nil, at: url,
        options: tracking ? [NSPersistentHistoryTrackingKey: true] : nil)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    return context
}

/// The times of a save that inserts all notes, and of a save that updates them.
private func save(_ url: URL, tracking: Bool) throws -> (insert: Double, update: Double) {
    let context = try context(url, tracking: tracking)
    return try context.performAndWait {
        var notes: [NSManagedObject] = []
        for index in 0..<noteCount {
            let note = NSEntityDescription.insertNewObject(forEntityName: "Note", into: context)
            note.setValue("Note \(index)", forKey: "title")
            note.setValue("A body of some length, as notes have it.", forKey: "body")
            note.setValue(Double(index), forKey: "rank")
            note.setValue(Date(), forKey: "createdAt")
            notes.append(note)
        }
        let insert = try seconds { try context.save() }
        for note in notes { note.setValue(1.5, forKey: "rank") }
        let update = try seconds { try context.save() }
        return (insert, update)
    }
}

/// Hand-written SQL: adds the history rows of a save of all notes to a store without a history, in one statement.
private func writeByHand(_ url: URL, type: NSPersistentHistoryChangeType) throws -> Double {
    try DatabaseQueue(path: url.path).writeWithoutTransaction { database in
        if type == .insert {
            for statement in [
                """
                CREATE TABLE ACHANGE (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZCHANGETYPE INTEGER,
                  ZENTITY INTEGER, ZENTITYPK INTEGER, ZTRANSACTIONID INTEGER, ZCOLUMNS BLOB)
                """,
                "CREATE INDEX ACHANGE_ZTRANSACTIONID_INDEX ON ACHANGE (ZTRANSACTIONID)",
            ] { try database.execute(sql: statement) }
        }
        let mask = type == .insert ? nil : Data([0x10])
        return try seconds {
            try database.execute(
                sql: """
                    INSERT INTO ACHANGE (Z_ENT, ZCHANGETYPE, ZENTITY, ZENTITYPK, ZTRANSACTIONID, ZCOLUMNS)
                    SELECT 16001, ?, 1, Z_PK, ?, ? FROM ZNOTE ORDER BY Z_PK
                    """, arguments: [type.rawValue, type.rawValue + 1, mask])
        }
    }
}

/// Hand-written SQL: reads the rows of both tables, with texts and masks, in the order of commits.
private func readByHand(_ url: URL) throws -> Int {
    var sum = 0
    try DatabaseQueue(path: url.path).read { database in
        let rows = try Row.fetchCursor(
            database,
            sql: """
                SELECT c.Z_PK, c.ZCHANGETYPE, c.ZENTITY, c.ZENTITYPK, c.ZCOLUMNS, t.Z_PK, t.ZTIMESTAMP, s.ZNAME
                FROM ACHANGE c JOIN ATRANSACTION t ON t.Z_PK = c.ZTRANSACTIONID
                  LEFT JOIN ATRANSACTIONSTRING s ON s.Z_PK = t.ZAUTHORTS
                ORDER BY c.ZTRANSACTIONID, c.Z_PK
                """)
        while let row = try rows.next() {
            let (key, mask): (Int64, Data?) = (row[3], row[4])
            sum += Int(key) + (mask?.count ?? 0)
        }
    }
    return sum
}

private func readChanges(_ context: NSManagedObjectContext) throws -> Int {
    let request = NSPersistentHistoryChangeRequest.fetchHistory(after: nil as NSPersistentHistoryToken?)
    let result = try context.performAndWait { try context.execute(request) } as? NSPersistentHistoryResult
    let transactions = result?.result as? [NSPersistentHistoryTransaction] ?? []
    return transactions.reduce(0) { $0 + ($1.changes ?? []).reduce(0) { $0 + Int($1.changeID) } }
}

private let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
defer { try? FileManager.default.removeItem(at: folder) }

private struct Times {
    var times: [Double] = []
    var median: Double { times.sorted()[times.count / 2] }
}

private func print(_ name: String, _ times: Times, _ base: Times) {
    let milliseconds = String(format: "%.0f", times.median * 1000)
    Swift.print("\(name): \(milliseconds) ms, ratio \(String(format: "%.2f", times.median / base.median))")
}

private struct SaveTimes {
    var (plain, tracked, byHand) = (Times(), Times(), Times())
}

private var (inserts, updates) = (SaveTimes(), SaveTimes())
for round in 0..<rounds {
    let plain = folder.appendingPathComponent("plain-\(round).sqlite")
    let (insert, update) = try save(plain, tracking: false)
    let tracked = try save(folder.appendingPathComponent("tracked-\(round).sqlite"), tracking: true)
    inserts.plain.times.append(insert)
    updates.plain.times.append(update)
    inserts.tracked.times.append(tracked.insert)
    updates.tracked.times.append(tracked.update)
    inserts.byHand.times.append(insert + (try writeByHand(plain, type: .insert)))
    updates.byHand.times.append(update + (try writeByHand(plain, type: .update)))
}
for (name, times) in [("insert", inserts), ("update", updates)] {
    print("\(name) \(noteCount) notes", times.plain, times.plain)
    print("\(name), then the history by hand", times.byHand, times.plain)
    print("\(name) with a history", times.tracked, times.plain)
}

let store = folder.appendingPathComponent("tracked-0.sqlite")
let reading = try context(store, tracking: true)
// Keeps one transaction of 100,000 changes.
try reading.persistentStoreCoordinator?.purgeHistory(.keepingChanges(noteCount))
private var (byHand, byRequest) = (Times(), Times())
for _ in 0..<rounds {
    byHand.times.append(try seconds { _ = try readByHand(store) })
    byRequest.times.append(try seconds { _ = try readChanges(reading) })
}
print("read \(noteCount) changes by hand", byHand, byHand)
print("read \(noteCount) changes by a request", byRequest, byHand)
