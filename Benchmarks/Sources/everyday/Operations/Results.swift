import CoreData
import Foundation

private let medium = [1000, 10_000, 100_000]

/// Results controllers, which follow the changes of a context.
let results: [Operation] = [
    Operation("results-fetch", "the first fetch of a results controller", sizes: medium) { count, meter in
        let scene = try Scene()
        try scene.fill(count)
        let controller = controller(scene)
        try meter.measure { try controller.performFetch() }
    },
    Operation("results-plain", "ten changes of one object each", sizes: medium) { count, meter in
        try follow(count, meter) { _ in }
    },
    Operation("results-limit", "the same with a limit", sizes: medium) { count, meter in
        try follow(count, meter) { $0.fetchLimit = count / 2 }
    },
    Operation("results-any", "the same with a condition on other objects", sizes: medium) { count, meter in
        try follow(count, meter) { $0.predicate = NSPredicate(format: "NOT ANY tags.name == 'x'") }
    },
    Operation("results-move", "ten objects that move from the front to the end", sizes: medium) { count, meter in
        try follow(count, meter, change: { note, step in note.setValue(10_000_000 + step, forKey: "number") }) { _ in }
    },
    Operation("results-many", "n changes in one event") { count, meter in
        let scene = try Scene()
        let notes = try scene.notes(count)
        let controller = controller(scene)
        let delegate = Listener()
        controller.delegate = delegate
        try controller.performFetch()
        meter.measure {
            for (index, note) in notes.enumerated() { note.setValue(count - index, forKey: "number") }
            scene.context.processPendingChanges()
        }
        withExtendedLifetime(delegate) {}
    },
    Operation("results-sections", "ten changes with a hundred sections", sizes: medium) { count, meter in
        let scene = try Scene()
        let notes = try scene.notes(count)
        let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
        request.sortDescriptors = [
            NSSortDescriptor(key: "size", ascending: true), NSSortDescriptor(key: "number", ascending: true),
        ]
        let controller = NSFetchedResultsController(
            fetchRequest: request, managedObjectContext: scene.context, sectionNameKeyPath: "size", cacheName: nil)
        let delegate = Listener()
        controller.delegate = delegate
        try controller.performFetch()
        meter.measure {
            for step in 0..<10 {
                notes[step * 7].setValue(50, forKey: "size")
                scene.context.processPendingChanges()
            }
        }
        withExtendedLifetime(delegate) {}
    },
    Operation("index-path", "a thousand times the index path of an object", sizes: medium) { count, meter in
        let scene = try Scene()
        let notes = try scene.notes(count)
        let controller = controller(scene)
        try controller.performFetch()
        meter.measure { for note in notes.prefix(1000) { _ = controller.indexPath(forObject: note) } }
    },
    Operation("index-path-changing", "a hundred times an insertion and the index path of an object", sizes: medium) {
        count, meter in
        let scene = try Scene()
        let notes = try scene.notes(count)
        let controller = controller(scene)
        let delegate = Listener()
        controller.delegate = delegate
        try controller.performFetch()
        meter.measure {
            for step in 0..<100 {
                _ = scene.make("Note", ["number": step])
                scene.context.processPendingChanges()
                _ = controller.indexPath(forObject: notes[count - 1 - step])
            }
        }
        withExtendedLifetime(delegate) {}
    },
]

private func controller(_ scene: Scene, _ configure: (NSFetchRequest<NSManagedObject>) -> Void = { _ in })
    -> NSFetchedResultsController<NSManagedObject>
{
    let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
    request.sortDescriptors = byNumber
    configure(request)
    return NSFetchedResultsController(
        fetchRequest: request, managedObjectContext: scene.context, sectionNameKeyPath: nil, cacheName: nil)
}

private func follow(
    _ count: Int, _ meter: Meter,
    change: (NSManagedObject, Int) -> Void = { note, step in note.setValue("changed \(step)", forKey: "title") },
    _ configure: (NSFetchRequest<NSManagedObject>) -> Void
) throws {
    let scene = try Scene()
    let notes = try scene.notes(count)
    let controller = controller(scene, configure)
    let delegate = Listener()
    controller.delegate = delegate
    try controller.performFetch()
    meter.measure {
        for step in 0..<10 {
            change(notes[step * 7], step)
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
