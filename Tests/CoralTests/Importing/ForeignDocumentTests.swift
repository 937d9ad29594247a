import Coral
import Foundation
import GraphDocuments
import NotesModel
import Testing

/// Documents of older libraries.
@Suite struct ForeignDocumentTests {
    private func importNotes(
        _ json: String, entity: String? = nil
    ) throws -> (NSManagedObjectContext, [NSManagedObject]) {
        let context = try makeNotesContext()
        let source = try ImportSource.foreign(Data(json.utf8), model: .notes(), entity: entity)
        let plan: ImportPlan<NSManagedObject> = try GraphImporter(into: context).plan(source)
        return (context, try plan.apply())
    }

    @Test func `ExtendedManagedObject with the dates of its forks`() throws {
        let (context, objects) = try importNotes(
            """
            {"class": "App.Note", "title": "Shopping", "dAtEaTtr:createdAt": 12.5, "unknown": 1,
             "items": [{"class": "Item", "name": "Milk", "quantity": "2"}, {"class": "Item", "name": "Bread"}],
             "author": {"class": "Person", "name": "Ada"}, "tags": []}
            """)
        let note = try #require(objects.first)
        #expect(note.value(forKey: "createdAt") as? Date == Date(timeIntervalSinceReferenceDate: 12.5))
        let items = (note.value(forKey: "items") as? NSOrderedSet)?.array as? [NSManagedObject]
        #expect(items?.map { $0.value(forKey: "name") as? String } == ["Milk", "Bread"])
        #expect(items?.first?.value(forKey: "quantity") as? Int == 2)
        #expect((note.value(forKey: "author") as? NSManagedObject)?.value(forKey: "name") as? String == "Ada")
        #expect(context.insertedObjects.count == 4)
    }

    /// `toDictionary` of ExtendedManagedObject: dates as they are, to-many relationships as sets of dictionaries.
    private var extendedDictionary: NSDictionary {
        let items: [NSDictionary] = [
            ["class": "Item", "name": "Milk", "quantity": 2], ["class": "Item", "name": "Bread", "quantity": 1],
        ]
        return [
            "class": "Note", "title": "Shopping", "createdAt": Date(timeIntervalSinceReferenceDate: 12.5),
            "author": ["class": "Person", "name": "Ada"] as NSDictionary, "items": NSSet(array: items),
            "tags": NSSet(array: [["class": "Tag", "name": "home"] as NSDictionary]),
        ]
    }

    private func checkExtended(_ source: ImportSource) throws {
        let context = try makeNotesContext()
        let plan: ImportPlan<NSManagedObject> = try GraphImporter(into: context).plan(source)
        let note = try #require(try plan.apply().first)
        #expect(note.value(forKey: "title") as? String == "Shopping")
        #expect(note.value(forKey: "createdAt") as? Date == Date(timeIntervalSinceReferenceDate: 12.5))
        let items = (note.value(forKey: "items") as? NSOrderedSet)?.array as? [NSManagedObject]
        #expect(Set(items?.compactMap { $0.value(forKey: "name") as? String } ?? []) == ["Milk", "Bread"])
        #expect((note.value(forKey: "author") as? NSManagedObject)?.value(forKey: "name") as? String == "Ada")
        #expect((note.value(forKey: "tags") as? NSSet)?.count == 1)
        #expect(context.insertedObjects.count == 5)
    }

    @Test func `the dictionaries of ExtendedManagedObject, with sets`() throws {
        try checkExtended(.foreign(dictionary: extendedDictionary, model: .notes()))
        let context = try makeNotesContext()
        let several = try ImportSource.foreign(
            dictionary: NSSet(array: [extendedDictionary, ["class": "Tag", "name": "work"] as NSDictionary]),
            model: .notes())
        let plan: ImportPlan<NSManagedObject> = try GraphImporter(into: context).plan(several)
        #expect(Set(try plan.apply().compactMap(\.entity.name)) == ["Note", "Tag"])
    }

    @Test func `keyed archives of these dictionaries`() throws {
        let archive = try NSKeyedArchiver.archivedData(withRootObject: extendedDictionary, requiringSecureCoding: false)
        try checkExtended(.foreign(archive, model: .notes()))
        let list = try NSKeyedArchiver.archivedData(
            withRootObject: [extendedDictionary] as NSArray, requiringSecureCoding: false)
        try checkExtended(.foreign(list, model: .notes()))
        let text = try NSKeyedArchiver.archivedData(withRootObject: "text" as NSString, requiringSecureCoding: false)
        #expect(throws: DocumentError.self) { try ImportSource.foreign(text, model: .notes()) }
    }

    @Test func `CDSerialization with cycles and epochs`() throws {
        let (context, objects) = try importNotes(
            """
            {"CDSerializationTopReferences": ["A"],
             "CDSerializationReferences": {
               "A": {"entity": "Note", "properties": {"title": "Shopping", "createdAt": 978307200, "items": ["B"]}},
               "B": {"entity": "Item", "properties": {"name": "Milk", "note": "A"}}}}
            """)
        let note = try #require(objects.first)
        #expect(note.value(forKey: "title") as? String == "Shopping")
        #expect(note.value(forKey: "createdAt") as? Date == Date(timeIntervalSinceReferenceDate: 0))
        #expect((note.value(forKey: "items") as? NSOrderedSet)?.count == 1)
        #expect(context.insertedObjects.count == 2)
    }

    @Test func `KVCBaseObject with its forms of nil`() throws {
        let (context, objects) = try importNotes(
            """
            [{"title": "Shopping", "createdAt": "/Date(978307200500+0100)/", "rank": "", "isPinned": 1, "unknown": {},
              "items": [{"name": "Milk", "quantity": "2"}, {"name": "", "quantity": ""}],
              "author": {"name": "Ada"}, "tags": []},
             {"title": "", "author": {}, "items": ""}]
            """, entity: "Note")
        #expect(objects.count == 2)
        let note = try #require(objects.first)
        #expect(note.value(forKey: "createdAt") as? Date == Date(timeIntervalSinceReferenceDate: 0.5))
        #expect(note.value(forKey: "rank") as? Double != 1)
        #expect(note.value(forKey: "isPinned") as? Bool == true)
        let items = (note.value(forKey: "items") as? NSOrderedSet)?.array as? [NSManagedObject]
        #expect(items?.map { $0.value(forKey: "name") as? String } == ["Milk", ""])
        #expect((note.value(forKey: "author") as? NSManagedObject)?.value(forKey: "name") as? String == "Ada")
        #expect(objects.last?.value(forKey: "author") == nil, "An empty object is nil.")
        #expect(context.insertedObjects.count == 5)
    }

    @Test func `classes created by Core Data are recognised`() throws {
        let (context, _) = try importNotes(#"{"class": "Note_Note_", "items": [{"class": "App.Item_Item_"}]}"#)
        #expect(Set(context.insertedObjects.compactMap(\.entity.name)) == ["Note", "Item"])
    }

    @Test(arguments: [
        "{}", "[1]", "{\"class\": \"Nobody\"}", "{\"class\": \"Note\", \"items\": {\"class\": \"Item\"}}",
        "{\"class\": \"Note\", \"items\": [3]}", "{\"class\": \"Note\", \"dAtEaTtr:createdAt\": \"x\"}",
        "{\"CDSerializationReferences\": []}", "{\"CDSerializationReferences\": {\"A\": {}}}",
        "{\"CDSerializationReferences\": {\"A\": {\"entity\": \"Note\", \"properties\": {\"author\": \"B\"}}}}",
    ])
    func whatIsNoneOfTheseIsRefused(json: String) {
        #expect(throws: DocumentError.self) { try ImportSource.foreign(Data(json.utf8), model: .notes()) }
    }
}
