import CoreData
import Foundation
import FuzzBooks
import FuzzSupport
import PredicateLanguage

/// Called by libFuzzer with each input: a predicate over books, fetched from a store and therefore compiled to SQL.
/// Dates, texts and numbers may be compared with any type.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let format = String(decoding: input(bytes, count), as: UTF8.self)
    guard let context, (try? PredicateParser.parse(format)) != nil else { return 0 }
    context.performAndWait {
        for entity in ["Book", "Author"] {
            let request = NSFetchRequest<NSManagedObject>(entityName: entity)
            request.predicate = NSPredicate(format: format, argumentArray: nil)
            attempt { _ = try context.fetch(request) }
            attempt { _ = try context.count(for: request) }
        }
        context.reset()
    }
    return 0
}

/// A context with a store in memory. Unsafe, because a context is not Sendable; libFuzzer calls from one thread.
nonisolated(unsafe) private let context: NSManagedObjectContext? = {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Books.model())
    guard (try? Books.fill(coordinator, at: URL(fileURLWithPath: "/dev/null"))) != nil else { return nil }
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    return context
}()
