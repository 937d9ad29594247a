import CoreData
import Foundation
import Synchronization
import Testing

@testable import SwiftData

/// A model without macros, which need a trait.
private final class Leaf: PersistentModel {
    static var schemaMetadata: [Schema.PropertyMetadata] { [.init(name: "text", keypath: \Leaf.text)] }
    var persistentBackingData: any BackingData<Leaf>
    init(backingData: any BackingData<Leaf>) { persistentBackingData = backingData }
    init(text: String) {
        persistentBackingData = Leaf._createBackingData()
        self.text = text
    }
    var text: String {
        get { getValue(forKey: \.text) }
        set { setValue(forKey: \.text, to: newValue) }
    }
}

@Suite("What reads the history after commits")
struct HistoryReaderTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)

    /// A container as that of another process: with a coordinator of its own.
    private func container() throws -> ModelContainer {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return try ModelContainer(
            for: Leaf.self, configurations: ModelConfiguration(url: folder.appendingPathComponent("Leaves.store")))
    }

    private func add(_ text: String, to container: ModelContainer) throws {
        let context = ModelContext(container)
        context.insert(Leaf(text: text))
        try context.save()
    }

    private func wait(_ isDone: () -> Bool) async throws {
        for _ in 0..<400 where !isDone() { try await Task.sleep(for: .milliseconds(25)) }
        #expect(isDone())
    }

    @Test("After deleted history anything may have changed, and later changes are seen again")
    func expired() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let (own, other) = (try container(), try container())
        try add("a", to: other)
        let position = try #require(own.coordinator.currentPersistentHistoryToken(fromStores: nil))
        try add("b", to: other)
        try add("c", to: other)
        try ModelContext(other).deleteHistory(HistoryDescriptor<DefaultHistoryTransaction>())
        // What was told: the number of insertions, or -1 where anything may have changed.
        let told = Mutex<[Int]>([])
        let reader = OtherProcesses(of: own.coordinator, after: position) { changes in
            told.withLock { $0.append(changes?.inserted.count ?? -1) }
        }
        try add("d", to: other)
        try await wait { told.withLock { $0.first } == -1 }
        try add("e", to: other)
        try await wait { told.withLock { $0.dropFirst().reduce(0, +) } >= 1 }
        withExtendedLifetime(reader) {}
    }

    @Test("Where anything may have changed, a context reads its rows again, and notices those that are gone")
    func unknown() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let (own, other) = (try container(), try container())
        for text in ["a", "b"] { try add(text, to: own) }
        let context = ModelContext(own)
        let leaves = try context.fetch(FetchDescriptor<Leaf>(sortBy: [SortDescriptor(\.text)]))
        let foreign = ModelContext(other)
        for leaf in try foreign.fetch(FetchDescriptor<Leaf>()) {
            if leaf.text == "a" { leaf.text = "changed" } else { foreign.delete(leaf) }
        }
        try foreign.save()
        context.foreignSaves.noteUnknown()
        #expect(try context.fetchCount(FetchDescriptor<Leaf>()) == 1)
        #expect(leaves[0].text == "changed")
        #expect(leaves[1].modelContext == nil && leaves[1].isDeleted && leaves[1].text == "b")
    }

    @Test("The tokens of a HistoryObserver are announced when they change")
    func tokens() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let own = try container()
        let observer = try HistoryObserver(modelContainer: own)
        let first = observer.historyTokens
        let announced = Atomic<Int>(0)
        withObservationTracking {
            _ = observer.historyTokens
        } onChange: {
            announced.add(1, ordering: .relaxed)
        }
        try add("a", to: own)
        try await wait { announced.load(ordering: .relaxed) == 1 }
        try await wait { observer.eventCounter == 1 }
        let store = try #require(first.keys.first ?? observer.historyTokens.keys.first)
        let (before, after) = (
            first[store] as? DefaultHistoryToken, observer.historyTokens[store] as? DefaultHistoryToken
        )
        #expect(after != nil && before != after)
    }
}
