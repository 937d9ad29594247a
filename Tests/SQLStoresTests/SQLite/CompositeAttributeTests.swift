import Foundation
import GRDB
import Testing

@testable import EngineTesting

@testable import FoundationAdditions
@testable import ManagedObjects

/// One attribute with several elements, each in a column of its own.
///
/// Page: https://developer.apple.com/documentation/coredata/nscompositeattributedescription
@Suite("Composite attributes") struct CompositeAttributeTests {
    @Test func `elements are set, saved, found and cleared`() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("Composite-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let url = folder.appendingPathComponent("Places.sqlite")
        let stack = try TestStack(model: QueryModel.make(), url: url)
        let context = stack.context()
        let whole = context.insert("Note", ["title": "whole", "place": ["city": "Bern", "height": 540.0]])
        let parts = context.insert("Note", ["title": "parts"])
        parts.setValue("Basel", forKeyPath: "place.city")
        _ = context.insert("Note", ["title": "none"])
        try context.save()
        #expect(!context.hasChanges)
        parts.setValue(260.0, forKeyPath: "place.height")
        #expect(parts.hasChanges && parts.changedValues().keys.contains { $0.hasPrefix("place") })
        try context.save()

        let later = try TestStack(model: QueryModel.make(), url: url).context()
        let notes = try later.all("Note", sortedBy: "title")
        #expect(notes.map { $0.value(forKeyPath: "place.city") as? String } == [nil, "Basel", "Bern"])
        let place = notes[1].value(forKey: "place") as? [String: Any]
        #expect(place?["city"] as? String == "Basel" && place?["height"] as? Double == 260)
        let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
        request.predicate = NSPredicate(format: "place.city BEGINSWITH 'B' AND place.height > 300")
        request.sortDescriptors = [NSSortDescriptor(key: "place.height", ascending: true)]
        #expect(try later.fetch(request).map { $0.value(forKey: "title") as? String } == ["whole"])
        notes[2].setValue(nil, forKey: "place")
        try later.save()
        context.refresh(whole, mergeChanges: false)
        #expect(whole.value(forKeyPath: "place.city") == nil)
        let columns = try DatabaseQueue(path: url.path).read {
            try String.fetchAll($0, sql: "SELECT name FROM pragma_table_info('ZNOTE')")
        }
        #expect(columns.contains("ZCITY") && columns.contains("ZHEIGHT"))
    }
}
