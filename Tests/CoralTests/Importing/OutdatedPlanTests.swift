import Coral
import NotesModel
import Testing

/// A class as in an app.
final class OneNote: NSManagedObject {}

/// Plans that are applied after the objects have changed.
struct OutdatedPlanTests {
    private func withPlan(
        _ values: String, _ change: (NSManagedObjectContext, NSManagedObject) throws -> Void,
        _ check: (NSManagedObjectContext, NSManagedObject, ImportPlan<NSManagedObject>) throws -> Void
    ) throws {
        let context = try makeNotesContext()
        try context.performAndWait {
            let note = context.insert("Note", ["title": "a", "body": "text"])
            note.setValue(NSOrderedSet(object: context.insert("Item", ["name": "i"])), forKey: "items")
            try context.save()
            let document = Data(#"{"$id":"\#(note.objectID.uriRepresentation())","$entity":"Note",\#(values)}"#.utf8)
            let plan = try GraphImporter(into: context).plan(document)
            #expect(plan.errors.isEmpty && plan.updates.count + plan.links.count == 1, "\(plan.summary)")
            try change(context, note)
            try check(context, note, plan)
        }
    }

    private func expectOutdated(_ plan: ImportPlan<NSManagedObject>) {
        #expect(#expect(throws: ImportError.self) { try plan.apply() }?.code == .outdatedPlan)
    }

    @Test func `an object that was changed meanwhile is not overwritten`() throws {
        try withPlan(#""title":"b""#) {
            $1.setValue("mine", forKey: "title")
        } _: { _, note, plan in
            expectOutdated(plan)
            #expect(note.value(forKey: "title") as? String == "mine")
        }
    }

    @Test func `an object that was deleted and saved meanwhile is an error`() throws {
        try withPlan(#""title":"b""#) { context, note in
            context.delete(note)
            try context.save()
        } _: { context, _, plan in
            expectOutdated(plan)
            #expect(!context.hasChanges)
        }
    }

    @Test func `a relationship that was changed meanwhile is not overwritten`() throws {
        try withPlan(#""items":[{"name":"j"}]"#) { context, note in
            note.mutableOrderedSetValue(forKey: "items").add(context.insert("Item", ["name": "k"]))
        } _: { _, note, plan in
            expectOutdated(plan)
            #expect((note.value(forKey: "items") as? NSOrderedSet)?.count == 2)
        }
    }

    @Test func `other changes do not matter`() throws {
        try withPlan(#""title":"b""#) {
            $1.setValue("mine", forKey: "body")
        } _: { _, note, plan in
            try plan.apply()
            #expect(note.value(forKey: "title") as? String == "b" && note.value(forKey: "body") as? String == "mine")
        }
    }

    #if !canImport(Darwin)
        @Test(arguments: [true, false])
        func `a plan does not overwrite a composite attribute that changed after it was made`(isChanged: Bool) throws {
            let city = NSAttributeDescription()
            (city.name, city.attributeType) = ("city", .stringAttributeType)
            let place = NSCompositeAttributeDescription()
            (place.name, place.elements) = ("place", [city])
            let entity = NSEntityDescription()
            (entity.name, entity.properties) = ("Trip", [place])
            let model = NSManagedObjectModel()
            model.entities = [entity]
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            _ = try coordinator.addPersistentStore(
                ofType: NSInMemoryStoreType, configurationName: nil, at: nil, options: nil)
            let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            context.persistentStoreCoordinator = coordinator
            try context.performAndWait {
                let trip = context.insert("Trip", ["place": ["city": "Bern"]])
                try context.save()
                let uri = trip.objectID.uriRepresentation()
                let plan = try GraphImporter(into: context)
                    .plan(Data(#"{"$id":"\#(uri)","$entity":"Trip","place":{"city":"Basel"}}"#.utf8))
                if isChanged {
                    trip.setValue(["city": "Thun"], forKey: "place")
                    expectOutdated(plan)
                } else {
                    try plan.apply()
                }
                #expect(trip.value(forKeyPath: "place.city") as? String == (isChanged ? "Thun" : "Basel"))
            }
        }
    #endif

    // MARK: - Insertions

    /// Where an object with the key of a planned one is inserted.
    enum Inserter: CaseIterable {
        case sameContext, sameContextSaved, otherContext, otherCoordinator, otherPlan
    }

    @Test(arguments: Inserter.allCases)
    func `an object that was inserted meanwhile is not inserted again`(inserter: Inserter) throws {
        try withNewPerson(worksInPlace: false) { context, url, importer, document, plan in
            switch inserter {
            case .sameContext: context.insert("Person", ["name": "Ada"])
            case .sameContextSaved:
                context.insert("Person", ["name": "Ada"])
                try context.save()
            case .otherContext: try insertAda(context.persistentStoreCoordinator)
            case .otherCoordinator: try insertAda(makeContext(.notes(), at: url).persistentStoreCoordinator)
            case .otherPlan: try importer.plan(document).apply()
            }
            let changes = context.insertedObjects.count
            let error = #expect(throws: ImportError.self) { try plan.apply() }
            #expect(error?.code == .outdatedPlan && error?.place?.document?.pointer == "/Person/0", "\(error as Any)")
            #expect(context.insertedObjects.count == changes)
            // Another plan finds the object, and is applied.
            let next = try importer.plan(document)
            #expect(!next.inserts.contains { $0.subject.entity == "Person" })
            try next.apply()
            try context.save()
            #expect(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Person")) == 1)
        }
    }

    @Test func `a plan in the context itself finds objects that another process has inserted meanwhile`() throws {
        try withNewPerson(worksInPlace: true) { context, url, _, _, plan in
            try insertAda(makeContext(.notes(), at: url).persistentStoreCoordinator)
            expectOutdated(plan)
            #expect(!context.hasChanges)
            #expect(#expect(throws: ImportError.self) { try plan.apply() }?.code == .misuse)
        }
        try withNewPerson(worksInPlace: true) { context, _, _, _, plan in
            try plan.apply()
            #expect(context.insertedObjects.count == 2)
        }
    }

    private func withNewPerson(
        worksInPlace: Bool,
        _ check: (NSManagedObjectContext, URL, GraphImporter, Data, ImportPlan<NSManagedObject>) throws -> Void
    ) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let url = folder.appendingPathComponent("Notes.sqlite")
        let context = try makeContext(.notes(), at: url)
        try context.performAndWait {
            var importer = GraphImporter(into: context)
            // No uniqueness constraint covers people.
            importer.options.identity.keys["Person"] = ["name"]
            importer.worksInPlace = worksInPlace
            let document = Data(#"{"Person":[{"name":"Ada"}],"Tag":[{"name":"new"}]}"#.utf8)
            let plan = try importer.plan(document)
            #expect(plan.inserts.count == 2)
            try check(context, url, importer, document, plan)
        }
    }

    private func insertAda(_ coordinator: NSPersistentStoreCoordinator?) throws {
        let other = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        other.persistentStoreCoordinator = coordinator
        try other.performAndWait {
            other.insert("Person", ["name": "Ada"])
            try other.save()
        }
    }

    @Test func `an object whose key was changed meanwhile is not updated`() throws {
        let context = try makeNotesContext()
        try context.performAndWait {
            let tag = context.insert("Tag", ["name": "a"])
            try context.save()
            var options = ImportOptions()
            options.identity.keys["Note"] = ["title"]
            let note = context.insert("Note", ["title": "t", "body": "old"])
            try context.save()
            let plan = try GraphImporter(into: context, options: options).plan(
                Data(#"{"Note":[{"title":"t","body":"new"}],"Tag":[{"name":"a"}]}"#.utf8))
            #expect(plan.updates.count == 1, "\(plan.summary)")
            note.setValue("other", forKey: "title")
            expectOutdated(plan)
            #expect(note.value(forKey: "body") as? String == "old" && !tag.hasChanges)
        }
    }

    @Test func `objects that were inserted with other keys do not matter`() throws {
        let context = try makeNotesContext()
        try context.performAndWait {
            let plan = try GraphImporter(into: context).plan(
                Data(#"{"Tag":[{"name":"new"}],"Note":[{"title":"t"}]}"#.utf8))
            context.insert("Tag", ["name": "other"])
            context.insert("Note", ["title": "t"])
            try plan.apply()
            #expect(context.insertedObjects.count == 4)
        }
    }

    // MARK: - Classes

    private func model(_ classes: [String: String]) -> NSManagedObjectModel {
        let model = NSManagedObjectModel.notes()
        for entity in model.entities {
            if let name = classes[entity.name ?? ""] { entity.managedObjectClassName = name }
        }
        return model
    }

    @Test func `a document whose objects are of another class is refused`() throws {
        let name = NSStringFromClass(OneNote.self)
        let context = try makeContext(model(["Note": name]))
        try context.performAndWait {
            let document = Data(#"{"$entity":"Person","name":"Ada"}"#.utf8)
            let error = #expect(throws: ImportError.self) {
                try context.importObjects(from: document, as: OneNote.self)
            }
            #expect(error?.code == .misuse)
            #expect(!context.hasChanges)
            let none = try context.importObjects(from: Data("[]".utf8), as: OneNote.self)
            #expect(none.isEmpty)
        }
    }

    @Test func `a class of two entities is ambiguous`() throws {
        let name = NSStringFromClass(OneNote.self)
        let context = try makeContext(model(["Note": name, "Tag": name]))
        context.performAndWait {
            let error = #expect(throws: ImportError.self) {
                try context.importObjects(from: Data(#"{"title":"a"}"#.utf8), as: OneNote.self)
            }
            #expect(error?.message.contains("Note, Tag") == true, "\(error as Any)")
        }
    }

    // MARK: - Documents without records

    @Test(arguments: [
        "", #"{"$header":{"format":"coral-graph","version":1,"layout":"lines","end":true}}"# + "\n{\"$end\":0}\n",
    ])
    func `a document without records deletes nothing`(text: String) throws {
        let context = try makeNotesContext()
        try context.performAndWait {
            context.insert("Note", ["title": "a"])
            try context.save()
            var options = ImportOptions()
            options.layout = .lines
            options.deletionScopes = ["Note": NSPredicate(value: true)]
            let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).jsonl")
            try Data(text.utf8).write(to: file)
            defer { try? FileManager.default.removeItem(at: file) }
            let source = ImportSource.file(file)
            let error = #expect(throws: ImportError.self) {
                let _: ImportPlan<NSManagedObject> = try GraphImporter(into: context, options: options).plan(source)
            }
            #expect(error?.code == .emptyDocument)
            options.allowsEmptyDocument = true
            let plan: ImportPlan<NSManagedObject> = try GraphImporter(into: context, options: options).plan(source)
            #expect(plan.deletions.count == 1)
        }
    }

    @Test func `lines that are cut off between two lines are an error`() throws {
        let context = try makeNotesContext()
        try context.performAndWait {
            let notes = ["a", "b"].map { context.insert("Note", ["title": $0]) }
            let lines = try notes.encoded(as: .jsonLines).text.split(separator: "\n")
            #expect(lines.count == 4 && lines.last == #"{"$end":2}"#)
            for count in 1..<lines.count {
                let cut = Data(lines.prefix(count).map { $0 + "\n" }.joined().utf8)
                let error = #expect(throws: DocumentError.self) { try GraphImporter(into: context).plan(cut) }
                #expect(error?.code == .truncated, "\(error as Any)")
            }
            let missing = Data([lines[0], lines[1], lines[3]].joined(separator: "\n").utf8)
            #expect(throws: DocumentError.self) { try GraphImporter(into: context).plan(missing) }
            let whole = Data(lines.joined(separator: "\n").utf8)
            #expect(try GraphImporter(into: context).plan(whole).recordCount == 2)
        }
    }

    @Test func `changes in lines that are cut off are an error`() throws {
        let context = try makeNotesContext()
        try context.performAndWait {
            let note = context.insert("Note", ["title": "a"])
            try context.save()
            let before = try note.encoded()
            note.setValue("b", forKey: "title")
            let delta = try note.changes(since: before)
            let document = try delta.encoded(as: .jsonLines)
            #expect(try GraphDelta(document) == delta)
            let lines = document.text.split(separator: "\n")
            let cut = Data(lines.prefix(1).map { $0 + "\n" }.joined().utf8)
            #expect(throws: DocumentError.self) { try GraphDelta(cut) }
        }
    }

    // MARK: - Summaries

    @Test func `a summary names members that the model does not have`() throws {
        let context = try makeNotesContext()
        try context.performAndWait {
            let plan = try GraphImporter(into: context).plan(
                Data(#"{"Note":[{"titel":"a"},{"titel":"b","x":1,"y":2,"z":3}]}"#.utf8))
            #expect(
                plan.summary
                    == "2 inserts, 0 updates, 0 links, 0 errors, 5 unknown members (Note.titel, Note.x, Note.y, …)")
        }
    }
}
