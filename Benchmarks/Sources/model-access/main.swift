import Foundation

// The cost of one access to a property of a model, of a fetch by a predicate, and the memory of a model. Built with the trait Macros.
//
// 1,000 models from an SQLite store; each line is the best of nine passes, in nanoseconds of processor time for each access.

#if Macros
    import SwiftData

    @Model
    final class Account {
        var name: String
        @Relationship(inverse: \Entry.account) var entries: [Entry] = []
        init(name: String) { self.name = name }
    }

    @Model
    final class Entry {
        var number: Int
        var text: String
        var amount: Double
        var day: Date?
        var isCleared: Bool
        var kind: Kind = Kind.debit
        var account: Account?

        enum Kind: String, Codable { case debit, credit }

        init(number: Int, account: Account) {
            self.number = number
            text = "Entry number \(number)"
            amount = Double(number) / 4
            day = Date(timeIntervalSinceReferenceDate: Double(number) * 86_400)
            isCleared = number % 2 == 0
            self.account = account
        }
    }

    /// Prints what a process has more while it keeps all models of a store.
    @MainActor func reportMemory(_ store: URL) throws {
        func residentBytes() -> Int {
            let text = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
            return (text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * 4_096
        }
        let container = try ModelContainer(for: Account.self, configurations: ModelConfiguration(url: store))
        let context = ModelContext(container)
        var some = FetchDescriptor<Entry>()
        some.fetchLimit = 100
        _ = try context.fetch(some)
        let before = residentBytes()
        let models = try context.fetch(FetchDescriptor<Entry>())
        var sum = 0
        for model in models { sum &+= model.number }
        withExtendedLifetime(models) {
            print("bytes a fetched model           " + String(format: "%8d", (residentBytes() - before) / models.count))
        }
    }
    if CommandLine.arguments.count > 1 {
        try reportMemory(URL(fileURLWithPath: CommandLine.arguments[1]))
        exit(0)
    }

    let store = FileManager.default.temporaryDirectory.appendingPathComponent("model-access-\(UUID()).store")
    defer { for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: store.path + suffix) } }
    let container = try ModelContainer(for: Account.self, configurations: ModelConfiguration(url: store))
    let count = 1_000

    @MainActor func fill(_ count: Int) throws {
        let context = ModelContext(container)
        let account = Account(name: "Savings")
        context.insert(account)
        for number in 0..<count { context.insert(Entry(number: number, account: account)) }
        try context.save()
    }
    try fill(count)

    let context = ModelContext(container)
    let entries = try context.fetch(FetchDescriptor<Entry>())

    /// The processor time of this process in nanoseconds.
    func processorTime() -> Double { Double(clock()) * 1e9 / Double(CLOCKS_PER_SEC) }

    /// Prints the best of nine passes over all models, for each model.
    @MainActor func report(_ name: String, repeats: Int = 200, _ pass: (Entry) -> Int) {
        var best = Double.infinity
        var sum = 0
        for _ in 0..<9 {
            let start = processorTime()
            for _ in 0..<repeats { for entry in entries { sum &+= pass(entry) } }
            best = min(best, (processorTime() - start) / Double(repeats * entries.count))
        }
        precondition(sum != Int.min)
        print(name.padding(toLength: 32, withPad: " ", startingAt: 0) + String(format: "%8.1f", best))
    }

    report("read Int") { $0.number }
    report("read Double") { Int($0.amount) }
    report("read Bool") { $0.isCleared ? 1 : 0 }
    report("read Date?") { $0.day == nil ? 0 : 1 }
    report("read String") { $0.text.utf8.count }
    report("read enumeration") { $0.kind == .debit ? 1 : 0 }
    report("read model") { $0.account == nil ? 0 : 1 }
    // The first write of a model makes it a changed one, which is another cost.
    for entry in entries { entry.number += 1 }
    report("write Int") {
        $0.number = 7
        return 0
    }
    report("write Double") {
        $0.amount = 2.5
        return 0
    }
    report("write Bool") {
        $0.isCleared = true
        return 0
    }
    report("write String") {
        $0.text = "something else"
        return 0
    }
    report("write enumeration") {
        $0.kind = .credit
        return 0
    }
    context.rollback()

    /// Prints the processor time of one of many fetches without results.
    @MainActor func report(fetch name: String, _ predicate: (Int) -> Predicate<Entry>) throws {
        var best = Double.infinity
        for _ in 0..<9 {
            let start = processorTime()
            for number in 0..<count {
                _ = try context.fetchCount(FetchDescriptor<Entry>(predicate: predicate(-number - 1)))
            }
            best = min(best, (processorTime() - start) / Double(count))
        }
        print(name.padding(toLength: 32, withPad: " ", startingAt: 0) + String(format: "%8.0f", best))
    }
    let nowhere = FetchDescriptor<Account>(sortBy: [])
    var start = processorTime()
    for _ in 0..<count { _ = try context.fetchCount(nowhere) }
    print("count without a predicate       " + String(format: "%8.0f", (processorTime() - start) / Double(count)))
    try report(fetch: "count, one comparison") { limit in #Predicate { $0.number == limit } }
    try report(fetch: "count, three comparisons") { limit in
        #Predicate { $0.number == limit && $0.isCleared && $0.account?.name == "Savings" }
    }

    // The memory is measured by a process of its own, which has no free memory to use again.
    let many = 100_000
    try fill(many)
    let child = Process()
    child.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    child.arguments = [store.path]
    try child.run()
    child.waitUntilExit()
#else
    FileHandle.standardError.write(Data("Build with --traits Macros.\n".utf8))
    exit(2)
#endif
