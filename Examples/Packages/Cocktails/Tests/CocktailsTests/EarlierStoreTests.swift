import CoreData
import Foundation
import GRDB
import SwiftData
import XCTest

/// Models with the properties of the program that wrote an earlier version of the larger store.
enum Earlier {
    @Model
    class Cocktail {
        #Index<Cocktail>([\.cocktailName], [\.collectionName], [\.cocktailName, \.collectionName])

        var id = UUID()
        @Attribute(.unique) var cocktailName: String
        var imageAsset: CocktailImage?
        var glasswareType: Word
        @Relationship(deleteRule: .nullify, inverse: \Garnish.cocktails) var garnish: [Garnish]
        var ice: Word?
        var author: Author?
        @Relationship(deleteRule: .cascade) var spec: [Ingredient]
        var buildOrder: Build?
        @Transient var tags = Tags()
        var compiledTags = Tags()
        var variation: Word?
        var collection: Number?
        var collectionName: String
        var titleCocktail: Bool?

        init(cocktailName: String) {
            self.cocktailName = cocktailName
            glasswareType = .word("")
            garnish = []
            spec = []
            collectionName = ""
        }
    }

    @Model
    class CocktailImage {
        var backgroundColor: Color
        var drinkColor: Color
        var glassBackLayer: String
        var drinkLayer: String
        var iceLayer: String?
        var inDrinkComponents: [String]?
        var straw: String?
        var innerRim: String
        var glassReflection: String
        var garnishes: [String]?

        init(color: Color) {
            (backgroundColor, drinkColor) = (color, color)
            (glassBackLayer, drinkLayer, innerRim, glassReflection) = ("", "", "", "")
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
        var ingredientBase: IngredientBase
        var id: UUID
        var value: Double
        var unit: Word

        init(ingredientBase: IngredientBase, value: Double) {
            self.ingredientBase = ingredientBase
            id = UUID()
            self.value = value
            unit = .word("")
        }
    }

    @Model
    class IngredientBase {
        #Unique<IngredientBase>([\.name])
        var name: String
        var info: String?
        var category: Word
        var tags: Tags?
        var prep: Prep?
        var isCustom: Bool

        init(name: String) {
            self.name = name
            category = .word("")
            isCustom = false
        }
    }

    /// An enumeration with raw values has the same column, whatever its cases are. This one has every value.
    enum Word: RawRepresentable, Codable, Equatable {
        case word(String)
        init(rawValue: String) { self = .word(rawValue) }
        var rawValue: String {
            switch self {
            case .word(let word): word
            }
        }
    }

    enum Number: RawRepresentable, Codable, Equatable {
        case number(Int)
        init(rawValue: Int) { self = .number(rawValue) }
        var rawValue: Int {
            switch self {
            case .number(let number): number
            }
        }
    }

    /// The stored properties of `Color.Resolved`.
    struct Color: Codable, Equatable {
        var linearRed: Float
        var linearGreen: Float
        var linearBlue: Float
        var opacity: Float
    }

    struct Author: Codable {
        var id = UUID()
        var person: String?
        var place: String?
        var year: String?
    }
    struct Build: Codable { var instructions: [Instruction] }
    struct Instruction: Codable, Equatable {
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

/// Every value of the earlier store, compared with its tables.
final class EarlierStoreTests: XCTestCase {
    private var folder: URL!
    private var store: URL!

    override func setUpWithError() throws {
        (folder, store) = try copyOfStore(
            "MatthewHunt84+MetaCocktailsSwiftData/history-3292fc79/MetaCocktailsSwiftData/default.store")
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

    private func decoded<Value: Decodable>(_ row: Row, _ column: String) throws -> Value? {
        try (row[column] as Data?).map { try JSONDecoder().decode(Value.self, from: $0) }
    }

    private func models<Model: PersistentModel>(_ context: ModelContext, _: Model.Type) throws -> [Model] {
        try context.fetch(FetchDescriptor<Model>()).sorted { $0.persistentModelID < $1.persistentModelID }
    }

    func testTheHashesAreThoseOfTheStore() throws {
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: NSSQLiteStoreType, at: store)
        let model = try XCTUnwrap(NSManagedObjectModel.makeManagedObjectModel(for: Earlier.Cocktail.self))
        XCTAssertEqual(model.entityVersionHashesByName.count, 5)
        XCTAssertEqual(model.entityVersionHashesByName, metadata[NSStoreModelVersionHashesKey] as? [String: Data])
        XCTAssertEqual(model.versionChecksum, metadata["NSStoreModelVersionChecksumKey"] as? String)
    }

    private func check(_ context: ModelContext) throws {
        let cocktails = try models(context, Earlier.Cocktail.self)
        let tables = try rows(
            "SELECT c.*, i.ZDRINKLAYER FROM ZCOCKTAIL c LEFT JOIN ZCOCKTAILIMAGE i ON i.Z_PK = ZIMAGEASSET ORDER BY c.Z_PK"
        )
        XCTAssertEqual(cocktails.count, tables.count)
        for (cocktail, row) in zip(cocktails, tables) {
            let name = cocktail.cocktailName
            XCTAssertEqual(name, row["ZCOCKTAILNAME"])
            XCTAssertEqual(cocktail.id, uuid(row, "ZID1"), name)
            XCTAssertEqual(cocktail.collectionName, row["ZCOLLECTIONNAME"], name)
            XCTAssertEqual(cocktail.glasswareType.rawValue, row["ZGLASSWARETYPE"], name)
            XCTAssertEqual(cocktail.ice?.rawValue, row["ZICE"], name)
            XCTAssertEqual(cocktail.variation?.rawValue, row["ZVARIATION"], name)
            XCTAssertEqual(cocktail.collection?.rawValue, row["ZCOLLECTION"], name)
            XCTAssertEqual(cocktail.titleCocktail, row["ZTITLECOCKTAIL"], name)
            XCTAssertEqual(cocktail.imageAsset?.drinkLayer, row["ZDRINKLAYER"], name)
            XCTAssertEqual(cocktail.author?.id, uuid(row, "ZID"), name)
            XCTAssertEqual(cocktail.author?.person, row["ZPERSON"], name)
            XCTAssertEqual(cocktail.author?.place, row["ZPLACE"], name)
            XCTAssertEqual(cocktail.author?.year, row["ZYEAR"], name)
            XCTAssertEqual(cocktail.buildOrder?.instructions, try decoded(row, "ZINSTRUCTIONS"), name)
            try check(cocktail.compiledTags, row, name)
        }
        let bases = try models(context, Earlier.IngredientBase.self)
        let baseTables = try rows("SELECT * FROM ZINGREDIENTBASE ORDER BY Z_PK")
        XCTAssertEqual(bases.count, baseTables.count)
        for (base, row) in zip(bases, baseTables) {
            XCTAssertEqual(base.name, row["ZNAME"])
            XCTAssertEqual(base.info, row["ZINFO"], base.name)
            XCTAssertEqual(base.category.rawValue, row["ZCATEGORY"], base.name)
            XCTAssertEqual(base.isCustom, row["ZISCUSTOM"], base.name)
            XCTAssertEqual(base.prep?.id, uuid(row, "ZID"), base.name)
            XCTAssertEqual(base.prep?.prepIngredientName, row["ZPREPINGREDIENTNAME"], base.name)
            XCTAssertEqual(base.prep?.prepRecipe, try decoded(row, "ZPREPRECIPE"), base.name)
            try check(base.tags ?? Earlier.Tags(), row, base.name)
        }
        let ingredients = try models(context, Earlier.Ingredient.self)
        let ingredientTables = try rows(
            "SELECT i.*, b.ZNAME FROM ZINGREDIENT i JOIN ZINGREDIENTBASE b ON b.Z_PK = ZINGREDIENTBASE ORDER BY i.Z_PK")
        XCTAssertEqual(ingredients.count, ingredientTables.count)
        for (ingredient, row) in zip(ingredients, ingredientTables) {
            XCTAssertEqual(ingredient.id, uuid(row, "ZID"))
            XCTAssertEqual(ingredient.value, row["ZVALUE"])
            XCTAssertEqual(ingredient.unit.rawValue, row["ZUNIT"])
            XCTAssertEqual(ingredient.ingredientBase.name, row["ZNAME"])
        }
        let owners = try rows("SELECT Z1SPEC AS owner, count(*) AS number FROM ZINGREDIENT GROUP BY 1 ORDER BY 1")
        XCTAssertEqual(
            cocktails.map(\.spec.count).filter { $0 > 0 },
            owners.filter { $0["owner"] != nil }.map { $0["number"] as Int })
        let garnishes = try rows(
            "SELECT count(*) AS number FROM Z_1GARNISH GROUP BY Z_1COCKTAILS ORDER BY Z_1COCKTAILS")
        XCTAssertEqual(cocktails.map(\.garnish.count).filter { $0 > 0 }, garnishes.map { $0["number"] as Int })
    }

    private func check(_ tags: Earlier.Tags, _ row: Row, _ name: String) throws {
        XCTAssertEqual(tags.flavors, try decoded(row, "ZFLAVORS"), name)
        XCTAssertEqual(tags.profiles, try decoded(row, "ZPROFILES"), name)
        XCTAssertEqual(tags.styles, try decoded(row, "ZSTYLES"), name)
        XCTAssertEqual(tags.booze, row["ZBOOZE"], name)
        XCTAssertEqual(tags.nA, row["ZNA"], name)
    }

    func testEveryValueIsThatOfItsColumnAlsoAfterChanges() throws {
        let container = try ModelContainer(for: Earlier.Cocktail.self, configurations: ModelConfiguration(url: store))
        let context = ModelContext(container)
        try check(context)
        let all = try context.fetch(FetchDescriptor<Earlier.Cocktail>(sortBy: [SortDescriptor(\.cocktailName)]))
        XCTAssertEqual(all.count, 398)
        all[0].glasswareType = .word("Jam jar")
        all[0].collection = .number(7)
        all[1].buildOrder = Earlier.Build(instructions: [Earlier.Instruction(step: 1, method: "Stir")])
        all[2].ice = nil
        let color = Earlier.Color(linearRed: 0.25, linearGreen: 0.5, linearBlue: 0.75, opacity: 1)
        all[3].imageAsset = Earlier.CocktailImage(color: color)
        all[3].imageAsset?.drinkColor.linearRed = 0.125
        all[3].imageAsset?.drinkLayer = "red"
        context.delete(all[4])
        try context.save()
        let fresh = ModelContext(container)
        try check(fresh)
        let image = try XCTUnwrap(fresh.fetch(FetchDescriptor<Earlier.CocktailImage>()).first)
        XCTAssertEqual(image.backgroundColor, color)
        let stored = try rows("SELECT ZLINEARRED AS one, ZLINEARRED1 AS other FROM ZCOCKTAILIMAGE")
        XCTAssertEqual(stored.map { [$0["one"] as Double, $0["other"] as Double] }, [[0.25, 0.125]])
        XCTAssertEqual(try rows("PRAGMA integrity_check").map { $0[0] as String }, ["ok"])
    }
}
