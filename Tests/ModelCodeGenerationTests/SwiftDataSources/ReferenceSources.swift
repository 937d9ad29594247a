import Testing

/// Classes as in programs whose stores were written by Apple's SwiftData, with the version hashes that these stores state.
///
/// Written anew: the names and types of the properties are those of the stores, and everything else is omitted.
struct ReferenceSource: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let text: String
    let hashes: [String: String]
    let checksum: String

    private init(_ name: String, _ text: String, _ hashes: [String: String], _ checksum: String) {
        (testDescription, self.text, self.hashes, self.checksum) = (name, text, hashes, checksum)
    }

    static let all = [resources, cocktails, cocktailsOfOS18, items, persons, accounts]

    private static let resources = Self(
        "resources",
        #"""
        @Model final class Item: Identifiable {
            var id: String { name }
            @Attribute(.unique) var name: String
            var craftingRecipe: CraftingRecipe?
        }
        @Model final class Component {
            let id = UUID()
            var count: Int = 1
            var item: Item?
            var craftingRecipe: CraftingRecipe?
        }
        @Model final class CraftingRecipe {
            var requiredComponents: [Component] = []
            var producedItemCount = "1"
            var producedItem: Item?
        }
        """#,
        [
            "Component": "/IAgOoozmxSP0LbDsOWGomBZFWPPZ4CkBuafGKafhAY=",
            "CraftingRecipe": "rMbIICaQP9i9dKOWWYj/uEDAeUEZzMnWs2Cgp1MQRhc=",
            "Item": "aDosZj1R/mD7pBZf63kAh77Ycdg3umToHrHog2QowqU=",
        ], "6T24D3nNvz6qsg0dO7y7IA3tlbZ0QpK/AwmP5KiXXgw=")

    /// The types of the values, which two versions share.
    private static let cocktailValues = #"""
        enum Glass: String, Codable { case coupe = "Coupe", rocks }
        enum Collected: Int, Codable { case own, classic }
        enum Ice: String, Codable { case crushed }
        enum Variation: String, Codable { case sour }
        enum Unit: String, Codable { case ounces = "oz" }
        enum Category: String, Codable { case gin }
        enum Style: String, Codable { case shaken }
        indirect enum Booze: Codable { case gins(Style), other }
        struct Author: Codable {
            var id = UUID()
            let person: String
            let place: String?
            let year: String?
            var isKnown: Bool { !person.isEmpty }
            static let none = Author(person: "", place: nil, year: nil)
        }
        struct Step: Codable { var id = UUID(); let method: String }
        struct Build: Codable { var instructions: [Step] }
        struct Tags: Codable { var flavors, profiles: [Style]?; var styles: [Style]?; var booze: [Booze]?; var nA: [String]? }
        struct Prep: Codable { var id = UUID(), prepIngredientName: String; let prepRecipe: [Step] }
        """#

    private static let cocktails = Self(
        "cocktails",
        cocktailValues + #"""

            enum HistoricSpec: Codable, CaseIterable {
                case algonquin, alaska, betweenTheSheets, bloodAndSand, bramble, bobbyBurns, chocolateCocktail
                case elDiablo, fogCutter, ginFizz, gimlet, silverFizz, hotToddy, mexicanFiringSquad, modernCocktail
            }
            @available(iOS 18, *)
            @Model
            class Cocktail: Equatable, Hashable, Identifiable {
                static func == (left: Cocktail, right: Cocktail) -> Bool { left.id == right.id }
                #Index<Cocktail>([\.cocktailName], [\.collectionName], [\.cocktailName, \.collectionName])
                var id = UUID()
                @Attribute(.unique) var cocktailName: String
                var glasswareType: Glass
                @Relationship(deleteRule: .nullify, inverse: \Garnish.cocktails) var garnish: [Garnish]
                var ice: Ice?
                var author: Author?
                @Relationship(deleteRule: .cascade) var spec: [Ingredient]
                var buildOrder: Build?
                var notes: String?
                @Transient var tags: Tags = Tags()
                var compiledTags: Tags = Tags()
                var variation: Variation?
                var variationName: String?
                var collection: Collected?
                var isCustomCocktail: Bool
                var collectionName: String
                var titleCocktail: Bool?
                var favorite: Bool
                var historicSpec: HistoricSpec?
            }
            @Model class Garnish {
                #Unique<Garnish>([\.name])
                var name: String
                var cocktails: [Cocktail]?
            }
            @Model class Ingredient {
                var ingredientBase: IngredientBase
                var id: UUID
                var value: Double
                var unit: Unit
            }
            @Model class IngredientBase {
                #Unique<IngredientBase>([\.name])
                var id: UUID
                var name: String
                var info: String?
                var tags: Tags?
                var prep: Prep? = nil
                var isCustom: Bool = false
                var umbrellaCategory: String
                var baseCategory: String
                var specialtyCategory: String
            }
            """#,
        [
            "Cocktail": "eLi+RaYckUzM8DStLaIJ4Ub84I8sWQankcEJF2FhNZA=",
            "Garnish": "dqmVnpDnntF7MqmAop5TaLlTxbfn/UBzz+Bj4xbUTMU=",
            "Ingredient": "SjufMt9CruGesYa2rQOtV8ls0/tFMmcaQGPaIALPxho=",
            "IngredientBase": "oBdlOYmpobZCZ04XjyHQ+YMYDvaybcFnNgY1Nasi5hU=",
        ], "PfzOF+B8xFeHy7FWO/cFMC/dVCdmD0mbo1VdzPPozKA=")

    private static let cocktailsOfOS18 = Self(
        "cocktails of OS 18",
        cocktailValues + #"""

            @Model class Cocktail {
                #Index<Cocktail>([\.cocktailName], [\.collectionName], [\.cocktailName, \.collectionName])
                var id = UUID()
                @Attribute(.unique) var cocktailName: String
                var imageAsset: CocktailImage?
                var glasswareType: Glass
                @Relationship(inverse: \Garnish.cocktails) var garnish: [Garnish]
                var ice: Ice?
                var author: Author?
                @Relationship(deleteRule: .cascade) var spec: [Ingredient]
                var buildOrder: Build?
                var compiledTags: Tags
                var variation: Variation?
                var collection: Collected?
                var collectionName: String
                var titleCocktail: Bool?
            }
            @Model class CocktailImage {
                var backgroundColor: Color.Resolved
                var drinkColor: SwiftUI.Color.Resolved
                var glassBackLayer: String
                var drinkLayer: String
                var iceLayer: String?
                var inDrinkComponents: [String]?
                var straw: String?
                var innerRim: String
                var glassReflection: String
                var garnishes: Optional<Array<String>>
            }
            @Model class Garnish {
                @Attribute(.unique) var name: String
                var cocktails: [Cocktail]?
            }
            @Model class Ingredient {
                var ingredientBase: IngredientBase
                var id: UUID
                var value: Double
                var unit: Unit
            }
            @Model class IngredientBase {
                #Unique<IngredientBase>([\.name])
                var name: String
                var info: String?
                var category: Category
                var tags: Tags?
                var prep: Prep?
                var isCustom: Bool
            }
            """#,
        [
            "Cocktail": "44Eaazr4LxuFs2T/lANuzpWYb4QiyUH4NHhwAsO///U=",
            "CocktailImage": "5SQtGB0euOW5mdDhn4S3TbXEcyGdtEQW5RAi36tgUgE=",
            "Garnish": "dqmVnpDnntF7MqmAop5TaLlTxbfn/UBzz+Bj4xbUTMU=",
            "Ingredient": "SjufMt9CruGesYa2rQOtV8ls0/tFMmcaQGPaIALPxho=",
            "IngredientBase": "tyBGYzh6VoC9/ZvtAZkTANvszyPWqeuk+ZArY0HfrA4=",
        ], "z2YKG5J3xqVyNi6ialfdGaNDC+Xa+sT0YXbm0CVCI1A=")

    private static let items = Self(
        "items", "@Model final class Item { var timestamp: Date; var number: Int }",
        ["Item": "PqQ+Uu/1BwFadgbePNchWxQDT5wmrcEly28VOwGmBNw="], "LrLCGp4ej8zfaxJHvn70R4Rv4Hz0HFK6RQm++db8No0=")

    private static let persons = Self(
        "persons",
        "@Model final class Person { var name: String; var age: Int; var town: String; var createdAt: Date }",
        ["Person": "k1nwwCLBBcqRzpvA8753ghHS8dUCvkGEgB/11AuzhCI="], "NeEbfiOXwRvxHth1rbyiwNyU6CwzCtCAmWk8dG67zB8=")
}

extension ReferenceSource {
    /// Accounts of a household: fifteen classes.
    fileprivate static let accounts = Self(
        "accounts",
        #"""
        @Model class EntityAccount: Identifiable {
            var name: String = ""
            var nameIcon: String = ""
            var currencyCode: String = "EUR"
            var dateEcheancier: Date = Date()
            var isAccount: Bool = true
            var isDemo: Bool = false
            @Attribute(.unique) var uuid: UUID = UUID()
            public var id: UUID { uuid }
            @Relationship(deleteRule: .cascade, inverse: \EntityBanqueInfo.account) var bank: EntityBanqueInfo?
            @Relationship(deleteRule: .cascade, inverse: \EntityBankStatement.account)
            var bankStatement: [EntityBankStatement]?
            @Relationship(deleteRule: .cascade, inverse: \EntityCheckBook.account) var carnetCheques: [EntityCheckBook]?
            @Relationship var compteLie: EntityTransaction?
            @Relationship(deleteRule: .cascade, inverse: \EntitySchedule.account) var echeanciers: [EntitySchedule]?
            @Relationship(deleteRule: .cascade, inverse: \EntityIdentity.account) var identity: EntityIdentity?
            @Relationship(deleteRule: .cascade, inverse: \EntityInitAccount.account) var initAccount: EntityInitAccount?
            @Relationship(deleteRule: .cascade, inverse: \EntityPaymentMode.account) var paymentMode: [EntityPaymentMode]?
            @Relationship(deleteRule: .cascade, inverse: \EntityPreference.account) var preference: EntityPreference?
            @Relationship(deleteRule: .cascade, inverse: \EntityRubric.account) var rubric: [EntityRubric]?
            @Relationship(deleteRule: .cascade, inverse: \EntityStatus.account) var status: [EntityStatus]?
            @Relationship(deleteRule: .cascade, inverse: \EntityTransaction.account) var transactions: [EntityTransaction]?
        }
        @Model final class EntityBankStatement {
            var num: Int
            var cbDate: Date = Date()
            var cbSolde: Double
            var endDate: Date = Date.now
            var endSolde: Double
            var interDate = Date()
            var interSolde: Double
            var startDate: Date = Date()
            var startSolde: Double
            @Attribute(.externalStorage) var pdfDoc: Data?
            var pdfLink = ""
            @Attribute(.unique) var uuid: UUID = UUID()
            var account: EntityAccount
        }
        @Model final class EntityBanqueInfo {
            var adresse: String = ""; var complement: String = ""; var country: String = ""; var cp: String = ""
            var email: String = ""; var fonction: String = ""; var mobile: String = ""; var name: String = ""
            var nomBanque: String = ""; var phone: String = ""; var town: String = ""
            @Attribute(.unique) var uuid: UUID = UUID()
            var account: EntityAccount
        }
        @Model final class EntityCategory {
            var name: String
            var objectif: Double = 0.0
            @Attribute(.unique) var uuid: UUID = UUID()
            @Relationship(inverse: \EntitySchedule.category) var echeancier: [EntitySchedule]?
            @Relationship(inverse: \EntityPreference.category) var preference: EntityPreference?
            var rubric: EntityRubric?
            @Relationship(inverse: \EntitySousOperation.category) var sousOperations: [EntitySousOperation]?
        }
        @Model public class EntityCheckBook {
            var name: String = ""
            var nbCheques: Int = 25
            var numPremier: Int = 1
            var numSuivant: Int = 10
            var prefix: String = "CH"
            @Attribute(.unique) var uuid: UUID = UUID()
            var account: EntityAccount?
        }
        @Model final class EntityFolderAccount {
            var name: String = ""
            var nameImage: String = "folder.fill"
            var isRoot : Bool = false
            @Attribute(.unique) var uuid: UUID = UUID()
            // @Relationship(deleteRule: .cascade, inverse: \EntityAccount.folder)
            var children: [EntityAccount] = []
        }
        @Model final class EntityIdentity {
            var adress: String = ""; var complement: String = ""; var country: String = ""; var cp: String = ""
            var email: String = ""; var mobile: String = ""; var name: String = "Dupont"; var nameImage: String = ""
            var phone: String = ""; var surName: String = "leon"; var town: String = ""
            @Attribute(.unique) var uuid: UUID = UUID()
            var account: EntityAccount
        }
        @Model final class EntityInitAccount {
            var bic: String = ""; var cleRib: String = ""; var codeAccount: String = ""; var codeBank: String = ""
            var codeGuichet: String = ""; var iban: String = ""
            var engage: Double = 0.0
            var prevu: Double = 0.0
            var realise: Double = 0.0
            @Attribute(.unique) var uuid: UUID = UUID()
            var account: EntityAccount
        }
        @Model final class EntityPaymentMode: Hashable {
            @Attribute(.transformable(by: ColorTransformer.self)) var color: NSColor
            var name: String = ""
            @Attribute(.unique) var uuid: UUID = UUID()
            var account: EntityAccount
        }
        @Model final class EntityPreference {
            var signe: Bool = true
            @Attribute(.unique) var uuid: UUID = UUID()
            var account: EntityAccount
            var category: EntityCategory?
            var paymentMode: EntityPaymentMode?
            var status: EntityStatus?
        }
        @Model final class EntityRubric {
            var name: String = ""
            @Attribute(.ephemeral) var total: Double = 0.0
            @Attribute(.transformable(by: ColorTransformer.self)) var color: NSColor
            @Attribute(.unique) var uuid: UUID = UUID()
            var account: EntityAccount
            @Relationship(deleteRule: .cascade) var categorie: [EntityCategory] = []
        }
        @Model final class EntitySchedule {
            var amount: Double = 0.0
            var dateCree: Date = Date(); var dateDebut: Date = Date(); var dateFin: Date = Date()
            var dateModifie: Date = Date(); var dateValeur: Date = Date()
            var frequence: Int16 = 0; var nextOccurrence: Int16 = 0; var occurrence: Int16 = 0
            var typeFrequence: Int16 = 0
            var isProcessed: Bool = false
            var libelle: String = ""
            @Attribute(.unique) var uuid: UUID = UUID()
            var account: EntityAccount
            var category: EntityCategory?
            @Relationship var linkedAccount: EntityAccount?
            var paymentMode: EntityPaymentMode?
        }
        @Model final class EntitySousOperation {
            var amount: Double = 0.0
            var libelle: String?
            @Attribute(.unique) var uuid: UUID = UUID()
            var category: EntityCategory?
            var transaction: EntityTransaction?
        }
        @Model final class EntityStatus {
            var name: String
            var rawType: Int
            @Attribute(.transformable(by: ColorTransformer.self)) var color: NSColor
            @Attribute(.unique) var uuid: UUID = UUID()
            var account: EntityAccount
        }
        @Model final class EntityTransaction {
            var createAt: Date = Date()
            var updatedAt: Date = Date()
            var dateOperation: Date = Date()
            var datePointage: Date = Date()
            var _sectionIdentifier: String?
            var bankStatement: Double = 0.0
            var checkNumber: String = ""
            @Attribute(.ephemeral) var solde: Double? = 0.0
            @Attribute(.unique) var uuid: UUID = UUID()
            var account: EntityAccount
            var paymentMode: EntityPaymentMode?
            var status: EntityStatus?
            @Relationship(deleteRule: .cascade, inverse: \EntitySousOperation.transaction)
            var sousOperations: [EntitySousOperation] = []
        }
        """#,
        [
            "EntityAccount": "Xynlo1TLJRcmLfkRFipTwfEvhU3O13IL10pCzpUeqMA=",
            "EntityBankStatement": "LI351dUmQ3DlcysuMI3a3nLfvcoFMAV6x/q2/24GIGM=",
            "EntityBanqueInfo": "ucMi1QwrLlJQp3KdnwGVOSMZkJr7qh6fOSGmJ1xs2OY=",
            "EntityCategory": "BWgqAvuo4hrC4Ciu/7HuwJfAmZ7/oCyX4SZlW5yoN5E=",
            "EntityCheckBook": "pnqsXa3e6Kl2lvnmJv3lNrvlKLjhQ8ryaepgN80SLWI=",
            "EntityFolderAccount": "MTI6IO/piFPmPtmh0uQRYjzhJvvjHgFdtgUVzDqjdGk=",
            "EntityIdentity": "hE7SV/pPINvgLWOZMSf900guVitFzlcddjvUi2ACpU0=",
            "EntityInitAccount": "m3rr9hDtg7e0qXyMQ+WJN9DTCVZ9gZDF2Cgxc59zf7A=",
            "EntityPaymentMode": "m4J35EZF7uCfsFqZG+z+kB+g7EL+64QGFJKLXKnYF48=",
            "EntityPreference": "YBn+QGi+ygkSenLhgmR00DqwS403vi8eqPVYQLbhbiA=",
            "EntityRubric": "tBEVsHslLcWfgbkc80JXRJIeqtoEI5spoGAjAE14cAQ=",
            "EntitySchedule": "YghycvY77v2C+O2KzNUpam2PqWRU4pJvmCnvHfXS5KE=",
            "EntitySousOperation": "fq+GKo7HZXTnk/IxwpPYTYy21pCs1O7vcLVTRJQ8fcQ=",
            "EntityStatus": "wu/m21098t5xyBqdlDRj5bXvqbLZHoTzT4mhh/SetHs=",
            "EntityTransaction": "vTL2QW64YzHV9po2weLedhu3hDL12tuptjXqSgGjJno=",
        ], "HtJcS6Ur0OW1FotlHaC/cf79Bo6EHUuDBJzmsUh59bY=")
}
