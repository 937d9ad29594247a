import CoreData

// The cost of a results controller at a save: ten of many objects change, and a third of them move to another section.
//
// Each line is the best of fifty saves with a controller and of fifty without one, in milliseconds.

final class Follower: NSObject, NSFetchedResultsControllerDelegate {
    var changes = 0

    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
        at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
    ) { changes += 1 }
}

func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
    let attribute = NSAttributeDescription()
    attribute.name = name
    attribute.attributeType = type
    return attribute
}

let entity = NSEntityDescription()
entity.name = "Note"
entity.managedObjectClassName = "NSManagedObject"
entity.properties = [attribute("title", .stringAttributeType), attribute("rank", .integer64AttributeType)]
let model = NSManagedObjectModel()
model.entities = [entity]

/// The best time of a save, and the number of calls of the delegate.
@MainActor func measure(_ count: Int, following: Bool) throws -> (milliseconds: Double, changes: Int) {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(
        ofType: NSInMemoryStoreType, configurationName: nil, at: nil, options: nil)
    let context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    for number in 0..<count {
        let note = NSEntityDescription.insertNewObject(forEntityName: "Note", into: context)
        note.setValue("Note \(number &* 7919 % count)", forKey: "title")
        note.setValue(number % 20, forKey: "rank")
    }
    try context.save()
    let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
    request.predicate = NSPredicate(format: "rank < 100 AND title BEGINSWITH 'Note'")
    request.sortDescriptors = [
        NSSortDescriptor(key: "rank", ascending: true), NSSortDescriptor(key: "title", ascending: true),
    ]
    let controller = NSFetchedResultsController(
        fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: "rank", cacheName: nil)
    let follower = Follower()
    if following { controller.delegate = follower }
    try controller.performFetch()
    let notes = controller.fetchedObjects ?? []
    var best = Duration.seconds(1)
    for pass in 0..<50 {
        for index in 0..<10 {
            let note = notes[(pass * 997 + index * 1009) % notes.count]
            if index % 3 == 0 {
                note.setValue((pass + index) % 20, forKey: "rank")
            } else {
                note.setValue("Note \(pass) \(index)", forKey: "title")
            }
        }
        best = min(best, try ContinuousClock().measure { try context.save() })
    }
    return (Double(best.components.attoseconds) / 1e15, follower.changes)
}

print("objects    with     without  difference, in milliseconds a save of ten changed objects")
for count in [1_000, 10_000, 100_000] {
    let (with, without) = (try measure(count, following: true), try measure(count, following: false))
    precondition(with.changes > 0 && without.changes == 0)
    let numbers = [with.milliseconds, without.milliseconds, with.milliseconds - without.milliseconds]
    print(
        "\(count)".padding(toLength: 8, withPad: " ", startingAt: 0),
        numbers.map { String(format: "%8.3f", $0) }.joined())
}
