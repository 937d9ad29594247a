import CoreData
import Foundation
import GRDB
import SwiftData
import XCTest

// Models as in the program that wrote the store of the corpus.

@Model
final class Item: Identifiable {
    var id: String { name }
    @Attribute(.unique) var name: String
    var craftingRecipe: CraftingRecipe?

    init(name: String) { self.name = name }
}

@Model
final class Component: Identifiable {
    private(set) var id = UUID()
    var count: Int = 1
    var item: Item?
    var craftingRecipe: CraftingRecipe?

    init() {}
}

@Model
final class CraftingRecipe {
    var requiredComponents: [Component] = []
    var producedItemCount = "1"
    var producedItem: Item?

    init(producedItem: Item? = nil, producedItemCount: String = "") {
        self.producedItem = producedItem
        self.producedItemCount = producedItemCount
    }
}

/// A store that Apple's SwiftData wrote, which is not part of the repository.
final class AppleStoreTests: XCTestCase {
    private var folder: URL!
    private var store: URL!

    override func setUpWithError() throws {
        (folder, store) = try copyOfStore("sergd2005+ResourcesManager/history-54f311d/default.store")
    }

    override func tearDown() { if let folder { try? FileManager.default.removeItem(at: folder) } }

    func testTheHashesAreThoseOfTheStore() throws {
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: NSSQLiteStoreType, at: store)
        let model = try XCTUnwrap(NSManagedObjectModel.makeManagedObjectModel(for: CraftingRecipe.self))
        XCTAssertEqual(model.entityVersionHashesByName, metadata[NSStoreModelVersionHashesKey] as? [String: Data])
        XCTAssertEqual(model.versionChecksum, metadata["NSStoreModelVersionChecksumKey"] as? String)
    }

    func testTheStoreIsReadChangedAndSaved() throws {
        let container = try ModelContainer(for: Item.self, configurations: ModelConfiguration(url: store))
        let context = ModelContext(container)
        let recipes = try context.fetch(FetchDescriptor<CraftingRecipe>())
        XCTAssertFalse(recipes.isEmpty)
        for recipe in recipes {
            XCTAssertTrue(recipe.requiredComponents.allSatisfy { $0.craftingRecipe === recipe })
            if let item = recipe.producedItem {
                XCTAssertTrue(item.craftingRecipe === recipe, "The inverse was inferred.")
            }
        }
        let count = try context.fetchCount(FetchDescriptor<Item>())
        context.insert(Item(name: "A new item"))
        try context.save()
        XCTAssertEqual(try ModelContext(container).fetchCount(FetchDescriptor<Item>()), count + 1)
    }
}

/// Models with the properties of the program that wrote the larger store of the corpus.
enum Meta {
    @Model
    class Cocktail {
        #Index<Cocktail>([\.cocktailName], [\.collectionName], [\.cocktailName, \.collectionName])

        var id = UUID()
        @Attribute(.unique) var cocktailName: String
        var glasswareType: Glassware
        @Relationship(deleteRule: .nullify, inverse: \Garnish.cocktails) var garnish: [Garnish]
        var ice: Ice?
        var author: Author?
        @Relationship(deleteRule: .cascade) var spec: [Ingredient]
        var buildOrder: Build?
        var notes: String?
        @Transient var tags = Tags()
        var compiledTags = Tags()
        var variation: Variation?
        var variationName: String?
        var collection: CocktailCollection?
        var isCustomCocktail: Bool
        var collectionName: String
        var titleCocktail: Bool?
        var favorite: Bool
        var historicSpec: HistoricSpec?

        init(cocktailName: String, glasswareType: Glassware) {
            self.cocktailName = cocktailName
            self.glasswareType = glasswareType
            garnish = []
            spec = []
            isCustomCocktail = false
            collectionName = ""
            favorite = false
        }
    }

    @Model
    class Garnish {
        #Unique<Garnish>([\.name])
        var name: String
        var cocktails: [Cocktail]?
        init(name: String) { self.name = name }
    }

    @Model
    class Ingredient {
        var id: UUID
        var ingredientBase: IngredientBase
        var value: Double
        var unit: Unit

        init(ingredientBase: IngredientBase, value: Double, unit: Unit) {
            id = UUID()
            self.ingredientBase = ingredientBase
            self.value = value
            self.unit = unit
        }
    }

    @Model
    class IngredientBase {
        var id: UUID
        @Attribute(.unique) var name: String
        var info: String?
        var umbrellaCategory: String
        var baseCategory: String
        var specialtyCategory: String
        var tags: Tags?
        var prep: Prep?
        var isCustom: Bool

        init(name: String) {
            id = UUID()
            self.name = name
            (umbrellaCategory, baseCategory, specialtyCategory) = ("", "", "")
            isCustom = false
        }
    }

    enum Glassware: String, Codable { case highball }
    enum Ice: String, Codable { case cubes }
    enum Unit: String, Codable { case ounces }
    enum Variation: String, Codable { case sour }
    enum CocktailCollection: Int, Codable { case none, classic, wAndG, custom }
    enum HistoricSpec: Codable {
        case algonquin, alaska, betweenTheSheets, bloodAndSand, bramble, bobbyBurns, chocolateCocktail, elDiablo
        case fogCutter, ginFizz
        case gimlet, silverFizz, hotToddy, mexicanFiringSquad, modernCocktail
    }
    struct Author: Codable {
        var id = UUID()
        var person: String?
        var place: String?
        var year: String?
    }
    struct Build: Codable { var instructions: [Instruction] }
    struct Instruction: Codable {
        var id = UUID()
        var step: Int
        var method: String
    }
    struct Tags: Codable {
        var flavors: [String]?
        var profiles: [String]?
        var styles: [String]?
        // JSON of objects with payloads of several forms.
        var booze: Data?
        var nA: Data?
    }
    struct Prep: Codable {
        var id = UUID()
        var prepIngredientName: String
        var prepRecipe: [Instruction]
    }
}

final class MetaStoreTests: XCTestCase {
    private var folder: URL!
    private var store: URL!

    override func setUpWithError() throws {
        (folder, store) = try copyOfStore(
            "MatthewHunt84+MetaCocktailsSwiftData/MetaCocktailsSwiftData/Model/Database/PreloadedCocktails.store")
    }

    override func tearDown() { if let folder { try? FileManager.default.removeItem(at: folder) } }

    func testTheHashesAreThoseOfTheStore() throws {
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: NSSQLiteStoreType, at: store)
        let model = try XCTUnwrap(NSManagedObjectModel.makeManagedObjectModel(for: Meta.Cocktail.self))
        XCTAssertEqual(model.entityVersionHashesByName, metadata[NSStoreModelVersionHashesKey] as? [String: Data])
        XCTAssertEqual(model.versionChecksum, metadata["NSStoreModelVersionChecksumKey"] as? String)
    }

    func testValuesAreReadByTheirTypes() throws {
        let container = try ModelContainer(for: Meta.Cocktail.self, configurations: ModelConfiguration(url: store))
        let context = ModelContext(container)
        let all = try context.fetch(FetchDescriptor<Meta.Cocktail>(sortBy: [SortDescriptor(\.cocktailName)]))
        XCTAssertEqual(all.count, try context.fetchCount(FetchDescriptor<Meta.Cocktail>()))
        XCTAssertGreaterThan(all.count, 100)
        var written = 0
        XCTAssertEqual(all.filter { if case .algonquin? = $0.historicSpec { true } else { false } }.count, 1)
        for cocktail in all {
            if let author = cocktail.author, author.person != nil { written += 1 }
            if let build = cocktail.buildOrder { XCTAssertFalse(build.instructions.isEmpty) }
            for ingredient in cocktail.spec {
                XCTAssertFalse(ingredient.ingredientBase.name.isEmpty)
                XCTAssertGreaterThan(ingredient.value, 0)
            }
            XCTAssertTrue(cocktail.garnish.allSatisfy { $0.cocktails?.contains(cocktail) == true })
        }
        XCTAssertGreaterThan(written, 0)
        let hasAuthor = #Predicate<Meta.Cocktail> { $0.author?.person != nil }
        XCTAssertEqual(try context.fetchCount(FetchDescriptor(predicate: hasAuthor)), written)
    }
}

/// The values of the larger store, compared with its tables.
final class MetaValueTests: XCTestCase {
    private var folder: URL!
    private var store: URL!

    override func setUpWithError() throws {
        (folder, store) = try copyOfStore(
            "MatthewHunt84+MetaCocktailsSwiftData/MetaCocktailsSwiftData/Model/Database/PreloadedCocktails.store")
    }

    override func tearDown() { if let folder { try? FileManager.default.removeItem(at: folder) } }

    private func rows(_ sql: String) throws -> [Row] {
        try DatabaseQueue(path: store.path).read { try Row.fetchAll($0, sql: sql) }
    }

    private func uuid(_ row: Row, _ column: String) -> UUID? {
        (row[column] as Data?).map { bytes in
            bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
        }
    }

    private func texts(_ row: Row, _ column: String) throws -> [String]? {
        try (row[column] as Data?).map { try JSONDecoder().decode([String].self, from: $0) }
    }

    private func check(_ context: ModelContext) throws {
        let cocktails = try context.fetch(FetchDescriptor<Meta.Cocktail>()).sorted {
            $0.persistentModelID < $1.persistentModelID
        }
        let tables = try rows("SELECT * FROM ZCOCKTAIL ORDER BY Z_PK")
        XCTAssertEqual(cocktails.count, tables.count)
        for (cocktail, row) in zip(cocktails, tables) {
            let name = cocktail.cocktailName
            XCTAssertEqual(name, row["ZCOCKTAILNAME"])
            XCTAssertEqual(cocktail.id, uuid(row, "ZID1"), name)
            XCTAssertEqual(cocktail.collectionName, row["ZCOLLECTIONNAME"], name)
            XCTAssertEqual(cocktail.notes, row["ZNOTES"], name)
            XCTAssertEqual(cocktail.variationName, row["ZVARIATIONNAME"], name)
            XCTAssertEqual(cocktail.isCustomCocktail, row["ZISCUSTOMCOCKTAIL"], name)
            XCTAssertEqual(cocktail.favorite, row["ZFAVORITE"], name)
            XCTAssertEqual(cocktail.titleCocktail, row["ZTITLECOCKTAIL"], name)
            // The structure comes first in the order of names, so that its column has no number. Where all its columns are empty,
            // there is no structure.
            XCTAssertEqual(cocktail.author?.id, uuid(row, "ZID"), name)
            XCTAssertEqual(cocktail.author?.person, row["ZPERSON"], name)
            XCTAssertEqual(cocktail.author?.place, row["ZPLACE"], name)
            XCTAssertEqual(cocktail.author?.year, row["ZYEAR"], name)
            XCTAssertEqual(cocktail.compiledTags.flavors, try texts(row, "ZFLAVORS"), name)
            XCTAssertEqual(cocktail.compiledTags.profiles, try texts(row, "ZPROFILES"), name)
            XCTAssertEqual(cocktail.compiledTags.styles, try texts(row, "ZSTYLES"), name)
            if let instructions = row["ZINSTRUCTIONS"] as Data? {
                let expected = try JSONDecoder().decode([Meta.Instruction].self, from: instructions)
                XCTAssertEqual(cocktail.buildOrder?.instructions.map(\.method), expected.map(\.method), name)
                XCTAssertEqual(cocktail.buildOrder?.instructions.map(\.id), expected.map(\.id), name)
            }
        }
        let garnishes = try rows(
            """
            SELECT c.ZCOCKTAILNAME AS cocktail, g.ZNAME AS garnish FROM Z_1GARNISH
            JOIN ZCOCKTAIL c ON c.Z_PK = Z_1COCKTAILS JOIN ZGARNISH g ON g.Z_PK = Z_2GARNISH
            """)
        let pairs = cocktails.flatMap { cocktail in cocktail.garnish.map { "\(cocktail.cocktailName)/\($0.name)" } }
        XCTAssertEqual(
            pairs.sorted(), garnishes.map { "\($0["cocktail"] as String)/\($0["garnish"] as String)" }.sorted())
        let ingredients = try rows(
            """
            SELECT c.ZCOCKTAILNAME AS cocktail, b.ZNAME AS name, i.ZVALUE AS value FROM ZINGREDIENT i
            JOIN ZCOCKTAIL c ON c.Z_PK = i.Z1SPEC JOIN ZINGREDIENTBASE b ON b.Z_PK = i.ZINGREDIENTBASE
            """)
        let used = cocktails.flatMap { cocktail in
            cocktail.spec.map { "\(cocktail.cocktailName)/\($0.ingredientBase.name)/\($0.value)" }
        }
        let stated = ingredients.map {
            "\($0["cocktail"] as String)/\($0["name"] as String)/\($0["value"] as Double)"
        }
        XCTAssertEqual(used.sorted(), stated.sorted())
    }

    func testEveryValueIsThatOfItsColumnAlsoAfterChanges() throws {
        let container = try ModelContainer(for: Meta.Cocktail.self, configurations: ModelConfiguration(url: store))
        let context = ModelContext(container)
        try check(context)
        let all = try context.fetch(FetchDescriptor<Meta.Cocktail>(sortBy: [SortDescriptor(\.cocktailName)]))
        all[0].notes = "changed"
        all[1].author = Meta.Author(person: "Ann", place: nil, year: "2026")
        all[2].compiledTags.flavors = ["Lemon"]
        all[3].garnish = [all[4].garnish.first, all[5].garnish.first].compactMap { $0 }
        context.delete(all[6])
        try context.save()
        try check(ModelContext(container))
        XCTAssertEqual(
            try rows("SELECT ZNOTES AS notes FROM ZCOCKTAIL WHERE ZCOCKTAILNAME = '\(all[0].cocktailName)'").map {
                $0["notes"] as String?
            },
            ["changed"])
        XCTAssertEqual(try rows("PRAGMA integrity_check").map { $0[0] as String }, ["ok"])
    }
}

/// A copy of a store of the corpus, which is not part of the repository.
func copyOfStore(_ path: String) throws -> (folder: URL, store: URL) {
    let root = (0..<6).reduce(URL(fileURLWithPath: #filePath)) { url, _ in url.deletingLastPathComponent() }
    let original = root.deletingLastPathComponent().appendingPathComponent("shared/corpus/" + path)
    try XCTSkipUnless(FileManager.default.fileExists(atPath: original.path), "The corpus is absent.")
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let store = folder.appendingPathComponent(original.lastPathComponent)
    for suffix in ["", "-wal"] where FileManager.default.fileExists(atPath: original.path + suffix) {
        let bytes = try Data(contentsOf: URL(fileURLWithPath: original.path + suffix))
        try bytes.write(to: URL(fileURLWithPath: store.path + suffix))
    }
    return (folder, store)
}
