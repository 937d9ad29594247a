import Combine
import CoreData
import Foundation
import os.log

/// The numbers of a screen, which follow the saves of a context.
@MainActor
public final class StatisticsModel: ObservableObject {
    @Published public private(set) var tripCount = 0
    @Published public private(set) var title = ""

    private let context: NSManagedObjectContext
    private let logger = Logger(subsystem: "TravelDiary", category: "statistics")
    private var cancellables: Set<AnyCancellable> = []

    /// Fetches the first numbers.
    public init(context: NSManagedObjectContext) {
        self.context = context
        count()
        NotificationCenter.default
            .publisher(for: .NSManagedObjectContextDidSave, object: context)
            .merge(
                with: NotificationCenter.default.publisher(
                    for: NSManagedObjectContext.didMergeChangesObjectIDsNotification, object: context)
            )
            .receive(on: DispatchQueue.main)
            .sink { [weak self] _ in
                // The queue is the main actor's.
                MainActor.assumeIsolated { self?.count() }
            }
            .store(in: &cancellables)
        $tripCount
            .removeDuplicates()
            .map { $0 == 1 ? "1 trip" : "\($0) trips" }
            .sink { [weak self] title in self?.title = title }
            .store(in: &cancellables)
    }

    private func count() {
        do {
            tripCount = try context.count(for: Trip.fetchRequest())
            logger.debug("There are \(self.tripCount, privacy: .public) trips.")
        } catch {
            logger.error("The trips cannot be counted: \(error.localizedDescription, privacy: .public)")
        }
    }
}
