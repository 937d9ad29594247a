import CoreData
import Foundation

class Novel: NSManagedObject {
    override init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
        super.init(entity: entity, insertInto: context)
    }
}

final class Coordinator: NSPersistentStoreCoordinator, @unchecked Sendable {
    override init(managedObjectModel model: NSManagedObjectModel) {
        super.init(managedObjectModel: model)
    }
}

class Critic: Author {}

extension Critic {
    override func awakeFromInsert() { super.awakeFromInsert() }
}

class Poem: NSManagedObject {
    override convenience init(context: NSManagedObjectContext) {
        self.init(entity: NSEntityDescription.entity(forEntityName: "Poem", in: context)!, insertInto: context)
    }
}

let cloud = NSPersistentCloudKitContainer(name: "Books")

func addBooks(_ first: Book, _ second: Book, to author: Author) {
    author.books = [first, second]
    let both = [first, second] as NSSet
    author.books = both
}
