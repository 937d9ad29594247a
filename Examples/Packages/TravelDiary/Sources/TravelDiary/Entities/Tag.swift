import CoreData
import Foundation

/// A word by which trips are found.
@objc(Tag)
public class Tag: NSManagedObject {
    @NSManaged public var name: String
    @NSManaged public var trips: Set<Trip>?

    public override init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
        super.init(entity: entity, insertInto: context)
    }

    @discardableResult
    public convenience init(name: String, context: NSManagedObjectContext) {
        let entity = NSEntityDescription.entity(forEntityName: "Tag", in: context)!
        self.init(entity: entity, insertInto: context)
        self.name = name
    }

    /// A tag whose name is still to be entered: "new", or with a number if there is another one. It fetches while it has no name yet.
    public convenience init(context: NSManagedObjectContext) {
        let entity = NSEntityDescription.entity(forEntityName: "Tag", in: context)!
        self.init(entity: entity, insertInto: context)
        let request = NSFetchRequest<NSFetchRequestResult>(entityName: "Tag")
        request.predicate = NSPredicate(format: "%K BEGINSWITH %@", #keyPath(Tag.name), "new")
        let count = (try? context.count(for: request)) ?? 0
        name = count == 0 ? "new" : "new \(count + 1)"
    }

    /// The tag with a name; it is created if there is none.
    public static func findOrCreate(named name: String, in context: NSManagedObjectContext) throws -> Tag {
        // A forced cast, because this is the usual form on Apple's platforms, which coral-port rewrites.
        let request = Tag.fetchRequest() as! NSFetchRequest<Tag>
        request.predicate = NSPredicate(format: "%K ==[c] %@", #keyPath(Tag.name), name)
        request.fetchLimit = 1
        if let tag = try context.fetch(request).first { return tag }
        return Tag(name: name, context: context)
    }
}
