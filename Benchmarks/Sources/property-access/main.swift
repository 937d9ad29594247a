import CoreData

// The cost of one access to a property: by a generated accessor, and by value(forKey:) and setValue(_:forKey:).
//
// 1,000 objects from an SQLite store; each line is the best of nine passes, in nanoseconds for each access.

let model = Bundle.module.url(forResource: "Ledger", withExtension: "momd")
    .flatMap(NSManagedObjectModel.init(contentsOf:))
let store = FileManager.default.temporaryDirectory.appendingPathComponent("property-access-\(UUID()).sqlite")
defer { for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: store.path + suffix) } }

let container = NSPersistentContainer(name: "Ledger", managedObjectModel: model ?? NSManagedObjectModel())
container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: store)]
var failure: (any Error)?
container.loadPersistentStores { failure = $1 }
if let failure { throw failure }

let context = container.viewContext
let account = Account(context: context)
account.name = "Savings"
for number in 0..<1_000 {
    let entry = Entry(context: context)
    entry.number = Int64(number)
    entry.text = "Entry number \(number)"
    entry.amount = Double(number) / 4
    entry.day = Date(timeIntervalSinceReferenceDate: Double(number) * 86_400)
    entry.isCleared = number % 2 == 0
    entry.account = account
}
try context.save()
context.reset()
let request: NSFetchRequest<Entry> = Entry.fetchRequest()
request.returnsObjectsAsFaults = false
let entries = try context.fetch(request)

/// The best of nine passes over all objects, in nanoseconds for each object.
@MainActor func best(_ pass: (Entry) -> Int) -> Double {
    var best = Duration.seconds(1)
    var sum = 0
    for _ in 0..<9 {
        best = min(best, ContinuousClock().measure { for _ in 0..<20 { for entry in entries { sum &+= pass(entry) } } })
    }
    precondition(sum != Int.min)
    return Double(best.components.attoseconds) / 1e9 / 20 / Double(entries.count)
}

@MainActor func report(_ name: String, generated: (Entry) -> Int, keyed: (Entry) -> Int) {
    let (first, second) = (best(generated), best(keyed))
    let numbers = [first, second, second / first].map { String(format: "%8.1f", $0) }.joined(separator: "  ")
    print(name.padding(toLength: 24, withPad: " ", startingAt: 0) + numbers)
}

print("ns an access             generated     keyed     ratio")
report("read Int64") {
    Int($0.number)
} keyed: {
    Int($0.value(forKey: "number") as? Int64 ?? 0)
}
report("read Double") {
    Int($0.amount)
} keyed: {
    Int($0.value(forKey: "amount") as? Double ?? 0)
}
report("read Bool") {
    $0.isCleared ? 1 : 0
} keyed: {
    $0.value(forKey: "isCleared") as? Bool ?? false ? 1 : 0
}
report("read Date?") {
    $0.day == nil ? 0 : 1
} keyed: {
    $0.value(forKey: "day") as? Date == nil ? 0 : 1
}
report("read String?") {
    $0.text?.utf8.count ?? 0
} keyed: {
    ($0.value(forKey: "text") as? String)?.utf8.count ?? 0
}
report("read Account?") {
    $0.account == nil ? 0 : 1
} keyed: {
    $0.value(forKey: "account") as? Account == nil ? 0 : 1
}
report("write Int64") { entry in
    entry.number = 7
    return 0
} keyed: { entry in
    entry.setValue(7, forKey: "number")
    return 0
}
report("write Double") { entry in
    entry.amount = 2.5
    return 0
} keyed: { entry in
    entry.setValue(2.5, forKey: "amount")
    return 0
}
report("write String?") { entry in
    entry.text = "something else"
    return 0
} keyed: { entry in
    entry.setValue("something else", forKey: "text")
    return 0
}
