import Coral
import CoreData
import Foundation

/// An operation: what is done, and the sizes at which it is measured unless others are given.
struct Operation: Sendable {
    let text: String
    var sizes = [1000, 4000, 16000]
    let run: @Sendable (Int, ProcessorClock) throws -> Void
}

let operations: [String: Operation] = [
    "undo-inserts": Operation(text: "undo n inserts in one step") { count, clock in
        let scene = try Scene()
        scene.context.undoManager = UndoManager()
        _ = (0..<count).map { scene.make("Note", ["number": $0]) }
        scene.context.processPendingChanges()
        clock.measure { scene.context.undo() }
    },
    "undo-links": Operation(text: "undo n settings of a to-one relationship in one step") { count, clock in
        let scene = try Scene()
        let folder = scene.make("Folder")
        let notes = try scene.notes(count)
        scene.context.undoManager = UndoManager()
        for note in notes { note.setValue(folder, forKey: "folder") }
        scene.context.processPendingChanges()
        clock.measure { scene.context.undo() }
    },
    "undo-steps": Operation(text: "n steps of one change each, all undone") { count, clock in
        let scene = try Scene()
        let notes = try scene.notes(100)
        let undo = UndoManager()
        undo.groupsByEvent = false
        scene.context.undoManager = undo
        clock.start()
        for step in 0..<count {
            undo.beginUndoGrouping()
            notes[step % 100].setValue(step, forKey: "number")
            scene.context.processPendingChanges()
            undo.endUndoGrouping()
        }
        for _ in 0..<count { scene.context.undo() }
        clock.stop()
    },
    "derived": Operation(text: "n notes in a folder that counts and sums them, one save") { count, clock in
        let scene = try Scene(Library.derivingModel())
        let folder = scene.make("Folder")
        try scene.context.save()
        clock.start()
        _ = try scene.notes(count, in: folder)
        clock.stop()
    },
    "not-derived": Operation(text: "the same without derived attributes") { count, clock in
        let scene = try Scene()
        let folder = scene.make("Folder")
        try scene.context.save()
        clock.start()
        _ = try scene.notes(count, in: folder)
        clock.stop()
    },
    "deduplicate": Operation(text: "n equal tags of n notes become one") { count, clock in
        let scene = try Scene()
        for note in try scene.notes(count) {
            note.setValue(Set([scene.make("Tag", ["name": "swift"])]), forKey: "tags")
        }
        try scene.context.save()
        try clock.measure {
            try Deduplicator(scene.context, identity: .init(keys: ["Tag": ["name"]])).plan().apply()
        }
    },
    "ordered-append": Operation(text: "append one line to a note of n lines, and save", sizes: [1000, 16000, 64000]) {
        count, clock in
        let scene = try Scene()
        let note = scene.make("Note")
        let lines = note.mutableOrderedSetValue(forKey: "lines")
        for index in 0..<count { lines.add(scene.make("Line", ["text": "\(index)"])) }
        try scene.context.save()
        _ = lines.count
        try clock.measure {
            for _ in 0..<10 {
                note.mutableOrderedSetValue(forKey: "lines").add(scene.make("Line", ["text": "last"]))
                try scene.context.save()
            }
        }
    },
    "many-add": Operation(text: "add one tag to a note of n loaded tags, and save", sizes: [1000, 16000, 64000]) {
        count, clock in
        let scene = try Scene()
        let note = scene.make("Note")
        let tags = note.mutableSetValue(forKey: "tags")
        for index in 0..<count { tags.add(scene.make("Tag", ["name": "\(index)"])) }
        try scene.context.save()
        _ = tags.count
        try clock.measure {
            for _ in 0..<10 {
                note.mutableSetValue(forKey: "tags").add(scene.make("Tag", ["name": "last"]))
                try scene.context.save()
            }
        }
    },
    "merge-links": Operation(text: "merge n/5 changes of another context into n unsaved edits of relationships") {
        count, clock in
        let scene = try Scene()
        let (one, other) = (scene.make("Folder"), scene.make("Folder"))
        let notes = try scene.notes(count, in: one)
        for note in notes { note.setValue(other, forKey: "folder") }
        let writer = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        writer.persistentStoreCoordinator = scene.coordinator
        let changed = notes.prefix(count / 5).map(\.objectID)
        for id in changed { writer.object(with: id).setValue("changed", forKey: "title") }
        try writer.save()
        clock.measure {
            NSManagedObjectContext.mergeChanges(
                fromRemoteContextSave: [NSUpdatedObjectIDsKey: changed], into: [scene.context])
        }
    },
    "results-limit": Operation(
        text: "one change in a results controller of n objects with a limit", sizes: [1000, 10000, 100000]
    ) {
        count, clock in
        try follow(count, clock) { $0.fetchLimit = count / 2 }
    },
    "results-any": Operation(text: "one change in a results controller with ANY", sizes: [1000, 10000, 100000]) {
        count, clock in
        try follow(count, clock) { $0.predicate = NSPredicate(format: "NOT ANY tags.name == 'x'") }
    },
    "results-plain": Operation(text: "one change in a results controller", sizes: [1000, 10000, 100000]) {
        count, clock in
        try follow(count, clock) { _ in }
    },
    "sort-descriptors": Operation(text: "sort n objects by descriptors", sizes: [1000, 10000, 100000]) { count, clock in
        let scene = try Scene()
        let notes = try scene.notes(count)
        let descriptors = [
            NSSortDescriptor(key: "title", ascending: true), NSSortDescriptor(key: "number", ascending: false),
        ]
        _ = clock.measure { NSArray(array: notes).sortedArray(using: descriptors) }
    },
    "sort-swift": Operation(text: "the same with Swift's sort", sizes: [1000, 10000, 100000]) { count, clock in
        let scene = try Scene()
        let notes = try scene.notes(count)
        _ = clock.measure {
            notes.sorted { one, other in
                let (first, second) = (one.value(forKey: "title") as! String, other.value(forKey: "title") as! String)
                if first != second { return first < second }
                return (one.value(forKey: "number") as! Int) > (other.value(forKey: "number") as! Int)
            }
        }
    },
    "external": Operation(text: "fetch n notes with attachments of 200 KB that nobody reads", sizes: [50, 200, 800]) {
        count, clock in
        let scene = try Scene()
        for note in try scene.notes(count) { note.setValue(Data(count: 200_000), forKey: "attachment") }
        try scene.context.save()
        scene.context.reset()
        try clock.measure {
            _ = try scene.context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Note")).map {
                $0.value(forKey: "title")
            }
        }
    },
    "xml-save": Operation(text: "one change in an XML store of n objects, and save") { count, clock in
        let scene = try Scene(type: NSXMLStoreType)
        let notes = try scene.notes(count)
        notes[0].setValue("changed", forKey: "title")
        try clock.measure { try scene.context.save() }
    },
    "xml-fetch": Operation(text: "fetch one of n objects of an XML store") { count, clock in
        let scene = try Scene(type: NSXMLStoreType)
        _ = try scene.notes(count)
        scene.context.reset()
        let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
        request.predicate = NSPredicate(format: "number == 7")
        try clock.measure { _ = try scene.context.fetch(request) }
    },
]

private func follow(
    _ count: Int, _ clock: ProcessorClock, _ configure: (NSFetchRequest<NSManagedObject>) -> Void
) throws {
    let scene = try Scene()
    let notes = try scene.notes(count)
    let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
    request.sortDescriptors = [NSSortDescriptor(key: "number", ascending: true)]
    configure(request)
    let controller = NSFetchedResultsController(
        fetchRequest: request, managedObjectContext: scene.context, sectionNameKeyPath: nil, cacheName: nil)
    let delegate = Listener()
    controller.delegate = delegate
    try controller.performFetch()
    clock.measure {
        for step in 0..<10 {
            notes[step * 7].setValue("changed \(step)", forKey: "title")
            scene.context.processPendingChanges()
        }
    }
    withExtendedLifetime(delegate) {}
}

private final class Listener: NSObject, NSFetchedResultsControllerDelegate {
    func controller(
        _ controller: NSFetchedResultsController<NSFetchRequestResult>, didChange object: Any, at indexPath: IndexPath?,
        for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
    ) {}
}
