import CoreData
import Foundation
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
        let root = (0..<6).reduce(URL(fileURLWithPath: #filePath)) { url, _ in url.deletingLastPathComponent() }
        let original = root.deletingLastPathComponent()
            .appendingPathComponent("shared/corpus/sergd2005+ResourcesManager/history-54f311d/default.store")
        try XCTSkipUnless(FileManager.default.fileExists(atPath: original.path), "The corpus is absent.")
        folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        store = folder.appendingPathComponent("default.store")
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: original.path + suffix, toPath: store.path + suffix)
        }
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
            if let item = recipe.producedItem { XCTAssertTrue(item.craftingRecipe === recipe, "The inverse was inferred.") }
        }
        let count = try context.fetchCount(FetchDescriptor<Item>())
        context.insert(Item(name: "A new item"))
        try context.save()
        XCTAssertEqual(try ModelContext(container).fetchCount(FetchDescriptor<Item>()), count + 1)
    }
}
