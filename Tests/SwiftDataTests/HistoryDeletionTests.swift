import Foundation
import SwiftData
import Testing

/// A model without macros, which need a trait.
private final class Card: PersistentModel {
    static var schemaMetadata: [Schema.PropertyMetadata] { [.init(name: "title", keypath: \Card.title)] }

    var persistentBackingData: any BackingData<Card>
    init(backingData: any BackingData<Card>) { persistentBackingData = backingData }

    init(title: String) {
        persistentBackingData = Card._createBackingData()
        self.title = title
    }

    var title: String {
        get { getValue(forKey: \.title) }
        set { setValue(forKey: \.title, to: newValue) }
    }
}

private typealias Transactions = HistoryDescriptor<DefaultHistoryTransaction>

@Suite("deleteHistory deletes what its predicate selects")
struct HistoryDeletionTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    private let context: ModelContext

    /// A store with transactions of several authors, in the order in which a device writes them that also receives others' changes.
    init() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let container = try ModelContainer(
            for: Card.self, configurations: ModelConfiguration(url: folder.appendingPathComponent("Cards.store")))
        for (title, author) in [("a", nil), ("b", "inbound"), ("c", "widget"), ("d", "inbound"), ("e", nil)] {
            let context = ModelContext(container)
            context.author = author
            context.insert(Card(title: title))
            try context.save()
        }
        context = ModelContext(container)
    }

    private func authors() throws -> [String?] { try context.fetchHistory(Transactions()).map(\.author) }

    private func end() { try? FileManager.default.removeItem(at: folder) }

    /// As SwiftSync trims what a server has sent (3lvis/SwiftSync, OfflineHistoryTests).
    @Test("the transactions of an author, between others")
    func author() throws {
        defer { end() }
        let tokens = try context.fetchHistory(Transactions()).map(\.token)
        let inbound = "inbound"
        try context.deleteHistory(Transactions(predicate: #Predicate { $0.author == inbound }))
        #expect(try authors() == [nil, "widget", nil])
        // The rows stay, and so do the later positions.
        #expect(try context.fetchCount(FetchDescriptor<Card>()) == 5)
        for (index, count) in [(0, 2), (1, 2), (2, 1), (3, 1), (4, 0)] {
            let token = tokens[index]
            let later = try context.fetchHistory(Transactions(predicate: #Predicate { $0.token > token }))
            #expect(later.count == count, "after transaction \(index + 1)")
        }
        try context.deleteHistory(Transactions(predicate: #Predicate { $0.author == inbound }))
        #expect(try authors().count == 3)
    }

    @Test("the transactions without an author, among them the oldest")
    func noAuthor() throws {
        defer { end() }
        try context.deleteHistory(Transactions(predicate: #Predicate { $0.author == nil }))
        #expect(try authors() == ["inbound", "widget", "inbound"])
    }

    @Test("by time, by number, by token and by several conditions")
    func conditions() throws {
        defer { end() }
        let all = try context.fetchHistory(Transactions())
        let (time, number, last) = (all[1].timestamp, all[2].transactionIdentifier, all[4].token)
        try context.deleteHistory(Transactions(predicate: #Predicate { $0.timestamp == time }))
        #expect(try authors() == [nil, "widget", "inbound", nil])
        try context.deleteHistory(
            Transactions(predicate: #Predicate { $0.transactionIdentifier == number && $0.author == "widget" }))
        #expect(try authors() == [nil, "inbound", nil])
        try context.deleteHistory(Transactions(predicate: #Predicate { $0.token >= last }))
        #expect(try authors() == [nil, "inbound"])
        // Numbers are not assigned again.
        context.insert(Card(title: "f"))
        try context.save()
        let numbers = try context.fetchHistory(Transactions()).map(\.transactionIdentifier)
        #expect(numbers == [1, 4, 6])
    }

    @Test("everything without a predicate, after which the last token is valid")
    func everything() throws {
        defer { end() }
        let tokens = try context.fetchHistory(Transactions()).map(\.token)
        try context.deleteHistory(Transactions())
        #expect(try authors().isEmpty)
        let (first, last) = (tokens[0], tokens[4])
        #expect(try context.fetchHistory(Transactions(predicate: #Predicate { $0.token > last })).isEmpty)
        #expect(throws: SwiftDataError.historyTokenExpired) {
            try context.fetchHistory(Transactions(predicate: #Predicate { $0.token > first }))
        }
    }
}
