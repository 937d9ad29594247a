import CoreData
import XCTest

@testable import TravelDiary

final class TripListModelTests: TravelDiaryTestCase {
    @MainActor
    func testTheListIsLoadedOnTheMainActor() async throws {
        let context = self.context
        let repository = trips
        try await context.perform {
            _ = repository.create(named: "Norway")
            _ = repository.create(named: "Italy")
            try context.save()
        }
        let model = TripListModel(context: context)
        try await model.load()
        XCTAssertEqual(model.names, ["Italy", "Norway"])
        try await model.load(matching: NSPredicate(format: "name BEGINSWITH 'N'"))
        XCTAssertEqual(model.names, ["Norway"])
        XCTAssertGreaterThanOrEqual(model.duration, 0)
    }

    func testATagIsCreatedByItsOwnInitializer() {
        XCTAssertEqual(Tag(context: context).name, "new")
    }
}
