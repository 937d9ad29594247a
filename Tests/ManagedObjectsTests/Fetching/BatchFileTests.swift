import Foundation
import Testing

import class FoundationAdditions.NSExpression
import class FoundationAdditions.NSPredicate

@testable import EngineTesting

@testable import FoundationAdditions
@testable import ManagedObjects

/// Batch requests with large values, which SQLite's stores keep in files.
@Suite struct BatchFileTests {
    /// A store whose notes have a large value, and a unique title.
    private final class Shelf {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("Files-\(UUID().uuidString)")
        let stack: TestStack
        let isFile: Bool

        init(_ type: String) throws {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            let model = NotesModel.make()
            let note = try #require(model.entitiesByName["Note"])
            note.attributesByName["blob"]?.allowsExternalBinaryDataStorage = true
            note.properties += [NotesModel.attribute("thumbnail", .binaryDataAttributeType)]
            note.uniquenessConstraints = [["title"]]
            isFile = type == NSSQLiteStoreType
            stack = try TestStack(
                model: model, type: type,
                url: isFile ? folder.appendingPathComponent("Notes.sqlite") : URL(fileURLWithPath: "/dev/null"))
        }

        deinit { try? FileManager.default.removeItem(at: folder) }

        var fileCount: Int {
            let path = folder.appendingPathComponent(".Notes_SUPPORT/_EXTERNAL_DATA").path
            return (try? FileManager.default.contentsOfDirectory(atPath: path).count) ?? 0
        }

        func sizes() throws -> [Int?] {
            let context = stack.context()
            return try context.all("Note", sortedBy: "title").map { ($0.value(forKey: "blob") as? Data)?.count }
        }
    }

    private static let large = Data(repeating: 7, count: 200_000)

    @Test(arguments: TestStores.sqlTypes) func `each updated row has a value of its own`(type: String) throws {
        let shelf = try Shelf(type)
        let context = shelf.stack.context()
        for title in ["a", "b", "c"] { _ = context.insert("Note", ["title": title]) }
        try context.save()
        let update = NSBatchUpdateRequest(entityName: "Note")
        update.propertiesToUpdate = ["blob": Self.large, "count": 3]
        update.resultType = .updatedObjectsCountResultType
        #expect((try context.execute(update) as? NSBatchUpdateResult)?.result as? Int == 3)
        if shelf.isFile { #expect(shelf.fileCount == 3) }
        let other = shelf.stack.context()
        let notes = try other.all("Note", sortedBy: "title")
        notes[1].setValue(Data([1]), forKey: "blob")
        other.delete(notes[2])
        try other.save()
        #expect(try shelf.sizes() == [200_000, 1])
        if shelf.isFile { #expect(shelf.fileCount == 1) }
        // A second update replaces the files.
        update.propertiesToUpdate = ["blob": Data(repeating: 8, count: 150_000)]
        try context.execute(update)
        #expect(try shelf.sizes() == [150_000, 150_000])
        if shelf.isFile { #expect(shelf.fileCount == 2) }
    }

    @Test(arguments: TestStores.sqlTypes) func `a value that may be in a file is not computed`(type: String) throws {
        let shelf = try Shelf(type)
        let context = shelf.stack.context()
        _ = context.insert("Note", ["title": "a", "blob": Data([1, 2, 3]), "thumbnail": Data([4, 5])])
        try context.save()
        let update = NSBatchUpdateRequest(entityName: "Note")
        update.propertiesToUpdate = ["blob": NSExpression(forKeyPath: "thumbnail")]
        if shelf.isFile {
            #expect(throws: CocoaError.self) { try context.execute(update) }
            #expect(try shelf.sizes() == [3])
        } else {
            try context.execute(update)
            #expect(try shelf.sizes() == [2])
        }
    }

    @Test(arguments: TestStores.sqlTypes) func `a row that is not inserted leaves no file`(type: String) throws {
        let shelf = try Shelf(type)
        let context = shelf.stack.context()
        for title in ["a", "b"] { _ = context.insert("Note", ["title": title]) }
        try context.save()
        let rows: [[String: Any]] = ["a", "b", "c", "c"].map { ["title": $0, "blob": Self.large] }
        context.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
        try context.execute(NSBatchInsertRequest(entityName: "Note", objects: rows))
        #expect(try shelf.sizes() == [nil, nil, 200_000])
        if shelf.isFile { #expect(shelf.fileCount == 1) }
        context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        try context.execute(NSBatchInsertRequest(entityName: "Note", objects: rows))
        #expect(try shelf.sizes() == [200_000, 200_000, 200_000])
        if shelf.isFile { #expect(shelf.fileCount == 3) }
        context.mergePolicy = NSMergePolicy.error
        #expect(throws: CocoaError.self) {
            try context.execute(NSBatchInsertRequest(entityName: "Note", objects: rows))
        }
        if shelf.isFile { #expect(shelf.fileCount == 3) }
    }
}
