import Foundation
import SwiftData
import XCTest

@testable import Cocktails

final class CocktailsTests: XCTestCase {
    private var folder: URL!

    override func setUpWithError() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    override func tearDown() { try? FileManager.default.removeItem(at: folder) }

    private func container(_ name: String = "cocktails") throws -> ModelContainer {
        try ModelContainer(
            for: Cocktail.self,
            configurations: ModelConfiguration(url: folder.appendingPathComponent("\(name).store")))
    }

    func testAModelHasItsValuesWithoutAContainer() {
        let daiquiri = Cocktail(name: "Daiquiri", glass: .coupe, author: Author(place: "Santiago", year: 1898))
        XCTAssertEqual(daiquiri.name, "Daiquiri")
        XCTAssertEqual(daiquiri.glass, .coupe)
        XCTAssertEqual(daiquiri.author?.year, 1898)
        XCTAssertEqual(daiquiri.ingredients, [])
        XCTAssertNil(daiquiri.notes)
        XCTAssertNil(daiquiri.modelContext)
        let lime = Ingredient(name: "Lime", amount: 25)
        daiquiri.ingredients.append(lime)
        XCTAssertTrue(lime.cocktail === daiquiri, "The inverse is set before there is a context.")
    }

    func testWhatIsSavedIsFetched() throws {
        let container = try container()
        let context = ModelContext(container)
        let daiquiri = Cocktail(
            name: "Daiquiri", glass: .coupe, author: Author(place: "Santiago", year: 1898), rating: 4.5)
        daiquiri.tags = ["sour", "rum"]
        daiquiri.ingredients = [Ingredient(name: "Rum", amount: 60), Ingredient(name: "Lime", amount: 25)]
        daiquiri.bars.append(Bar(name: "Floridita"))
        context.insert(daiquiri)
        context.insert(Cocktail(name: "Mojito", glass: .highball, rating: 4))
        XCTAssertTrue(context.hasChanges)
        try context.save()
        XCTAssertFalse(context.hasChanges)

        let other = ModelContext(container)
        let good = try other.fetch(
            FetchDescriptor<Cocktail>(predicate: #Predicate { $0.rating > 4.2 }, sortBy: [SortDescriptor(\.name)]))
        XCTAssertEqual(good.map(\.name), ["Daiquiri"])
        let found = try XCTUnwrap(good.first)
        XCTAssertFalse(found === daiquiri)
        XCTAssertEqual(found.persistentModelID, daiquiri.persistentModelID)
        XCTAssertEqual(found.glass, .coupe)
        XCTAssertEqual(found.author, Author(place: "Santiago", year: 1898))
        XCTAssertEqual(found.tags, ["sour", "rum"])
        XCTAssertEqual(Set(found.ingredients.map(\.name)), ["Rum", "Lime"])
        XCTAssertTrue(found.ingredients.allSatisfy { $0.cocktail === found })
        XCTAssertEqual(found.bars.first?.name, "Floridita")
        XCTAssertEqual(found.bars.first?.id, daiquiri.bars.first?.id)
    }

    func testAnInsertedModelUpdatesTheOneWithItsUniqueValue() throws {
        let container = try container()
        let context = ModelContext(container)
        context.insert(Cocktail(name: "Daiquiri", glass: .coupe, rating: 1))
        try context.save()
        let again = Cocktail(name: "Daiquiri", glass: .rocks, rating: 5)
        context.insert(again)
        try context.save()
        let all = try ModelContext(container).fetch(FetchDescriptor<Cocktail>())
        XCTAssertEqual(all.map(\.rating), [5])
        XCTAssertEqual(all.map(\.glass), [.rocks])
        XCTAssertEqual(try context.fetch(FetchDescriptor<Cocktail>()).map(\.rating), [5])
        again.rating = 3
        try context.save()
        XCTAssertEqual(try ModelContext(container).fetch(FetchDescriptor<Cocktail>()).map(\.rating), [3])
    }

    func testDeletionFollowsTheRules() throws {
        let container = try container()
        let context = ModelContext(container)
        let daiquiri = Cocktail(name: "Daiquiri", glass: .coupe)
        daiquiri.ingredients = [Ingredient(name: "Rum", amount: 60)]
        let bar = Bar(name: "Floridita")
        bar.cocktails = [daiquiri]
        context.insert(daiquiri)
        context.insert(bar)
        try context.save()
        context.delete(daiquiri)
        try context.save()
        XCTAssertTrue(daiquiri.isDeleted)
        XCTAssertEqual(daiquiri.name, "Daiquiri", "A deleted model keeps its last values.")
        XCTAssertEqual(try context.fetchCount(FetchDescriptor<Ingredient>()), 0)
        XCTAssertEqual(bar.cocktails, [])
    }

    func testRollbackDiscardsChanges() throws {
        let context = ModelContext(try container())
        let mojito = Cocktail(name: "Mojito", glass: .highball, rating: 4)
        context.insert(mojito)
        try context.save()
        mojito.rating = 1
        let new = Cocktail(name: "New", glass: .rocks)
        context.insert(new)
        context.rollback()
        XCTAssertEqual(mojito.rating, 4)
        XCTAssertNil(new.modelContext)
        XCTAssertEqual(new.name, "New")
        XCTAssertFalse(context.hasChanges)
        XCTAssertEqual(try context.fetchCount(FetchDescriptor<Cocktail>()), 1)
    }

    func testObservationSeesAChange() throws {
        let context = ModelContext(try container())
        let mojito = Cocktail(name: "Mojito", glass: .highball)
        context.insert(mojito)
        nonisolated(unsafe) var changes = 0
        withObservationTracking {
            _ = mojito.rating
        } onChange: {
            changes += 1
        }
        mojito.notes = "mint"
        XCTAssertEqual(changes, 0)
        mojito.rating = 2
        XCTAssertEqual(changes, 1)
    }

    func testAModelActorWorksOnItsOwnContext() async throws {
        let container = try container()
        let archive = Archive(modelContainer: container)
        let id = try await archive.add("Negroni")
        XCTAssertEqual(try ModelContext(container).fetch(FetchDescriptor<Cocktail>()).first?.persistentModelID, id)
        let name = await archive.name(of: id)
        XCTAssertEqual(name, "Negroni")
    }
}

@ModelActor
actor Archive {
    func add(_ name: String) throws -> PersistentIdentifier {
        let cocktail = Cocktail(name: name, glass: .rocks)
        modelContext.insert(cocktail)
        try modelContext.save()
        return cocktail.persistentModelID
    }

    func name(of id: PersistentIdentifier) -> String? { self[id, as: Cocktail.self]?.name }
}
