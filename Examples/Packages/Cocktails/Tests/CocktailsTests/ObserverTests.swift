import Foundation
import SwiftData
import XCTest

@testable import Cocktails

final class ObserverTests: StoreTestCase {
    override func makeContainer() throws -> ModelContainer {
        try ModelContainer(
            for: Cocktail.self, configurations: ModelConfiguration(url: folder.appendingPathComponent("observed.store"))
        )
    }

    /// How often what a closure reads is announced to change, at most once until it is read again.
    private final class Announcements: @unchecked Sendable {  // because a lock guards the count
        private let lock = NSLock()
        private var value = 0
        var count: Int { lock.withLock { value } }
        func track(_ read: () -> Void) {
            withObservationTracking(read) { self.lock.withLock { self.value += 1 } }
        }
    }

    /// Waits for a condition that another thread fulfils.
    @MainActor
    private func wait(for condition: () throws -> Bool) async throws {
        for _ in 0..<400 {
            if try condition() { return }
            try await Task.sleep(for: .milliseconds(10))
        }
        XCTFail("The condition was not fulfilled in four seconds.")
    }

    // MARK: - Results

    func testResultsFollowTheirContext() throws {
        let observer = try ResultsObserver<Cocktail, Never>(
            filterBy: #Predicate { $0.rating > 2 }, sortBy: [SortDescriptor(\.name)], modelContext: context)
        XCTAssertEqual(observer.results.count, 0)
        XCTAssertNil(observer.sections)
        let announced = Announcements()
        func check(_ names: [String], _ count: Int, line: UInt = #line) {
            XCTAssertEqual(announced.count, count, line: line)
            XCTAssertEqual(observer.results.map(\.name), names, line: line)
            announced.track { _ = observer.results }
        }
        check([], 0)
        let mojito = Cocktail(name: "Mojito", glass: .highball, rating: 4)
        context.insert(mojito)
        check(["Mojito"], 1)
        context.insert(Cocktail(name: "Daiquiri", glass: .coupe, rating: 5))
        context.insert(Cocktail(name: "Water", glass: .rocks, rating: 1))
        check(["Daiquiri", "Mojito"], 2)
        try context.save()
        mojito.rating = 1
        check(["Daiquiri"], 3)
        context.rollback()
        check(["Daiquiri", "Mojito"], 4)
        context.delete(mojito)
        check(["Daiquiri"], 5)
        context.insert(Bar(name: "Floridita"))
        XCTAssertEqual(announced.count, 5, "A bar changes no results.")
        try context.delete(model: Cocktail.self)
        check([], 6)
    }

    func testResultsFollowUndo() throws {
        context.insert(Cocktail(name: "Mojito", glass: .highball, rating: 4))
        try context.save()
        let observer = try ResultsObserver<Cocktail, Never>(
            filterBy: #Predicate { $0.rating > 2 }, modelContext: context)
        let manager = UndoManager()
        context.undoManager = manager
        observer.results[0].rating = 0
        context.processPendingChanges()
        XCTAssertEqual(observer.results.count, 0)
        manager.undo()
        XCTAssertEqual(observer.results.map(\.rating), [4])
    }

    func testAConditionOnRelatedModelsIsFollowed() throws {
        let mojito = Cocktail(name: "Mojito", glass: .highball)
        let mint = Ingredient(name: "Mint", amount: 1)
        mojito.ingredients = [mint]
        context.insert(mojito)
        let observer = try ResultsObserver<Cocktail, Never>(
            filterBy: #Predicate { $0.ingredients.contains { $0.amount > 2 } }, modelContext: context)
        XCTAssertEqual(observer.results.count, 0)
        mint.amount = 3
        XCTAssertEqual(observer.results.count, 1)
    }

    func testResultsFollowOtherContexts() throws {
        let observer = try ResultsObserver<Cocktail, Never>(modelContext: context, isolation: nil)
        let announced = Announcements()
        announced.track { _ = observer.results }
        let other = ModelContext(container)
        let negroni = Cocktail(name: "Negroni", glass: .rocks)
        other.insert(negroni)
        XCTAssertEqual(announced.count, 0)
        try other.save()
        XCTAssertEqual(announced.count, 1)
        XCTAssertEqual(observer.results.map(\.name), ["Negroni"])
        announced.track { _ = observer.results }
        negroni.rating = 3
        try other.save()
        XCTAssertEqual(announced.count, 2)
        XCTAssertEqual(observer.results.map(\.rating), [3])
    }

    /// Another coordinator of the same file stands for another process: neither knows the contexts of the other.
    @MainActor
    func testResultsFollowOtherProcesses() async throws {
        context.insert(Cocktail(name: "Mojito", glass: .highball, rating: 1))
        try context.save()
        let observer = try ResultsObserver<Cocktail, Never>(
            sortBy: [SortDescriptor(\.name)], modelContext: container.mainContext)
        XCTAssertEqual(observer.results.map(\.rating), [1])
        let foreign = ModelContext(try makeContainer())
        try XCTUnwrap(foreign.fetch(FetchDescriptor<Cocktail>()).first).rating = 2
        foreign.insert(Cocktail(name: "Negroni", glass: .rocks, rating: 3))
        try foreign.save()
        try await wait { observer.results.map(\.rating) == [2, 3] }
    }

    func testSections() throws {
        for (name, glass, notes) in [
            ("C", Glass.rocks, "b"), ("A", .coupe, nil), ("B", .rocks, "a"), ("D", .coupe, "b"),
        ] {
            let cocktail = Cocktail(name: name, glass: glass)
            cocktail.notes = notes
            context.insert(cocktail)
        }
        let observer = try ResultsObserver<Cocktail, String>(
            sortBy: [SortDescriptor(\.name, order: .reverse)], sectionBy: \.notes, modelContext: context)
        let sections = try XCTUnwrap(observer.sections)
        XCTAssertEqual(sections.sectionTitles, ["", "a", "b"])
        XCTAssertEqual(sections.map { $0.map(\.name) }, [["A"], ["B"], ["D", "C"]])
        XCTAssertEqual(sections.map(\.id), sections.sectionTitles)
        XCTAssertEqual(sections[sectionTitle: "b"]?.count, 2)
        XCTAssertNil(sections[sectionTitle: "c"])
        XCTAssertEqual(observer.sectionBy, \Cocktail.notes)
        observer.sortBy = [SortDescriptor(\.name)]
        XCTAssertEqual(observer.sections?.map { $0.map(\.name) }, [["A"], ["B"], ["C", "D"]])
        XCTAssertEqual(observer.sortBy.count, 1)
        let named = try ResultsObserver<Cocktail, String>(sectionBy: \.name, modelContainer: container)
        XCTAssertEqual(named.sections?.count, 0)
        try context.save()
        XCTAssertEqual(named.sections?.sectionTitles, ["A", "B", "C", "D"])
    }

    // MARK: - History

    @MainActor
    func testTheHistoryIsCounted() async throws {
        let all = try HistoryObserver(modelContainer: container)
        let bars = try HistoryObserver(observedModels: [Bar.self], authors: ["guide"], modelContainer: container)
        let announced = Announcements()
        announced.track { _ = all.eventCounter }
        context.insert(Cocktail(name: "Mojito", glass: .highball))
        try context.save()
        try await wait { all.eventCounter == 1 }
        XCTAssertEqual(announced.count, 1)
        XCTAssertEqual(bars.eventCounter, 0)
        context.insert(Bar(name: "Floridita"))
        try context.save()
        try await wait { all.eventCounter == 2 }
        XCTAssertEqual(bars.eventCounter, 0, "The author is another one.")
        let foreign = ModelContext(try makeContainer())
        foreign.author = "guide"
        foreign.insert(Bar(name: "La Bodeguita"))
        try foreign.save()
        try await wait { bars.eventCounter == 1 }
        try await wait { all.eventCounter == 3 }
        // From a position in the past, what was saved since then counts.
        let store = try XCTUnwrap(all.historyTokens.first)
        XCTAssertEqual((store.value as? DefaultHistoryToken)?.tokenValue, [store.key: 3])
        let first = try XCTUnwrap(context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>()).first)
        let late = try HistoryObserver(historyTokens: [store.key: first.token], modelContainer: container)
        try await wait { late.eventCounter == 1 }
    }
}
