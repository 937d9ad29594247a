import CoreData
import Foundation

/// The trips, as the screens of the app need them.
public final class TripRepository: Repository<Trip> {
    public func create(named name: String, from start: Date? = nil, to end: Date? = nil) -> Trip {
        create { trip in
            trip.name = name
            trip.startDate = start
            trip.endDate = end
        }
    }

    public func favorites() throws -> [Trip] {
        try find(Trip.favorites(), sortedBy: [Trip.byName])
    }

    public func upcoming(after date: Date = Date()) throws -> [Trip] {
        let predicate = NSCompoundPredicate(andPredicateWithSubpredicates: [
            NSPredicate(format: "%K > %@", #keyPath(Trip.startDate), date as NSDate),
            NSPredicate(
                format: "%K IN %@", #keyPath(Trip.statusRawValue),
                [Trip.Status.planned.rawValue, Trip.Status.current.rawValue]),
        ])
        return try find(predicate, sortedBy: [Trip.byStart])
    }

    public func search(_ text: String) throws -> [Trip] {
        let words = text.split(separator: " ").map(String.init)
        let predicates = words.map { word in
            NSCompoundPredicate(orPredicateWithSubpredicates: [
                NSPredicate(format: "%K CONTAINS[cd] %@", #keyPath(Trip.name), word),
                NSPredicate(format: "%K CONTAINS[cd] %@", #keyPath(Trip.summary), word),
                Trip.visiting(word),
                Trip.tagged(word),
            ])
        }
        return try find(NSCompoundPredicate(andPredicateWithSubpredicates: predicates), sortedBy: Trip.newestFirst)
    }

    /// All trips, with the relationships that the list shows prefetched.
    public func forList() throws -> [Trip] {
        let request = request(sortedBy: Trip.newestFirst)
        request.relationshipKeyPathsForPrefetching = [#keyPath(Trip.stops), #keyPath(Trip.tags)]
        request.fetchBatchSize = 20
        return try context.fetch(request)
    }

    /// Sets a status on many trips without reading them.
    @discardableResult
    public func finishTrips(endedBefore date: Date) throws -> Int {
        let request = NSBatchUpdateRequest(entityName: "Trip")
        request.predicate = NSPredicate(format: "%K < %@", #keyPath(Trip.endDate), date as NSDate)
        request.propertiesToUpdate = [#keyPath(Trip.statusRawValue): Trip.Status.finished.rawValue]
        request.resultType = .updatedObjectIDsResultType
        let result = try context.execute(request) as? NSBatchUpdateResult
        let ids = result?.result as? [NSManagedObjectID] ?? []
        NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSUpdatedObjectsKey: ids], into: [context])
        return ids.count
    }

    /// Deletes cancelled trips without reading them.
    @discardableResult
    public func purgeCancelled() throws -> Int {
        let request = Trip.fetchRequest() as NSFetchRequest<Trip>
        request.predicate = Trip.withStatus(.cancelled)
        let trips = try context.fetch(request)
        trips.forEach(context.delete)
        return trips.count
    }
}
