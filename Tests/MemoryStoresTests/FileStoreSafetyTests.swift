import Foundation
import Testing

@testable import EngineTesting

@testable import ManagedObjects

/// How the files of XML stores and archives are replaced, also if there is a link, a pipe or a folder in their place.
@Suite("Stores in one file replace it atomically")
struct FileStoreSafetyTests {
    static let types = [NSXMLStoreType, NSPersistentStore.StoreType.archive.rawValue]

    private func open(_ url: URL, type: String) throws -> NSManagedObjectContext {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NotesModel.make())
        try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: url, options: nil)
        let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    @Test(arguments: types) func `a symbolic link stays, and the file that it refers to is written`(type: String) throws
    {
        let folder = try StoreFolder(name: "real/Notes.file")
        let link = folder.directory.appendingPathComponent("Notes.link")
        try FileManager.default.createDirectory(
            at: folder.url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(atPath: link.path, withDestinationPath: "real/Notes.file")
        let context = try open(link, type: type)
        _ = context.insert("Note", ["title": "One"])
        try context.save()
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link.path) == "real/Notes.file")
        #expect(try open(folder.url, type: type).all("Note").count == 1)
        try NSPersistentStoreCoordinator.setMetadata(
            NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: type, at: link, options: nil)
                .merging(["mine": "yes"]) { $1 }, forPersistentStoreOfType: type, at: link, options: nil)
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link.path) == "real/Notes.file")
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
            ofType: type, at: folder.url, options: nil)
        #expect(metadata["mine"] as? String == "yes")
    }

    @Test(arguments: types) func `pipes and folders are rejected, not read or replaced`(type: String) throws {
        let folder = try StoreFolder(name: "Notes.file")
        try #require(mkfifo(folder.url.path, 0o600) == 0)
        for url in [folder.url, folder.directory] {
            let error = #expect(throws: CocoaError.self) { try open(url, type: type) }
            #expect(error?.errorCode == CocoaError.fileReadUnknown.rawValue, "\(String(describing: error))")
        }
        #expect(
            try FileManager.default.attributesOfItem(atPath: folder.url.path)[.type] as? FileAttributeType
                != .typeRegular)
    }

    @Test(arguments: types) func `a process that is killed during a save leaves the former file`(type: String) throws {
        let folder = try StoreFolder(name: "Notes.file")
        let context = try open(folder.url, type: type)
        _ = context.insert("Note", ["title": "One"])
        try context.save()
        // The file that remains if a process is killed before it renames the file.
        let left = folder.directory.appendingPathComponent(".Notes.file.\(UUID().uuidString).partial")
        try FileManager.default.createDirectory(at: left, withIntermediateDirectories: true)
        try Data("<?xml".utf8).write(to: left.appendingPathComponent("Notes.file"))
        let again = try open(folder.url, type: type)
        #expect(try again.all("Note").count == 1)
        _ = again.insert("Note", ["title": "Two"])
        try again.save()
        #expect(try folder.content().keys.sorted() == ["Notes.file"])
        #expect(try open(folder.url, type: type).all("Note").count == 2)
    }

    @Test(arguments: types) func `a file that is replaced or removed meanwhile is not overwritten`(type: String) throws
    {
        let folder = try StoreFolder(name: "Notes.file")
        let context = try open(folder.url, type: type)
        _ = context.insert("Note", ["title": "One"])
        try context.save()
        let first = try Data(contentsOf: folder.url)
        // The same bytes in another file, as a restored backup has.
        try FileManager.default.removeItem(at: folder.url)
        try first.write(to: folder.url)
        _ = context.insert("Note", ["title": "Two"])
        #expect(#expect(throws: CocoaError.self) { try context.save() }?.errorCode == 134030)
        #expect(try Data(contentsOf: folder.url) == first)
        try FileManager.default.removeItem(at: folder.url)
        #expect(#expect(throws: CocoaError.self) { try context.save() }?.errorCode == 134030)
        #expect(try folder.content().isEmpty)
    }

    @Test(arguments: types) func `a folder that cannot be written to is an error, and the changes stay`(type: String)
        throws
    {
        let folder = try StoreFolder(name: "inner/Notes.file")
        let inner = folder.url.deletingLastPathComponent()
        try FileManager.default.createDirectory(at: inner, withIntermediateDirectories: true)
        let context = try open(folder.url, type: type)
        let note = context.insert("Note", ["title": "One"])
        let moved = folder.directory.appendingPathComponent("elsewhere")
        try FileManager.default.moveItem(at: inner, to: moved)
        #expect(throws: CocoaError.self) { try context.save() }
        #expect(note.isInserted)
        try FileManager.default.moveItem(at: moved, to: inner)
        try context.save()
        #expect(try open(folder.url, type: type).all("Note").count == 1)
    }

    // MARK: - Hostile XML

    private static func hostile(_ name: String) -> String {
        let object = "<object type=\"ITEM\" id=\"z2\"></object>"
        func replacing(_ text: String, _ other: String) -> String {
            XMLStoreTests.base.replacingOccurrences(of: text, with: other)
        }
        return switch name {
        case "a billion laughs":
            replacing(
                "CoreData.dtd\">",
                "CoreData.dtd\" [<!ENTITY a \"ha\"><!ENTITY b \"&a;&a;&a;&a;&a;&a;&a;&a;\"><!ENTITY c \"&b;&b;&b;&b;\">]>"
            )
        case "an external entity":
            replacing("CoreData.dtd\">", "CoreData.dtd\" [<!ENTITY a SYSTEM \"file:///etc/passwd\">]>")
        case "deep elements": replacing(object, String(repeating: "<object>", count: 200_000))
        case "deep metadata": replacing("<dict></dict>", String(repeating: "<array>", count: 200_000))
        case "long nonsense": replacing("One", String(repeating: "<", count: 1_000_000))
        case "another root": "<?xml version=\"1.0\"?>\n<plist version=\"1.0\"><dict></dict></plist>"
        default: ""
        }
    }

    @Test(arguments: [
        "a billion laughs", "an external entity", "deep elements", "deep metadata", "long nonsense", "another root",
    ]) func `hostile XML is an error with a sentence`(name: String) throws {
        let folder = try StoreFolder(name: "Notes.xml")
        try Data(Self.hostile(name).utf8).write(to: folder.url)
        let error = #expect(throws: CocoaError.self) { try open(folder.url, type: NSXMLStoreType) }
        #expect(error?.errorCode == 259, "\(name): \(String(describing: error))")
        #expect(error?.localizedDescription.hasSuffix(".") == true, "\(String(describing: error))")
    }

    @Test func `a file that is larger than the limit is not read`() throws {
        let folder = try StoreFolder(name: "Notes.xml")
        try Data().write(to: folder.url)
        // Sparse: it takes no space.
        try #require(truncate(folder.url.path, 3 << 30) == 0)
        let error = #expect(throws: CocoaError.self) { try open(folder.url, type: NSXMLStoreType) }
        #expect(error?.errorCode == CocoaError.fileReadTooLarge.rawValue)
    }
}
