import Foundation

/// The operations that all repositories have, for one entity class.
public class Repository<T: NSManagedObject> {
    public let context: NSManagedObjectContext

    public init(context: NSManagedObjectContext) {
        self.context = context
    }

    public var entityName: String { T.entity().name ?? String(describing: T.self) }

    public func request(
        matching predicate: NSPredicate? = nil, sortedBy sortDescriptors: [NSSortDescriptor] = []
    ) -> NSFetchRequest<T> {
        let request = NSFetchRequest<T>(entityName: entityName)
        request.predicate = predicate
        request.sortDescriptors = sortDescriptors
        return request
    }

    public func create(_ configure: (T) -> Void = { _ in }) -> T {
        let object = T(context: context)
        configure(object)
        return object
    }

    public func all(sortedBy sortDescriptors: [NSSortDescriptor] = []) throws -> [T] {
        try context.fetch(request(sortedBy: sortDescriptors))
    }

    public func find(_ predicate: NSPredicate, sortedBy sortDescriptors: [NSSortDescriptor] = []) throws -> [T] {
        try context.fetch(request(matching: predicate, sortedBy: sortDescriptors))
    }

    public func first(_ predicate: NSPredicate) throws -> T? {
        let request = request(matching: predicate)
        request.fetchLimit = 1
        return try context.fetch(request).first
    }

    public func count(_ predicate: NSPredicate? = nil) throws -> Int {
        try context.count(for: request(matching: predicate))
    }

    public func delete(_ object: T) {
        context.delete(object)
    }

    @discardableResult
    public func deleteAll(_ predicate: NSPredicate? = nil) throws -> Int {
        var count = 0
        for object in try context.fetch(request(matching: predicate)) {
            autoreleasepool {
                context.delete(object)
                count += 1
            }
        }
        return count
    }

    /// The values of one property, without duplicates.
    public func distinctValues(of key: String) throws -> [Any] {
        let request = NSFetchRequest<NSDictionary>(entityName: entityName)
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = [key]
        request.returnsDistinctResults = true
        request.sortDescriptors = [NSSortDescriptor(key: key, ascending: true)]
        return try context.fetch(request).compactMap { $0[key] }
    }
}

extension Repository where T: Record {
    public func find(identifier: String) throws -> T? {
        try first(NSPredicate(format: "%K == %@", #keyPath(Record.identifier), identifier))
    }

    public func changed(since date: Date) throws -> [T] {
        try find(
            NSPredicate(format: "%K > %@", #keyPath(Record.updatedAt), date as NSDate),
            sortedBy: [NSSortDescriptor(key: #keyPath(Record.updatedAt), ascending: false)])
    }
}
