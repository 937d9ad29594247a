// Creates a store for trying out the command `coral`: MakeExampleStore FILE [NOTES [SAVES]]. With SAVES the same notes
// are created and saved repeatedly.

import CoreData
import NotesModel

guard let path = CommandLine.arguments.dropFirst().first, !path.hasPrefix("-") else {
    print("usage: MakeExampleStore FILE [NOTES [SAVES]]")
    exit(64)
}
let noteCount = CommandLine.arguments.dropFirst(2).first.flatMap { Int($0) } ?? 12
let saveCount = CommandLine.arguments.dropFirst(3).first.flatMap { Int($0) } ?? 1

let coordinator = NSPersistentStoreCoordinator(managedObjectModel: .notes())
let store = try coordinator.addPersistentStore(
    ofType: NSSQLiteStoreType, configurationName: nil, at: URL(fileURLWithPath: path), options: nil)
let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
context.persistentStoreCoordinator = coordinator
// Tags are unique by name: in later saves, the stored ones are updated with the values of the new ones.
context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
try context.performAndWait {
    for _ in 0..<max(saveCount, 1) {
        try fill(context)
        try context.save()
    }
}
// Removes the log, so that the store is one file.
try coordinator.remove(store)

/// Every value is a function of the number, so that all stores are equal.
func fill(_ context: NSManagedObjectContext) throws {
    let people = ["Ada", "Grace", "Emmy"].map { name in
        insert("Person", ["name": name, "site": URL(string: "https://example.org/\(name.lowercased())") as Any])
    }
    let tags = ["home", "work", "garden", "travel"].map { insert("Tag", ["name": $0]) }
    for number in 1...max(noteCount, 1) {
        let note = insert(
            "Note",
            [
                "title": "Note \(number)", "body": "What is to be done, part \(number).",
                "createdAt": Date(timeIntervalSinceReferenceDate: Double(number) * 86_400.125),
                "isPinned": number % 5 == 0, "rank": 1 / Double(number), "identifier": identifier(number),
            ])
        note.setValue(people[number % people.count], forKey: "author")
        note.setValue(NSSet(array: [tags[number % 4], tags[number / 4 % 4]]), forKey: "tags")
        let items = (0..<number % 4).map { place in
            insert(
                "Item",
                [
                    "name": "Item \(number).\(place + 1)", "quantity": Int64(1) << Int64(place * 20),
                    "price": NSDecimalNumber(mantissa: UInt64(199 + number), exponent: -2, isNegative: false),
                ])
        }
        note.setValue(NSOrderedSet(array: items), forKey: "items")
    }
}

func insert(_ entity: String, _ values: [String: Any]) -> NSManagedObject {
    let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
    for (key, value) in values { object.setValue(value, forKey: key) }
    return object
}

func identifier(_ number: Int) -> UUID {
    let digits = String(number, radix: 16, uppercase: true)
    return UUID(uuidString: "00000000-0000-4000-8000-" + String(repeating: "0", count: 12 - digits.count) + digits)
        ?? UUID()
}
