import CoreData
import XCTest

@testable import TravelDiary

final class StopListTests: TravelDiaryTestCase, StopListControllerDelegate {
    private var reported: [StopListController.Change] = []

    func stopListDidChange(_ changes: [StopListController.Change]) {
        reported += changes
    }

    func testSectionsAndChanges() throws {
        let trip = try makeItaly()
        try stack.save()
        let list = StopListController(context: context)
        list.delegate = self
        try list.performFetch()
        XCTAssertEqual(list.numberOfSections, 1)
        XCTAssertEqual(list.title(of: 0), "Italy")
        XCTAssertEqual(list.numberOfRows(in: 0), 3)
        XCTAssertEqual(list.stop(at: IndexPath(indexes: [0, 1])).initial, "R")

        let norway = trips.create(named: "Norway")
        let oslo = norway.addStop(named: "Oslo", latitude: 59.9, longitude: 10.75)!
        context.processPendingChanges()
        XCTAssertEqual(Set(reported.map(String.init(describing:))).count, 2)
        XCTAssertTrue(reported.contains(.insertedSection(1)))
        XCTAssertTrue(reported.contains(.insertedRow(IndexPath(indexes: [1, 0]))))
        XCTAssertEqual(list.indexPath(of: oslo), IndexPath(indexes: [1, 0]))

        reported = []
        context.delete(oslo)
        context.processPendingChanges()
        XCTAssertTrue(reported.contains(.deletedSection(1)))
        XCTAssertTrue(reported.contains(.deletedRow(IndexPath(indexes: [1, 0]))))

        reported = []
        list.stop(at: IndexPath(indexes: [0, 2])).latitude = 44
        context.processPendingChanges()
        XCTAssertEqual(reported, [.updatedRow(IndexPath(indexes: [0, 2]))])
    }

    func testStopsOfOneTrip() throws {
        let trip = try makeItaly()
        trips.create(named: "Norway").addStop(named: "Oslo", latitude: 59.9, longitude: 10.75)
        let list = StopListController(context: context, trip: trip)
        try list.performFetch()
        XCTAssertEqual(list.numberOfSections, 1)
        XCTAssertEqual(list.numberOfRows(in: 0), 3)
    }
}
