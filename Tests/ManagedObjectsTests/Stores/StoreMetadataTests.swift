import Foundation
import GRDB
import KeyedArchives
import Testing
@testable import EngineTesting
@testable import SQLiteConnections

@testable import ManagedObjects
@testable import SQLStores

/// The metadata that a program adds to those of a store.
@Suite struct StoreMetadataTests {
    static let types: [NSPersistentStore.StoreType] = [.sqlite, .xml, .archive]

    private func store(_ folder: StoreFolder, _ type: NSPersistentStore.StoreType) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NotesModel.make())
        let store = try coordinator.addPersistentStore(type: type, at: folder.url)
        let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        _ = context.insert("Note", ["title": "One"])
        try context.save()
        try coordinator.remove(store)
    }

    @Test(arguments: types) func `values of every type of a property list are kept`(type: NSPersistentStore.StoreType)
        throws
    {
        let folder = try StoreFolder(name: "Notes 50%? #1;é.store")
        try store(folder, type)
        var metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: type, at: folder.url)
        let date = Date(timeIntervalSinceReferenceDate: 12)
        metadata["mine"] =
            [
                "text": "ä & b", "yes": true, "no": NSNumber(value: false), "one": 1, "byte": Int8(1),
                "least": Int64.min,
                "largest": UInt64.max, "real": 1.5, "date": date, "data": Data([1, 2]), "texts": ["a", "b"],
                "nested": ["list": [1, ["x": "y"] as [String: Any]] as [Any]], "empty": [String](),
            ] as [String: Any]
        try NSPersistentStoreCoordinator.setMetadata(metadata, type: type, at: folder.url)
        let read = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: type, at: folder.url)
        let mine = try #require(read["mine"] as? [String: Any])
        #expect(mine.count == 13)
        #expect(mine["text"] as? String == "ä & b")
        #expect(mine["yes"] as? Bool == true)
        #expect(mine["no"] as? Bool == false)
        #expect(mine["one"] as? Int == 1)
        #expect(mine["byte"] as? Int == 1)
        #expect(mine["least"] as? Int64 == .min)
        #expect((mine["largest"] as? NSNumber)?.uint64Value == .max)
        #expect(mine["real"] as? Double == 1.5)
        #expect(mine["date"] as? Date == date)
        #expect(mine["data"] as? Data == Data([1, 2]))
        #expect(mine["texts"] as? [String] == ["a", "b"])
        let list = try #require((mine["nested"] as? [String: Any])?["list"] as? [Any])
        #expect(list.first as? Int == 1)
        #expect(list.last as? [String: String] == ["x": "y"])
        #expect((mine["empty"] as? [Any])?.isEmpty == true)
        // In the file a boolean is not a number.
        if type == .sqlite {
            let connection = try StoreConnection(
                url: folder.url, options: SQLiteOptions([:], isReadOnly: true))
            let data = try connection.read { try Data.fetchOne($0, sql: "SELECT Z_PLIST FROM Z_METADATA") }
            let list = try PropertyListValue(propertyList: #require(data))
            #expect(list["mine"]?["yes"] == .boolean(true))
            #expect(list["mine"]?["one"] == .integer(1))
            try connection.close()
        }
    }

    @Test(
        arguments: types,
        [URL(fileURLWithPath: "/"), UUID(), [NSNull()], ["a": Set(["b"])], [1: "a"]] as [any Sendable])
    func `a value that no property list can contain is an error, and the store is unchanged`(
        type: NSPersistentStore.StoreType, value: any Sendable
    ) throws {
        let folder = try StoreFolder(name: "Notes.store")
        try store(folder, type)
        var metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: type, at: folder.url)
        metadata["mine"] = value
        let error = #expect(throws: CocoaError.self) {
            try NSPersistentStoreCoordinator.setMetadata(metadata, type: type, at: folder.url)
        }
        #expect(error?.errorCode == 134030)
        let read = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: type, at: folder.url)
        #expect(read["mine"] == nil)
    }
}
