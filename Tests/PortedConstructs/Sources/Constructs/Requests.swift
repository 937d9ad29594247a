import CoreData
import Foundation

func bookRequest() -> NSFetchRequest<Book> {
    Book.fetchRequest() as! NSFetchRequest<Book>
}

func authorRequest() -> NSFetchRequest<Author>? {
    let request = Author.fetchRequest() as? NSFetchRequest<Author>
    return request
}

func count(_ request: NSFetchRequest<NSFetchRequestResult>, in context: NSManagedObjectContext) throws -> Int {
    let books = request as! NSFetchRequest<Book>
    return try context.count(for: books)
}

func inspect(_ request: NSFetchRequest<Book>, by inspector: (NSFetchRequest<Book>) -> Void) {
    inspector(request.copy() as! NSFetchRequest<Book>)
}

func resultType() -> Any.Type {
    let type: NSFetchRequestResult.Type = NSFetchRequestResult.self
    return type
}

func registerTransformers() {
    ValueTransformer.setValueTransformer(UpperCase(), forName: NSValueTransformerName("UpperCase"))
    let transformers: [Foundation.ValueTransformer] = []
    let predicate = Foundation.NSPredicate(format: "title = %@", "a")
    let order = Foundation.NSSortDescriptor(key: "title", ascending: true)
    let path = Foundation.NSExpression(forKeyPath: "title")
    print(transformers, predicate, order, path)
}

func allowedClasses() -> [AnyClass] {
    [NSArray.self, UpperCase.classForCoder(), Author.self.classForCoder()]
}

func files(in bundle: Bundle) -> [URL] {
    bundle.urls(forResourcesWithExtension: "momd", subdirectory: nil) ?? []
}

func controller(
    of type: NSFetchedResultsController<Book>.Type, _ request: NSFetchRequest<Book>, in context: NSManagedObjectContext
) -> NSFetchedResultsController<Book> {
    let first = NSFetchedResultsController<Book>.init(
        fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
    print(first)
    return type.init(fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
}

func child(of type: NSManagedObjectContext.Type) -> NSManagedObjectContext {
    type.init(concurrencyType: .privateQueueConcurrencyType)
}

final class BookResults: NSFetchedResultsController<Book> {
    init(_ request: NSFetchRequest<Book>, in context: NSManagedObjectContext) {
        super.init(fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
    }
}
