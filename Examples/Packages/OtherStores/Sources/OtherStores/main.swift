import CoreData
import JSONStores
import ExampleLibrary

// Core Data over something else than a database. The code that fetches and saves is the same as for any other store: only
// the type of the store and its URL differ.

func fetch(_ entity: String, _ predicate: String? = nil, in context: NSManagedObjectContext) throws -> [NSManagedObject]
{
    let request = NSFetchRequest<NSManagedObject>(entityName: entity)
    request.predicate = predicate.map { NSPredicate(format: $0) }
    request.sortDescriptors = [NSSortDescriptor(key: entity == "Book" ? "title" : "name", ascending: true)]
    return try context.fetch(request)
}

func text(_ object: Any?, _ key: String) -> String {
    ((object as? NSManagedObject)?.value(forKey: key) as? String) ?? "nobody"
}

// MARK: - A folder of documents

let folder = try LibraryFolder.make()
let documents = try Library.context(FolderStore.self, FolderStore.storeType, folder)
try await documents.perform {
    print("A folder:")
    for book in try fetch("Book", in: documents) {
        print("  \(text(book, "title")), by \(text(book.value(forKey: "author"), "name"))")
    }
    // The store passes the predicate to `evaluate(with:)`, so that it may contain relationships.
    let thick = try fetch("Book", "pages > 250 AND author.name BEGINSWITH 'Stan'", in: documents)
    print("  more than 250 pages: \(thick.map { text($0, "title") })")
    thick.first?.setValue("Another title", forKey: "title")
    do {
        try documents.save()
    } catch let error as CocoaError {
        print("  the store is read-only: error \(error.errorCode)")
    }
}
try FileManager.default.removeItem(at: folder)

// MARK: - A service

let service = LibraryService()
try await service.add("Author", "lem", #"{"name": "Stanisław Lem", "books": ["eden", "solaris"]}"#)
try await service.add("Book", "eden", #"{"title": "Eden", "pages": 260, "author": "lem"}"#)
try await service.add("Book", "solaris", #"{"title": "Solaris", "pages": 204, "author": "lem"}"#)

/// Prints the requests that the service has answered since the last call.
func printRequests(_ step: String) async {
    print("  \(step)")
    for request in await service.takeRequests() { print("    \(request)") }
}

print("A service:")
try await LibraryServer.run(service) { url in
    let context = try Library.context(ServiceStore.self, ServiceStore.storeType, url)
    await printRequests("the store is added")

    // The service returns references. Objects are faults until their values are needed.
    let books = try await context.perform { try fetch("Book", in: context).map(\.objectID) }
    await printRequests("books are fetched")

    // One request for the values of both books, one for their author: the store implements `IncrementalStoreBatching`.
    let names = await context.perform {
        books.map { id in
            let book = context.object(with: id)
            return "\(text(book, "title")) by \(text(book.value(forKey: "author"), "name"))"
        }
    }
    await printRequests("\(names)")

    try await context.perform {
        context.object(with: books[0]).setValue("Eden, revised", forKey: "title")
        try context.save()
    }
    await printRequests("a title is changed")

    // Another client changes the same book. The next save is based on an older version.
    await service.change("Book", "eden", "title", "Eden, second edition")
    await context.perform {
        let book = context.object(with: books[0])
        book.setValue(300, forKey: "pages")
        do {
            try context.save()
        } catch let error as CocoaError {
            print("  a conflict: error \(error.errorCode)")
        } catch {
            print("  another error: \(error)")
        }
        context.refresh(book, mergeChanges: true)
        print("  after a refresh: \(text(book, "title")), \(book.value(forKey: "pages") ?? "no") pages")
    }
    try await context.perform { try context.save() }
    await printRequests("the change is saved on the new version")
}
