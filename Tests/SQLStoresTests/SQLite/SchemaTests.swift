import Foundation
import GRDB
import SQLStatements
import Testing
@testable import EngineTesting
@testable import SQLiteConnections

@testable import ManagedObjects
@testable import SQLStores

@Suite("The schema of a store", .enabled(if: CorpusStores.isPresent, "the corpus is not beside the package"))
struct SchemaTests {
    /// The reason for a difference between a store of Apple's and a new one of the engine's.
    enum Reason: String {
        case history = "the history's tables are made when tracking is asked for"
        case oldFramework = "up to framework 754 indexes and constraints had other forms"
        case selfRelation = "which side of a many-to-many between an entity and itself owns the table is arbitrary"
        case positions = "the order of position columns is arbitrary"
        case blank = "Apple writes two blanks after WHERE"
        case repeatedIndex = "framework 973 indexed attributes once more beside their fetch index"
        case privateFeature = "triggers and indexes of Apple's apps, made from private user info or by hand"
    }

    /// The known differences, by the end of the store's path and a prefix of the name.
    static let known: [(path: String, prefix: String, reason: Reason)] = [
        ("", "ACHANGE", .history), ("", "ATRANSACTION", .history), ("", "Z_TRANSACTION", .history),
        (".moody", "Z", .oldFramework),
        ("Bookmarks_V4.sqlite", "Z_1FAVORITE", .selfRelation),
        ("Photos.sqlite", "ZGENERICASSET", .positions), ("Photos.sqlite", "ZCLOUDSHAREDCOMMENT", .positions),
        ("Photos.sqlite", "Z_GenericAsset_byMonthHighlightBeingFirstAsset", .blank),
        ("Photos.sqlite", "RADAR_", .privateFeature), ("Photos.sqlite", "ZT_", .privateFeature),
        ("Photos.sqlite", "Z_RT_", .privateFeature), ("Photos.sqlite", "Z_", .repeatedIndex),
    ]

    @Test("A new schema equals that of Apple's framework for the same model", arguments: CorpusStores.withModel)
    func isApplesOwn(path: String) throws {
        let folder = try CorpusStores.copy(path)
        let model = try #require(try SQLiteStore.storedModel(at: folder.url))
        model.freeze()
        let actual = try StoreConnection.read(storeAt: folder.url) { try SQLCatalog(in: $0) }
        var made: [String: String] = [:]
        for statement in SQLSchemaBuilder.schema(of: model).createStatements {
            let words = statement.split(separator: " ")
            made[String(words[1] == "UNIQUE" ? words[3] : words[2])] = statement
        }
        for name in Set(made.keys).union(actual.statements.keys).sorted() where made[name] != actual.statements[name] {
            let reason = Self.known.first { path.hasSuffix($0.path) && name.hasPrefix($0.prefix) }?.reason
            #expect(
                reason != nil,
                "\(name)\nmade:  \(made[name] ?? "nothing")\nApple: \(actual.statements[name] ?? "nothing")")
            if reason == .positions {
                // The columns are the same nevertheless.
                #expect(Self.columns(made[name]) == Self.columns(actual.statements[name]))
            }
            // Nothing is created that Apple's framework does not create, except in another form.
            if reason == .repeatedIndex || reason == .privateFeature { #expect(made[name] == nil, "\(name)") }
        }
    }

    private static func columns(_ statement: String?) -> Set<String> {
        let list = statement?.split(separator: "(").last?.split(separator: ")").first
        return Set((list ?? "").split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) })
    }

    @Test("A new store takes the join tables of a store of Apple's", arguments: CorpusStores.withModel)
    func takesJoinTables(path: String) throws {
        let folder = try CorpusStores.copy(path)
        let model = try #require(try SQLiteStore.storedModel(at: folder.url))
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let url = folder.url.deletingLastPathComponent().appendingPathComponent("New.sqlite")
        let store = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: [JoinTableNamesOption: folder.url])
        try coordinator.remove(store)
        let actual = try StoreConnection.read(storeAt: folder.url) { try SQLCatalog(in: $0) }
        let made = try StoreConnection.read(storeAt: url) { try SQLCatalog(in: $0) }
        let schema = SQLSchemaBuilder.schema(of: model, catalog: actual)
        for table in schema.joinTables {
            #expect(Set(made.columns[table.name] ?? []) == Set(table.columns), "\(table.name)")
        }
        // An entity may have been renamed since the store was created.
        #expect(Set(made.numbers.values) == Set(actual.numbers.values))
    }

    @Test("An existing schema is found column by column", arguments: CorpusStores.withModel)
    func isFound(path: String) throws {
        let folder = try CorpusStores.copy(path)
        let model = try #require(try SQLiteStore.storedModel(at: folder.url))
        model.freeze()
        let catalog = try StoreConnection.read(storeAt: folder.url) { try SQLCatalog(in: $0) }
        let schema = SQLSchemaBuilder.schema(of: model, catalog: catalog)
        #expect(schema.missing.isEmpty)
        for entity in schema.entities {
            let known = try #require(catalog.columns[entity.table])
            for column in entity.columns.compactMap({ $0 }) {
                #expect(known.contains(column.name))
                #expect(column.companion.map(known.contains) ?? true)
            }
        }
        for table in schema.joinTables {
            let known = try #require(catalog.columns[table.name])
            #expect(Set(table.columns).isSubset(of: known))
        }
    }

    @Test("A renamed entity is found by its name in the store")
    func findsRenamedEntity() throws {
        let folder = try CorpusStores.copy(CorpusStores.renamed)
        let model = try #require(try SQLiteStore.storedModel(at: folder.url))
        model.freeze()
        let catalog = try StoreConnection.read(storeAt: folder.url) { try SQLCatalog(in: $0) }
        #expect(catalog.numbers["LuxuryCar"] == nil)
        let schema = SQLSchemaBuilder.schema(of: model, catalog: catalog)
        let renamed = try #require(model.entitiesByName["LuxuryCar"])
        #expect(schema.entity(renamed)?.number == catalog.numbers["ExpensiveSportCar"])
    }
}

/// Naming rules that occur in few stores.
@Suite("The names of columns") struct ColumnNameTests {
    @Test func `if two join tables would have one name, the order of the inverses' entities decides`() {
        // Both inverses are called "owners"; the order of the relationships is the reverse of that of the entities.
        let owner = NSEntityDescription("Anchor", [])
        let late = NSEntityDescription("Zebra", [])
        let early = NSEntityDescription("Bee", [])
        NotesModel.relate(owner, "all", many: true, late, "owners", many: true, rule: .nullifyDeleteRule)
        NotesModel.relate(owner, "beasts", many: true, early, "owners", many: true, rule: .nullifyDeleteRule)
        let model = NSManagedObjectModel()
        model.entities = [owner, late, early]
        model.freeze()
        let tables = SQLSchemaBuilder.schema(of: model).joinTables
        #expect(
            Dictionary(uniqueKeysWithValues: tables.map { ($0.name, $0.columns) })
                == ["Z_1ALL": ["Z_1OWNERS1", "Z_3ALL"], "Z_1BEASTS": ["Z_1OWNERS", "Z_2BEASTS"]])
    }
}
