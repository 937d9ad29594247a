final class Colour: NSObject {}
let palette = NSEntityDescription.insertNewObject(forEntityName: "Palette", into: context)
palette.setValue(NSMutableArray(), forKey: "colours")
try context.save()

/// Two contexts change the same attribute; the notification is that of the first save.
var notification: Notification {
    let other = container.newBackgroundContext()
    let id = note.objectID
    nonisolated(unsafe) var saved = Notification(name: .NSManagedObjectContextDidSave)
    let observer = NotificationCenter.default.addObserver(
        forName: .NSManagedObjectContextDidSave, object: other, queue: nil
    ) { saved = $0 }
    other.performAndWait {
        (other.object(with: id) as? Note)?.keywords = ["theirs"]
        try? other.save()
    }
    NotificationCenter.default.removeObserver(observer)
    note.keywords = ["mine"]
    return saved
}
