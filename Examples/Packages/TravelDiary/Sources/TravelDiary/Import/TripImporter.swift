import CoreData
import Foundation

/// Imports the server's trips in the background: objects with known identifiers are updated, others are created.
public final class TripImporter {
    public struct Summary: Equatable {
        public var inserted = 0
        public var updated = 0
        public var skipped = 0
    }

    private let stack: CoreDataStack
    private let batchSize: Int
    public let progress = Progress(totalUnitCount: 0)

    public init(stack: CoreDataStack, batchSize: Int = 50) {
        self.stack = stack
        self.batchSize = batchSize
    }

    /// Imports in batches, each of which is saved.
    public func importTrips(_ payloads: [TripPayload]) async throws -> Summary {
        let context = stack.newBackgroundContext()
        progress.totalUnitCount = Int64(payloads.count)
        var summary = Summary()
        for start in stride(from: 0, to: payloads.count, by: batchSize) {
            let batch = Array(payloads[start..<min(start + batchSize, payloads.count)])
            let part = try await context.perform { [self] in
                try importBatch(batch, into: context)
            }
            summary.inserted += part.inserted
            summary.updated += part.updated
            summary.skipped += part.skipped
            progress.completedUnitCount += Int64(batch.count)
        }
        return summary
    }

    private func importBatch(_ batch: [TripPayload], into context: NSManagedObjectContext) throws -> Summary {
        var summary = Summary()
        try autoreleasepool {
            let known = try existingTrips(batch.compactMap(\.id), in: context)
            for payload in batch {
                guard let identifier = payload.id else { throw TravelDiaryError.missingIdentifier(entity: "Trip") }
                if let trip = known[identifier] {
                    if let updated = payload.updated, let stored = trip.updatedAt, updated <= stored {
                        summary.skipped += 1
                        continue
                    }
                    try update(trip, from: payload, in: context)
                    summary.updated += 1
                } else {
                    let trip = Trip(context: context)
                    trip.identifier = identifier
                    try update(trip, from: payload, in: context)
                    summary.inserted += 1
                }
            }
            try context.save()
            context.reset()
        }
        return summary
    }

    private func existingTrips(_ identifiers: [String], in context: NSManagedObjectContext) throws -> [String: Trip] {
        let request: NSFetchRequest<Trip> = Trip.fetchRequest()
        request.predicate = NSPredicate(format: "%K IN %@", #keyPath(Trip.identifier), identifiers)
        let trips = try context.fetch(request)
        return Dictionary(trips.compactMap { trip in trip.identifier.map { ($0, trip) } }) { first, _ in first }
    }

    private func update(_ trip: Trip, from payload: TripPayload, in context: NSManagedObjectContext) throws {
        trip.setValuesForKeys([#keyPath(Trip.name): payload.name])
        trip.startDate = payload.start
        trip.endDate = payload.end
        trip.status = payload.status.flatMap(Trip.Status.init(rawValue:)) ?? .planned
        if let updated = payload.updated {
            trip.keepsUpdateDate = true
            trip.updatedAt = updated
        }
        if let tags = payload.tags { try trip.setTags(named: tags) }
        if let stops = payload.stops { replaceStops(of: trip, with: stops, in: context) }
        for traveler in payload.travelers ?? [] {
            trip.addToTravelers(try self.traveler(from: traveler, in: context))
        }
        for expense in payload.expenses ?? [] { try addExpense(expense, to: trip, in: context) }
    }

    private func replaceStops(
        of trip: Trip, with payloads: [TripPayload.StopPayload], in context: NSManagedObjectContext
    ) {
        for stop in trip.orderedStops { context.delete(stop) }
        let stops = payloads.map { payload -> Stop in
            let stop = Stop(context: context)
            stop.name = payload.name
            stop.latitude = payload.latitude
            stop.longitude = payload.longitude
            stop.arrival = payload.arrival
            return stop
        }
        trip.stops = NSOrderedSet(array: stops)
    }

    private func traveler(
        from payload: TripPayload.TravelerPayload, in context: NSManagedObjectContext
    ) throws -> Traveler {
        let repository = Repository<Traveler>(context: context)
        let traveler = try repository.find(identifier: payload.id) ?? repository.create { $0.identifier = payload.id }
        traveler.firstName = payload.firstName
        traveler.lastName = payload.lastName
        traveler.email = payload.email
        return traveler
    }

    private func addExpense(
        _ payload: TripPayload.ExpensePayload, to trip: Trip, in context: NSManagedObjectContext
    ) throws {
        let repository = Repository<Expense>(context: context)
        let expense = try repository.find(identifier: payload.id) ?? repository.create { $0.identifier = payload.id }
        expense.amount = NSDecimalNumber(string: payload.amount)
        if let currency = payload.currency { expense.currency = currency }
        expense.category = payload.category.flatMap(Expense.Category.init) ?? .other
        if let payer = payload.payer {
            expense.payer = try Repository<Traveler>(context: context).find(identifier: payer)
        }
        trip.addToExpenses(expense)
    }
}
