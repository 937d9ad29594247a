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

    /// An entity whose composite attribute has a composite as an element.
    private func nestedModel() -> NSManagedObjectModel {
        let (place, position) = (NSCompositeAttributeDescription(), NSCompositeAttributeDescription())
        (place.name, position.name) = ("place", "position")
        position.elements = [
            NotesModel.attribute("east", .doubleAttributeType), NotesModel.attribute("north", .integer32AttributeType),
        ]
        place.elements = [NotesModel.attribute("city", .stringAttributeType), position]
        let model = NSManagedObjectModel()
        model.entities = [NotesModel.entity("Trip", [NotesModel.attribute("name", .stringAttributeType), place])]
        return model
    }

    private let bern: [String: Any] = ["city": "Bern", "position": ["east": 7.5, "north": 47]]

    private func same(_ value: Any?, _ expected: [String: Any]?) -> Bool {
        (value as? [String: Any]).map { NSDictionary(dictionary: $0) } == expected.map { NSDictionary(dictionary: $0) }
    }

    @Test func `a composite in a composite is set and read`() throws {
        let context = try TestStack(model: nestedModel()).context()
        let trip = context.insert("Trip", ["place": bern])
        try context.save()
        trip.setValue(trip.value(forKey: "place.position"), forKey: "place.position")
        #expect(same(trip.value(forKey: "place"), bern))
        #expect(!trip.hasPersistentChangedValues)
        trip.setValue(["east": 8.5, "north": 48], forKey: "place.position")
        try context.save()
        context.refresh(trip, mergeChanges: false)
        #expect(same(trip.value(forKey: "place"), ["city": "Bern", "position": ["east": 8.5, "north": 48]]))
        trip.setValue(nil, forKey: "place.position")
        #expect(same(trip.value(forKey: "place"), ["city": "Bern"]))
    }

    @Test func `a composite with an unacceptable element is unchanged`() throws {
        let context = try TestStack(model: nestedModel()).context()
        let trip = context.insert("Trip", ["place": bern])
        try context.save()
        let field = try #require(trip.field(of: "place"))
        let other: [String: Any] = ["city": "Basel", "position": ["east": "far", "north": 47]]
        #expect(throws: UnacceptableValue.self) { try trip.setPublicValue(other, at: field, primitive: false) }
        #expect(same(trip.value(forKey: "place"), bern))
        #expect(!context.hasChanges)
    }

    @Test func `committed values contain composites`() throws {
        let context = try TestStack(model: nestedModel()).context()
        let trip = context.insert("Trip", ["name": "a", "place": bern])
        let none = context.insert("Trip", ["name": "b"])
        try context.save()
        trip.setValue(["city": "Basel"], forKey: "place")
        none.setValue("Basel", forKey: "place.city")
        let committed = trip.committedValues(forKeys: nil)
        #expect(Set(committed.keys) == ["name", "place"])
        #expect(same(committed["place"], bern))
        #expect(same(trip.committedValues(forKeys: ["place.position"])["place.position"], ["east": 7.5, "north": 47]))
        #expect(trip.committedValues(forKeys: ["place.city"])["place.city"] as? String == "Bern")
        #expect(none.committedValues(forKeys: ["place"])["place"] is NSNull)
        // What has changed can be compared with what was.
        #expect(Set(trip.changedValues().keys) == ["place"])
    }
}
