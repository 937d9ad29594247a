import CoreDataErrors
import Foundation
import Testing

import class FoundationAdditions.NSPredicate

@testable import EngineTesting
@testable import ManagedObjects

/// Numbers of stores and of rows are equal in coordinators that have nothing to do with each other. Which row an ID names follows from
/// its store's UUID, as in `NSManagedObjectID.uriRepresentation()`.
@Suite("IDs of another coordinator")
final class ForeignIDTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("Foreign-\(UUID().uuidString)")

    init() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// A context over the stores of these names, in this order.
    private func context(_ names: String...) throws -> NSManagedObjectContext {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NotesModel.make())
        for name in names {
            try coordinator.addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: nil,
                at: folder.appendingPathComponent("\(name).sqlite"), options: nil)
        }
        let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    /// A context over a new store with two notes, of which each has an item and both have the tag.
    private func filled(_ name: String) throws -> NSManagedObjectContext {
        let context = try context(name)
        let tag = context.insert("Tag", ["name": name])
        for number in 0..<2 {
            let note = context.insert("Note", ["title": "\(name) \(number)"])
            _ = context.insert("Item", ["note": note, "tags": NSSet(object: tag)])
        }
        try context.save()
        return context
    }

    private func fetch(
        _ entity: String, _ format: String, _ argument: Any, in context: NSManagedObjectContext
    ) throws -> [NSManagedObject] {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.predicate = NSPredicate(format: format, argumentArray: [argument])
        return try context.fetch(request)
    }

    private func notes(in context: NSManagedObjectContext) throws -> [NSManagedObject] {
        try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Note"))
            .sorted { $0.objectID.key.number < $1.objectID.key.number }
    }

    @Test func `an object of another store equals no row of the same number`() throws {
        let (own, foreign) = (try filled("own"), try filled("foreign"))
        let (note, ownNote) = (try notes(in: foreign)[0], try notes(in: own)[0])
        #expect(note.objectID.key == ownNote.objectID.key)
        #expect(try fetch("Item", "note == %@", ownNote, in: own).count == 1)
        #expect(try fetch("Item", "note == %@", note, in: own).isEmpty)
        #expect(try fetch("Item", "note == %@", note.objectID, in: own).isEmpty)
        #expect(try fetch("Item", "note != %@", note.objectID, in: own).count == 2)
        #expect(try fetch("Note", "SELF IN %@", [note.objectID], in: own).isEmpty)
        #expect(try fetch("Note", "SELF IN %@", [note], in: own).isEmpty)
        #expect(try fetch("Note", "SELF IN %@", [note, ownNote], in: own).map(\.objectID) == [ownNote.objectID])
        let mixed: [Any?] = [note.objectID, ownNote, nil]
        #expect(try fetch("Note", "SELF IN %@", mixed, in: own).map(\.objectID) == [ownNote.objectID])
        let tag = try #require(try fetch("Tag", "name == %@", "foreign", in: foreign).first)
        #expect(try fetch("Item", "ANY tags == %@", tag, in: foreign).count == 2)
        #expect(try fetch("Item", "ANY tags == %@", tag, in: own).isEmpty)
        #expect(try fetch("Item", "tags CONTAINS %@", tag.objectID, in: own).isEmpty)
        #expect(try fetch("Note", "SUBQUERY(items, $item, ANY $item.tags == %@).@count > 0", tag, in: own).isEmpty)
    }

    @Test func `an ID names the row of its store, whose number is another one in each coordinator`() throws {
        let own = try filled("own")
        _ = try filled("foreign")
        let both = try context("foreign", "own")
        let note = try #require(try fetch("Note", "title == %@", "own 1", in: both).first)
        let ownNote = try notes(in: own)[1]
        #expect(note.objectID.key != ownNote.objectID.key)
        #expect(note.objectID == ownNote.objectID)
        #expect(try fetch("Item", "note == %@", note, in: own).count == 1)
        #expect(try fetch("Item", "note == %@", note.objectID, in: own).count == 1)
        #expect(try fetch("Note", "SELF IN %@", [note.objectID], in: own).map(\.objectID) == [ownNote.objectID])
    }

    @Test func `a batch request changes no row that has only the number of the ID`() throws {
        let (own, foreign) = (try filled("own"), try filled("foreign"))
        let ids = try notes(in: foreign).map(\.objectID)
        try own.execute(NSBatchDeleteRequest(objectIDs: ids))
        #expect(try notes(in: own).count == 2)
        let update = NSBatchUpdateRequest(entityName: "Item")
        update.propertiesToUpdate = ["note": ids[0]]
        #expect(throws: CocoaError.self) { try own.execute(update) }
        let insertion = NSBatchInsertRequest(entityName: "Item", objects: [["note": ids[0]]])
        #expect(throws: CocoaError.self) { try own.execute(insertion) }
        // The IDs of another coordinator over the same store name its rows.
        let both = try context("foreign", "own")
        let note = try #require(try fetch("Note", "title == %@", "own 1", in: both).first)
        update.propertiesToUpdate = ["note": note.objectID]
        try own.execute(update)
        own.reset()
        #expect(try fetch("Item", "note.title == %@", "own 1", in: own).count == 2)
        try own.execute(NSBatchDeleteRequest(objectIDs: [note.objectID]))
        own.reset()
        #expect(try notes(in: own).map { $0.value(forKey: "title") as? String } == ["own 0"])
    }
}
