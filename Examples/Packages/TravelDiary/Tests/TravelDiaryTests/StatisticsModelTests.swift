import Combine
import CoreData
import XCTest

@testable import TravelDiary

final class StatisticsModelTests: TravelDiaryTestCase {
    /// The model is created on the main actor, counts at once, and again after each save and each merge.
    @MainActor
    func testTheNumbersFollowSavesAndMerges() async throws {
        _ = trips.create(named: "Norway")
        let model = StatisticsModel(context: context)
        XCTAssertEqual(model.title, "1 trip")
        var counts: [Int] = []
        let subscription = model.$tripCount.removeDuplicates().sink { counts.append($0) }
        _ = trips.create(named: "Italy")
        try context.save()
        try await waitUntil { model.tripCount == 2 }
        let background = stack.newBackgroundContext()
        try await background.perform {
            _ = TripRepository(context: background).create(named: "Spain")
            try background.save()
        }
        try await waitUntil { model.tripCount == 3 }
        XCTAssertEqual(counts, [1, 2, 3])
        XCTAssertEqual(model.title, "3 trips")
        subscription.cancel()
    }

    @MainActor
    private func waitUntil(_ condition: () -> Bool) async throws {
        for _ in 0..<1000 where !condition() { try await Task.sleep(nanoseconds: 5_000_000) }
        XCTAssertTrue(condition())
    }
}
