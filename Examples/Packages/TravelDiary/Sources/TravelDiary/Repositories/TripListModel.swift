import CoreData
import CoreGraphics
import Foundation

/// The list of trips of a screen, on the main actor.
@MainActor
public final class TripListModel {
    private let context: NSManagedObjectContext
    public private(set) var names: [String] = []
    /// How long the last fetch took, in seconds.
    public private(set) var duration: CGFloat = 0

    public init(context: NSManagedObjectContext) {
        self.context = context
    }

    /// Fetches the names on the context's queue, with a request that was made on the main actor.
    public func load(matching predicate: NSPredicate? = nil) async throws {
        let start = CFAbsoluteTimeGetCurrent()
        let context = self.context
        let request = NSFetchRequest<Trip>(entityName: "Trip")
        request.predicate = predicate
        request.sortDescriptors = [
            NSSortDescriptor(key: NSStringFromSelector(#selector(getter: Trip.name)), ascending: true)
        ]
        names = try await context.perform { try context.fetch(request).map(\.name) }
        duration = CGFloat(CFAbsoluteTimeGetCurrent() - start)
    }
}
