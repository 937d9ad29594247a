import CoreData

extension NSManagedObjectContext {
    func titles(_ predicate: String? = nil) throws -> [String] {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
        request.predicate = predicate.map { NSPredicate(format: $0) }
        request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
        return try fetch(request).compactMap { $0.value(forKey: "title") as? String }
    }
}
