import Foundation
import Testing

@testable import SwiftData

// Models without macros, which need a trait.

private final class Coin: PersistentModel {
    static var schemaMetadata: [Schema.PropertyMetadata] {
        [
            .init(name: "value", keypath: \Coin.value),
            .init(name: "purse", keypath: \Coin.purse),
        ]
    }
    var persistentBackingData: any BackingData<Coin>
    init(backingData: any BackingData<Coin>) { persistentBackingData = backingData }
    init(value: Int) {
        persistentBackingData = Coin._createBackingData()
        self.value = value
        purse = nil
    }
    var value: Int {
        get { getValue(forKey: \.value) }
        set { setValue(forKey: \.value, to: newValue) }
    }
    var purse: Purse? {
        get { getValue(forKey: \.purse) }
        set { setValue(forKey: \.purse, to: newValue) }
    }
}

private final class Purse: PersistentModel {
    static var schemaMetadata: [Schema.PropertyMetadata] {
        [.init(name: "name", keypath: \Purse.name)]
    }
    var persistentBackingData: any BackingData<Purse>
    init(backingData: any BackingData<Purse>) { persistentBackingData = backingData }
    init(name: String) {
        persistentBackingData = Purse._createBackingData()
        self.name = name
    }
    var name: String {
        get { getValue(forKey: \.name) }
        set { setValue(forKey: \.name, to: newValue) }
    }
}

private final class Stone: PersistentModel {
    static var schemaMetadata: [Schema.PropertyMetadata] { [.init(name: "weight", keypath: \Stone.weight)] }
    var persistentBackingData: any BackingData<Stone>
    init(backingData: any BackingData<Stone>) { persistentBackingData = backingData }
    init(weight: Int) {
        persistentBackingData = Stone._createBackingData()
        self.weight = weight
    }
    var weight: Int {
        get { getValue(forKey: \.weight) }
        set { setValue(forKey: \.weight, to: newValue) }
    }
}

private actor Reader: ModelActor {
    nonisolated let modelExecutor: any ModelExecutor
    nonisolated let modelContainer: ModelContainer
    init(_ container: ModelContainer) {
        modelContainer = container
        modelExecutor = DefaultSerialModelExecutor(modelContext: ModelContext(container))
    }
    func value(_ id: PersistentIdentifier) -> Int? { self[id, as: Coin.self]?.value }
    func isKnown(_ id: PersistentIdentifier) -> Bool {
        let coin: Coin? = modelContext.registeredModel(for: id)
        return coin != nil
    }
}

@Suite("Identifiers of any origin")
struct IdentifierTests {
    private func container(_ types: any PersistentModel.Type...) throws -> ModelContainer {
        try ModelContainer(for: Schema(types), configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    }

    private func coded(_ identifier: PersistentIdentifier) throws -> PersistentIdentifier {
        try JSONDecoder().decode(PersistentIdentifier.self, from: JSONEncoder().encode(identifier))
    }

    /// ModelActor/subscript(_:as:) has an optional result.
    @Test("An actor finds no model for an identifier of another container, of an unknown entity, or without a row")
    func actor() async throws {
        let (own, other) = (try container(Coin.self), try container(Stone.self, Coin.self))
        let context = ModelContext(own)
        let coin = Coin(value: 5)
        context.insert(coin)
        try context.save()
        let elsewhere = ModelContext(other)
        let (stone, foreign) = (Stone(weight: 1), Coin(value: 1))
        elsewhere.insert(stone)
        elsewhere.insert(foreign)
        let unsaved = foreign.persistentModelID
        try elsewhere.save()
        let reader = Reader(own)
        #expect(await reader.value(coin.persistentModelID) == 5)
        #expect(await reader.value(try coded(coin.persistentModelID)) == 5)
        let unknown = try PersistentIdentifier.identifier(for: "x", entityName: "Unknown", primaryKey: 1)
        let gone = Coin(value: 2).persistentModelID
        for identifier in [
            stone.persistentModelID, foreign.persistentModelID, unsaved, try coded(unsaved),
            try coded(stone.persistentModelID), try coded(foreign.persistentModelID), unknown, gone, try coded(gone),
        ] {
            #expect(await reader.value(identifier) == nil, "\(identifier)")
            #expect(await !reader.isKnown(identifier), "\(identifier)")
        }
        // The function has no nil; such a model is of no context.
        #expect(context.model(for: try coded(stone.persistentModelID)).modelContext == nil)
    }

    /// The rows have the same numbers.
    @Test("A predicate with a decoded identifier of another container selects nothing")
    func decodedInPredicate() throws {
        let contexts = try [container(Coin.self), container(Coin.self)].map { ModelContext($0) }
        let identifiers = try contexts.map { context in
            let coin = Coin(value: 1)
            coin.purse = Purse(name: "p")
            context.insert(coin)
            try context.save()
            let purse = try #require(coin.purse)
            return (coin: try coded(coin.persistentModelID), purse: try coded(purse.persistentModelID))
        }
        func count(_ predicate: Predicate<Coin>) throws -> Int {
            try contexts[0].fetchCount(FetchDescriptor(predicate: predicate))
        }
        for (index, expected) in [(0, 1), (1, 0)] {
            let (coin, purse) = identifiers[index]
            let coins = [coin]
            #expect(try count(#Predicate { $0.persistentModelID == coin }) == expected)
            #expect(try count(#Predicate { $0.purse?.persistentModelID == purse }) == expected)
            #expect(try count(#Predicate { coins.contains($0.persistentModelID) }) == expected)
            #expect(try count(#Predicate { $0.persistentModelID != coin }) == 1 - expected)
        }
    }

    @Test("Keys of a store of one's own are ordered as numbers, others as texts")
    func order() throws {
        func identifiers<Key: Comparable & CustomStringConvertible & Codable & Hashable>(
            _ keys: [Key]
        ) throws -> [PersistentIdentifier] {
            try keys.map { try PersistentIdentifier.identifier(for: "s", entityName: "Coin", primaryKey: $0) }
        }
        for ordered in [
            try identifiers([-21, -3, 2, 12, 19, 21, 22, 100]), try identifiers(["3", "12", "a", "b1", "p", "t"]),
            try identifiers(["p3", "p12"]),
        ] {
            for (index, one) in ordered.enumerated() {
                for (other, second) in ordered.enumerated() { #expect((one < second) == (index < other)) }
            }
        }
    }

    @Test("A store refuses a snapshot that refers to a model without a row")
    func dangling() throws {
        let schema = Schema([Coin.self, Purse.self])
        let store = try DefaultStore(ModelConfiguration(schema: schema, isStoredInMemoryOnly: true))
        let purse = PersistentIdentifier(temporaryFor: "Purse")
        var coin = DefaultSnapshot(PersistentIdentifier(temporaryFor: "Coin"), values: ["value": 3, "purse": purse])
        func save(_ snapshots: [DefaultSnapshot]) throws {
            _ = try store.save(
                DataStoreSaveChangesRequest(
                    editingState: EditingState(), inserted: snapshots, updated: [], deleted: []))
        }
        #expect(throws: CocoaError.self) { try save([coin]) }
        let counted = DataStoreFetchRequest(descriptor: FetchDescriptor<Purse>(), editingState: EditingState())
        #expect(try store.fetchCount(counted) == 0)
        try save([coin, DefaultSnapshot(purse, values: ["name": "p"])])
        #expect(try store.fetchCount(counted) == 1)
        let unknown = try PersistentIdentifier.identifier(for: "x", entityName: "Unknown", primaryKey: 1)
        coin = DefaultSnapshot(PersistentIdentifier(temporaryFor: "Coin"), values: ["value": 3, "purse": unknown])
        #expect(throws: SwiftDataError.unknownSchema) { try save([coin]) }
    }
}
