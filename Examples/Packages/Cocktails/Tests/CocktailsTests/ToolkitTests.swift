import Coral
import CoralModels
import Foundation
import SwiftData
import XCTest

@testable import Cocktails

@Model
final class Menu {
    private(set) var id = UUID()
    var title: String
    var printed: Date
    var draft: String?
    @Relationship(deleteRule: .cascade, inverse: \Course.menu) var courses: [Course] = []
    @Relationship(inverse: \Guest.menus) var guests: [Guest] = []
    @Transient var isOpen = false

    init(title: String) {
        self.title = title
        printed = Date(timeIntervalSinceReferenceDate: 0)
    }
}

@Model
final class Course {
    var name: String
    var version: Int
    var menu: Menu?
    init(name: String, version: Int = 1) {
        self.name = name
        self.version = version
    }
}

@Model
final class Guest {
    @Attribute(.unique) var name: String
    var menus: [Menu] = []
    init(name: String) { self.name = name }
}

extension Menu: RuledModel {
    static var toolkitRules: ModelRules<Menu> {
        ModelRules(
            .key(\.title), .renew(\.id), .renew(\.printed), .exclude(\.draft), .copy(\.guests, .omit),
            .shape(\.guests, .embed))
    }
}

extension Course: RuledModel {
    static var toolkitRules: ModelRules<Course> { ModelRules(.key(\.menu, \.name), .newer(\.version)) }
}

/// Rules that do not fit.
@Model
final class Wrong {
    var name: String
    var others: [Wrong] = []
    @Transient var hidden = 1
    init(name: String) { self.name = name }
}

extension Wrong: RuledModel {
    static var toolkitRules: ModelRules<Wrong> {
        ModelRules(
            .key(\.others), .copy(\.name, .reference), .exclude(\.hidden), .members(\.name, .union), .newer(\.others))
    }
}

final class ToolkitTests: XCTestCase {
    private var folder: URL!
    private var context: ModelContext!

    override func setUpWithError() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        context = try makeContext("one")
    }

    override func tearDown() {
        context = nil
        try? FileManager.default.removeItem(at: folder)
    }

    private func configuration(_ name: String) -> ModelConfiguration {
        ModelConfiguration(url: folder.appendingPathComponent("\(name).store"))
    }

    private func makeContext(_ name: String) throws -> ModelContext {
        ModelContext(try ModelContainer(for: Cocktail.self, Menu.self, configurations: configuration(name)))
    }

    private func insertDaiquiri() throws -> Cocktail {
        let daiquiri = Cocktail(
            name: "Daiquiri", glass: .coupe, author: Author(place: "Santiago", year: 1898), rating: 4.5,
            added: Date(timeIntervalSinceReferenceDate: 123.5))
        daiquiri.tags = ["sour", "rum"]
        daiquiri.ingredients = [Ingredient(name: "Rum", amount: 60), Ingredient(name: "Lime", amount: 25)]
        daiquiri.bars = [Bar(name: "Floridita")]
        context.insert(daiquiri)
        try context.save()
        return daiquiri
    }

    // MARK: - Documents

    func testADocumentIsImportedIntoAnotherContainer() throws {
        let daiquiri = try insertDaiquiri()
        for format in [GraphFormat.json, .propertyList] {
            let other = try makeContext("other-\(format)")
            let document = try daiquiri.encoded(as: format, shape: .everything)
            let copy = try other.importModel(from: document, as: Cocktail.self)
            XCTAssertTrue(other.hasChanges)
            try other.save()
            let fresh = ModelContext(other.container)
            let found = try XCTUnwrap(fresh.fetch(FetchDescriptor<Cocktail>()).first)
            XCTAssertEqual(found.persistentModelID, copy.persistentModelID)
            XCTAssertEqual(found.name, "Daiquiri")
            XCTAssertEqual(found.glass, .coupe)
            XCTAssertEqual(found.author, Author(place: "Santiago", year: 1898))
            XCTAssertEqual(found.rating, 4.5)
            XCTAssertEqual(found.added, daiquiri.added)
            XCTAssertEqual(found.tags, ["sour", "rum"])
            XCTAssertNil(found.notes)
            XCTAssertEqual(Set(found.ingredients.map(\.amount)), [60, 25])
            XCTAssertTrue(found.ingredients.allSatisfy { $0.cocktail === found })
            XCTAssertEqual(found.bars.map(\.id), daiquiri.bars.map(\.id))
        }
    }

    func testAnImportFindsModelsByTheirUniqueValue() throws {
        let daiquiri = try insertDaiquiri()
        let json = """
            [{"name": "Daiquiri", "glass": "rocks", "rating": 5, "author": {"place": "Cuba"},
              "ingredients": [{"name": "Rum", "amount": 45}]},
             {"name": "Mojito", "glass": "highball", "added": "2026-01-01T00:00:00Z"}]
            """
        let imported = try context.importModels(from: Data(json.utf8), as: Cocktail.self)
        XCTAssertEqual(imported.map(\.name), ["Daiquiri", "Mojito"])
        XCTAssertTrue(imported.first === daiquiri)
        XCTAssertEqual(daiquiri.glass, .rocks)
        XCTAssertEqual(daiquiri.rating, 5)
        XCTAssertEqual(daiquiri.author, Author(place: "Cuba"))
        XCTAssertEqual(daiquiri.tags, ["sour", "rum"], "A document keeps what it does not mention.")
        try context.save()
        XCTAssertEqual(try ModelContext(context.container).fetchCount(FetchDescriptor<Cocktail>()), 2)
    }

    func testAnInvalidDocumentChangesNothing() throws {
        let daiquiri = try insertDaiquiri()
        let json = #"[{"name": "Daiquiri", "rating": 1}, {"name": "Mojito", "glass": 3, "rating": "high"}]"#
        XCTAssertThrowsError(try context.importModels(from: Data(json.utf8), as: Cocktail.self)) { error in
            XCTAssertTrue("\(error)".contains("rating"), "\(error)")
        }
        XCTAssertEqual(daiquiri.rating, 4.5)
        XCTAssertFalse(context.hasChanges)
    }

    func testADictionaryRestoresAModel() throws {
        let daiquiri = try insertDaiquiri()
        let earlier = try daiquiri.dictionary()
        XCTAssertEqual(earlier["name"] as? String, "Daiquiri")
        XCTAssertEqual((earlier["ingredients"] as? [[String: Any]])?.count, 2)
        daiquiri.rating = 1
        daiquiri.author = nil
        daiquiri.ingredients = [Ingredient(name: "Gin", amount: 10)]
        nonisolated(unsafe) var changes = 0
        withObservationTracking {
            _ = daiquiri.rating
        } onChange: {
            changes += 1
        }
        try daiquiri.populate(from: earlier)
        XCTAssertEqual(changes, 1)
        XCTAssertEqual(daiquiri.rating, 4.5)
        XCTAssertEqual(daiquiri.author?.place, "Santiago")
        XCTAssertEqual(Set(daiquiri.ingredients.map(\.name)), ["Rum", "Lime"])
        try context.save()
        XCTAssertEqual(try ModelContext(context.container).fetchCount(FetchDescriptor<Ingredient>()), 2)
    }

    func testModelsThatADictionaryDoesNotListAreKeptOnDemand() throws {
        let daiquiri = try insertDaiquiri()
        let sugar: [String: Any] = ["ingredients": [["name": "Sugar", "amount": 10]]]
        try daiquiri.populate(from: sugar, deletingUnlistedChildren: false)
        XCTAssertEqual(Set(daiquiri.ingredients.map(\.name)), ["Rum", "Lime", "Sugar"])
        try daiquiri.populate(from: sugar)
        XCTAssertEqual(daiquiri.ingredients.map(\.name), ["Sugar"])
    }

    func testDictionariesAreImportedInTheirOrder() throws {
        let dictionaries: [[String: Any]] = [
            ["name": "Mojito", "glass": "highball", "added": Date()],
            ["name": "Daiquiri", "glass": "coupe", "added": Date()],
        ]
        let imported = try context.importModels(from: dictionaries, as: Cocktail.self)
        XCTAssertEqual(imported.map(\.name), ["Mojito", "Daiquiri"])
        XCTAssertEqual(imported.map(\.glass), [.highball, .coupe])
    }

    func testAModelOfNoContextIsRefused() throws {
        let new = Cocktail(name: "New", glass: .rocks)
        XCTAssertThrowsError(try new.encoded()) { XCTAssertEqual(($0 as? ModelToolkitError)?.code, .noContext) }
        XCTAssertThrowsError(try new.deepCopy()) { XCTAssertEqual(($0 as? ModelToolkitError)?.place, "Cocktail") }
        context.insert(new)
        XCTAssertEqual(try new.dictionary()["name"] as? String, "New")
        XCTAssertEqual(try [Cocktail]().encoded().isEmpty, false)
    }

    // MARK: - Copies

    func testACopyHasItsOwnOwnedModels() throws {
        let daiquiri = try insertDaiquiri()
        let copy = try daiquiri.deepCopy()
        XCTAssertFalse(copy === daiquiri)
        XCTAssertEqual(copy.name, "Daiquiri copy")
        XCTAssertEqual(copy.author, daiquiri.author)
        XCTAssertEqual(copy.glass, .coupe)
        XCTAssertEqual(copy.tags, daiquiri.tags)
        XCTAssertEqual(Set(copy.ingredients.map(\.name)), ["Rum", "Lime"])
        XCTAssertTrue(Set(copy.ingredients).isDisjoint(with: daiquiri.ingredients))
        XCTAssertEqual(copy.bars, daiquiri.bars)
        try context.save()
        XCTAssertEqual(try ModelContext(context.container).fetchCount(FetchDescriptor<Ingredient>()), 4)
        let other = try makeContext("other")
        let elsewhere = try [daiquiri, copy].deepCopies(shape: .everything, into: other)
        try other.save()
        XCTAssertEqual(elsewhere.map(\.name), ["Daiquiri", "Daiquiri copy"])
        XCTAssertEqual(try ModelContext(other.container).fetchCount(FetchDescriptor<Bar>()), 1)
    }

    // MARK: - Changes

    func testChangesSinceADocumentATokenAndADictionary() throws {
        let daiquiri = try insertDaiquiri()
        let (document, token, dictionary) = (
            try daiquiri.encoded(), try daiquiri.changeToken(), try daiquiri.dictionary()
        )
        XCTAssertTrue(try daiquiri.changes(since: document).isEmpty)
        daiquiri.rating = 1
        daiquiri.ingredients.append(Ingredient(name: "Sugar", amount: 10))
        for delta in [
            try daiquiri.changes(since: document), try daiquiri.changes(since: token),
            try daiquiri.changes(since: dictionary),
        ] {
            XCTAssertEqual(delta.changes.count, 2, "\(delta)")
            XCTAssertTrue("\(delta.changes)".contains("rating"))
        }
    }

    func testContainersAreComparedExportedAndSeeded() throws {
        let daiquiri = try insertDaiquiri()
        let document = folder.appendingPathComponent("all.json")
        try context.container.export(to: document)
        XCTAssertTrue(
            try ModelContainer.createStore(
                for: context.container.schema, configuration: configuration("seeded"), importing: [document]))
        XCTAssertFalse(
            try ModelContainer.createStore(
                for: context.container.schema, configuration: configuration("seeded"), importing: [document]))
        let seeded = try makeContext("seeded")
        let found = try XCTUnwrap(seeded.fetch(FetchDescriptor<Cocktail>()).first)
        XCTAssertEqual(found.ingredients.count, 2)
        XCTAssertEqual(found.glass, .coupe)
        XCTAssertTrue(try seeded.container.changes(since: Data(contentsOf: document)).isEmpty)
        daiquiri.rating = 2
        try context.save()
        let delta = try context.container.changes(since: Data(contentsOf: document))
        XCTAssertEqual(delta.changes.count, 1)
    }

    func testAReferenceFindsItsModel() throws {
        let daiquiri = try insertDaiquiri()
        let coded = try JSONEncoder().encode(daiquiri.reference())
        let reference = try JSONDecoder().decode(ManagedObjectReference.self, from: coded)
        let fresh = ModelContext(context.container)
        XCTAssertEqual(fresh.model(for: reference, as: Cocktail.self)?.name, "Daiquiri")
        XCTAssertNil(fresh.model(for: reference, as: Bar.self))
        let other = try makeContext("other")
        XCTAssertNil(other.model(for: reference, as: Cocktail.self))
        let mojito = try other.importModel(
            from: Data(#"{"name": "Daiquiri", "glass": "rocks", "added": 0}"#.utf8), as: Cocktail.self)
        XCTAssertTrue(other.model(for: reference, as: Cocktail.self) === mojito, "The natural key finds it.")
    }

    // MARK: - Rules

    func testAPlainDocumentIsImportedInBatches() throws {
        _ = try insertMenu()
        let document = folder.appendingPathComponent("plain.json")
        let exported = try context.container.export(to: document, layout: .plain, shape: .everything)
        let other = try makeContext("other")
        XCTAssertEqual(try other.fetchCount(FetchDescriptor<Menu>()), 0)
        var options = ImportOptions()
        options.layout = .plain
        let first = try other.container.importInBatches(from: .file(document), options: options)
        XCTAssertEqual(first.insertCount, exported.recordCount)
        let menu = try XCTUnwrap(other.fetch(FetchDescriptor<Menu>()).first)
        XCTAssertEqual(Set(menu.courses.map(\.name)), ["Soup", "Fish"])
        // Courses are found by the keys of their class, which contain the menu.
        menu.title = "Summer"
        try other.save()
        let second = try other.container.importInBatches(from: .file(document), as: Menu.self, options: options)
        XCTAssertEqual(second.insertCount, exported.recordCount - 1, "The guest is found by its name.")
        XCTAssertEqual(Set(try other.fetch(FetchDescriptor<Menu>()).map(\.title)), ["Spring", "Summer"])
    }

    private func insertMenu() throws -> Menu {
        let menu = Menu(title: "Spring")
        menu.draft = "notes"
        menu.courses = [Course(name: "Soup"), Course(name: "Fish")]
        menu.guests = [Guest(name: "Ann")]
        context.insert(menu)
        try context.save()
        return menu
    }

    func testCopiesFollowTheRulesOfTheClass() throws {
        let menu = try insertMenu()
        let copy = try menu.deepCopy()
        XCTAssertNotEqual(copy.id, menu.id)
        XCTAssertGreaterThan(copy.printed, menu.printed)
        XCTAssertNil(copy.draft)
        XCTAssertEqual(copy.guests, [])
        XCTAssertEqual(copy.courses.count, 2)
        let linked = try menu.deepCopy(shape: GraphShape.ownership.with("Menu.guests", .reference))
        XCTAssertEqual(linked.guests.map(\.name), ["Ann"], "A rule of the call takes precedence.")
    }

    func testImportsFollowTheRulesOfTheClass() throws {
        let menu = try insertMenu()
        let document = try menu.encoded()
        let other = try makeContext("other")
        let copy = try other.importModel(from: document, as: Menu.self)
        XCTAssertEqual(copy.guests.map(\.name), ["Ann"], "The shape embeds the guests.")
        try other.save()
        let json = """
            {"title": "Spring", "courses": [{"name": "Soup", "version": 1}, {"name": "Fish", "version": 2}, {"name": "Cake", "version": 1}]}
            """
        let soup = try XCTUnwrap(copy.courses.first { $0.name == "Soup" })
        let same = try other.importModel(from: Data(json.utf8), as: Menu.self)
        XCTAssertTrue(same === copy)
        XCTAssertEqual(copy.courses.count, 3)
        XCTAssertTrue(copy.courses.contains(soup))
        XCTAssertEqual(copy.courses.first { $0.name == "Fish" }?.version, 2)
        try other.save()
        XCTAssertEqual(try other.fetchCount(FetchDescriptor<Course>()), 3)
    }

    func testRulesThatDoNotFitAreFoundBeforeTheyAreUsed() throws {
        let container = try ModelContainer(for: Wrong.self, configurations: configuration("wrong"))
        let wrong = Wrong(name: "a")
        let context = ModelContext(container)
        context.insert(wrong)
        XCTAssertThrowsError(try wrong.deepCopy()) { error in
            let text = "\(error)"
            for part in [
                "A to-many relationship cannot be a part of a key. (Wrong.others)",
                "The rule is about relationships, and this is an attribute. (Wrong.name)",
                "A rule of Wrong has the key path of no persisted property.",
                "The rule is about to-many relationships. (Wrong.name)",
                "The rule is about attributes, and this is a relationship. (Wrong.others)",
            ] { XCTAssertTrue(text.contains(part), "\(part) is not in \(text)") }
            XCTAssertEqual((error as? ModelToolkitError)?.code, .wrongRule)
        }
        XCTAssertEqual(try context.fetchCount(FetchDescriptor<Wrong>()), 1)
    }
}
