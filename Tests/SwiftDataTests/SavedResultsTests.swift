import Foundation
import SwiftData
import Testing

// Models without macros, which need a trait.

/// A model that a predicate can capture, because it is `Codable` and `Sendable`.
private final class Owner: PersistentModel, Codable, @unchecked Sendable {  // because each test has one thread
    static var schemaMetadata: [Schema.PropertyMetadata] {
        [
            .init(name: "name", keypath: \Owner.name),
            .init(name: "cards", keypath: \Owner.cards, metadata: Schema.Relationship(inverse: \Card.owner)),
        ]
    }

    var persistentBackingData: any BackingData<Owner>
    init(backingData: any BackingData<Owner>) { persistentBackingData = backingData }

    init(name: String) {
        persistentBackingData = Owner._createBackingData()
        self.name = name
        cards = []
    }

    convenience init(from decoder: any Decoder) throws {
        self.init(name: try decoder.singleValueContainer().decode(String.self))
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(name)
    }

    var name: String {
        get { getValue(forKey: \.name) }
        set { setValue(forKey: \.name, to: newValue) }
    }
    var cards: [Card] {
        get { getValue(forKey: \.cards) }
        set { setValue(forKey: \.cards, to: newValue) }
    }
}

private final class Card: PersistentModel {
    static var schemaMetadata: [Schema.PropertyMetadata] {
        [.init(name: "title", keypath: \Card.title), .init(name: "owner", keypath: \Card.owner)]
    }

    var persistentBackingData: any BackingData<Card>
    init(backingData: any BackingData<Card>) { persistentBackingData = backingData }

    init(title: String, owner: Owner? = nil) {
        persistentBackingData = Card._createBackingData()
        self.title = title
        self.owner = owner
    }

    var title: String {
        get { getValue(forKey: \.title) }
        set { setValue(forKey: \.title, to: newValue) }
    }
    var owner: Owner? {
        get { getValue(forKey: \.owner) }
        set { setValue(forKey: \.owner, to: newValue) }
    }

    /// Has no column, so that conditions on it are evaluated in memory.
    var shown: String { title.isEmpty ? "-" : title }
}

@Suite("Fetches of what is saved, while the context has changes")
struct SavedResultsTests {
    private let context: ModelContext
    private let owner = Owner(name: "o")
    private let cards: [Card]

    init() throws {
        let container = try ModelContainer(
            for: Owner.self, Card.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
        context = ModelContext(container)
        cards = ["c1", "c2", "c3", "d4"].map { Card(title: $0) }
        for card in cards { context.insert(card) }
        cards[0].owner = owner
        cards[1].owner = owner
        try context.save()
        // Unsaved: other titles, other owners, a new card and a deleted one.
        cards[0].title = "x1"
        cards[3].title = "c4"
        cards[1].owner = nil
        cards[2].owner = owner
        context.insert(Card(title: "c5", owner: owner))
    }

    private func fetch(_ predicate: Predicate<Card>?, _ order: KeyPath<Card, String> & Sendable = \.title)
        -> FetchDescriptor<Card>
    {
        var descriptor = FetchDescriptor(predicate: predicate, sortBy: [SortDescriptor(order, order: .reverse)])
        descriptor.includePendingChanges = false
        return descriptor
    }

    @Test("A condition and an order that are evaluated in memory see saved values, as those of the store do")
    func savedValues() throws {
        let beginning = "c"
        let inStore = fetch(#Predicate { $0.title.starts(with: beginning) })
        var inMemory = fetch(#Predicate { $0.shown.starts(with: beginning) }, \.shown)
        let expected = [cards[2], cards[1], cards[0]]
        #expect(try context.fetch(inStore) == expected)
        #expect(try context.fetch(inMemory) == expected)
        #expect(try context.fetchCount(inMemory) == 3)
        #expect(try context.fetchIdentifiers(inMemory) == expected.map(\.persistentModelID))
        #expect(try Array(context.fetch(inMemory, batchSize: 2)) == expected)
        (inMemory.fetchOffset, inMemory.fetchLimit) = (1, 1)
        #expect(try context.fetch(inMemory) == [cards[1]])
        // The models keep their unsaved values.
        #expect(cards[0].title == "x1" && context.hasChanges)
        #expect(try context.fetch(fetch(nil, \.shown)) == [cards[3], cards[2], cards[1], cards[0]])
    }

    @Test("A deleted model is among the results as in a fetch that the store answers alone")
    func deletion() throws {
        context.delete(cards[2])
        let beginning = "c"
        let inStore = try context.fetch(fetch(#Predicate { $0.title.starts(with: beginning) }))
        #expect(try context.fetch(fetch(#Predicate { $0.shown.starts(with: beginning) }, \.shown)) == inStore)
    }

    @Test("Conditions on related models see saved relationships, and a captured model equals its row")
    func relatedModels() throws {
        let (owner, id) = (owner, owner.persistentModelID)
        let minus = "-"
        let expected = [cards[1], cards[0]]
        #expect(try context.fetch(fetch(#Predicate { $0.owner == owner && $0.shown != minus })) == expected)
        #expect(
            try context.fetch(fetch(#Predicate { $0.owner?.persistentModelID == id && $0.shown != minus })) == expected)
        #expect(owner.modelContext === context && owner.cards.count == 3)
    }

    @Test("A fetch that includes changes sees them")
    func pendingChanges() throws {
        let beginning = "c"
        var descriptor = fetch(#Predicate { $0.shown.starts(with: beginning) }, \.shown)
        descriptor.includePendingChanges = true
        #expect(try context.fetch(descriptor).map(\.title) == ["c5", "c4", "c3", "c2"])
    }
}
