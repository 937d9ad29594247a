import CoreData
import Foundation
import FuzzBooks
import FuzzSupport

/// Called by libFuzzer with each input: values for columns of a history's tables, each as a byte for the column, one
/// for the type, one for the length, and the bytes. Then the whole history is read, continued, and deleted.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var rest = Array(input(bytes, count))[...]
    guard !Books.storeWithHistory.isEmpty else { return 0 }
    let url = Books.emptied().appendingPathComponent("Books.sqlite")
    attempt { try Books.storeWithHistory.write(to: url) }
    for _ in 0..<4 where rest.count >= 3 {
        let head = Array(rest.prefix(3))
        rest = rest.dropFirst(3)
        let (table, column) = columns[Int(head[0]) % columns.count]
        let value = Data(rest.prefix(Int(head[2])))
        rest = rest.dropFirst(Int(head[2]))
        // A text in an integer column is converted to the number that it spells.
        attempt {
            try StorePatch(url: url).run(
                "UPDATE OR IGNORE \(table) SET \(column) = ?", value, asText: head[1].isMultiple(of: 2))
        }
    }
    attempt { try useHistory(of: url) }
    return 0
}

private let columns = [
    ("ACHANGE", "Z_PK"), ("ACHANGE", "ZCHANGETYPE"), ("ACHANGE", "ZENTITY"), ("ACHANGE", "ZENTITYPK"),
    ("ACHANGE", "ZTRANSACTIONID"), ("ACHANGE", "ZCOLUMNS"), ("ATRANSACTION", "Z_PK"), ("ATRANSACTION", "ZAUTHORTS"),
    ("ATRANSACTION", "ZTIMESTAMP"), ("ATRANSACTION", "ZAUTHOR"), ("ATRANSACTIONSTRING", "Z_PK"),
    ("ATRANSACTIONSTRING", "ZNAME"), ("Z_PRIMARYKEY", "Z_MAX"), ("Z_PRIMARYKEY", "Z_ENT"),
]

private func useHistory(of url: URL) throws {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Books.model())
    try coordinator.addPersistentStore(
        ofType: NSSQLiteStoreType, configurationName: nil, at: url,
        options: [
            NSPersistentHistoryTrackingKey: true, NSSQLitePragmasOption: ["journal_mode": "delete"],
        ])
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    context.performAndWait {
        attempt { try readHistory(context) }
        attempt {
            NSEntityDescription.insertNewObject(forEntityName: "Author", into: context).setValue("Eve", forKey: "name")
            try context.save()
        }
        attempt { try readHistory(context) }
        attempt { _ = try context.execute(NSPersistentHistoryChangeRequest.deleteHistory(before: Date())) }
    }
}

private func readHistory(_ context: NSManagedObjectContext) throws {
    let request = NSPersistentHistoryChangeRequest.fetchHistory(after: Date.distantPast)
    let result = try context.execute(request) as? NSPersistentHistoryResult
    for transaction in result?.result as? [NSPersistentHistoryTransaction] ?? [] {
        _ = (transaction.author, transaction.timestamp, transaction.token)
        for change in transaction.changes ?? [] {
            _ = (change.changedObjectID, change.updatedProperties, change.tombstone)
        }
    }
}
