import CoreData
import XCTest

@testable import TravelDiary

final class RepositoryTests: TravelDiaryTestCase {
    private func makeTrips() throws {
        try makeItaly()
        let norway = trips.create(named: "norway 10", from: date("2024-07-01"), to: date("2024-07-20"))
        norway.isFavorite = true
        norway.addStop(named: "Oslo", latitude: 59.9, longitude: 10.75)
        let second = trips.create(named: "Norway 9", from: date("2024-06-01"), to: date("2024-06-03"))
        second.isFavorite = true
        second.status = .cancelled
        try stack.save()
    }

    func testFavoritesAreSortedAsInTheFinder() throws {
        try makeTrips()
        XCTAssertEqual(try trips.favorites().map(\.name), ["Norway 9", "norway 10"])
    }

    func testUpcoming() throws {
        try makeTrips()
        XCTAssertEqual(try trips.upcoming(after: date("2024-05-15")).map(\.name), ["norway 10"])
        XCTAssertEqual(try trips.find(Trip.between(date("2024-05-01"), date("2024-06-30"))).count, 2)
    }

    func testSearch() throws {
        try makeTrips()
        XCTAssertEqual(try trips.search("oslo").map(\.name), ["norway 10"])
        XCTAssertEqual(try trips.search("ART rom").map(\.name), ["Italy"])
        XCTAssertEqual(try trips.search("norway").map(\.name), ["norway 10", "Norway 9"])
    }

    func testList() throws {
        try makeTrips()
        XCTAssertEqual(try trips.forList().map(\.name), ["norway 10", "Norway 9", "Italy"])
        XCTAssertEqual(try trips.distinctValues(of: #keyPath(Trip.isFavorite)).count, 2)
    }

    func testBatchUpdate() throws {
        try makeTrips()
        let italy = try XCTUnwrap(try trips.first(NSPredicate(format: "name == %@", "Italy")))
        XCTAssertEqual(try trips.finishTrips(endedBefore: date("2024-06-02")), 1)
        XCTAssertEqual(italy.status, .finished)
    }

    func testPurge() throws {
        try makeTrips()
        XCTAssertEqual(try trips.purgeCancelled(), 1)
        try stack.save()
        XCTAssertEqual(try trips.count(), 2)
        XCTAssertEqual(try trips.deleteAll(Trip.favorites()), 1)
        try stack.reset()
        XCTAssertEqual(try Repository<Stop>(context: stack.newBackgroundContext()).count(), 0)
    }

    func testReport() throws {
        let trip = try makeItaly()
        let (anna, ben) = (makeTraveler("Anna"), makeTraveler("Ben"))
        trip.setCouple(anna, ben)
        let expenses = [
            makeExpense("30", .food, anna, on: trip), makeExpense("20.5", .food, ben, on: trip),
            makeExpense("10", .transport, anna, on: trip),
        ]
        try stack.save()
        let report = ExpenseReport(context: context)
        XCTAssertEqual(
            try report.lines(for: trip),
            [
                ExpenseReport.Line(category: .food, sum: NSDecimalNumber(string: "50.5"), count: 2),
                ExpenseReport.Line(category: .transport, sum: 10, count: 1),
            ])
        XCTAssertEqual(report.total(of: expenses), NSDecimalNumber(string: "60.5"))
        XCTAssertEqual(report.balances(for: trip)[anna], NSDecimalNumber(string: "9.75"))
        XCTAssertEqual(try trips.find(Trip.withExpenses(above: 29)).count, 1)
        XCTAssertEqual(try trips.find(Trip.withExpenses(above: 31)).count, 0)
    }

    func testPhotos() throws {
        let trip = try makeItaly()
        let stop = trip.orderedStops[0]
        let photo = Photo(context: context)
        photo.fileName = "rome.jpg"
        photo.imageData = Data(repeating: 7, count: 300_000)
        stop.addToPhotos(photo)
        XCTAssertTrue(photo.stop === stop)
        try stack.save()
        XCTAssertEqual(stop.sortedPhotos, [photo])
        XCTAssertEqual(photo.byteCount, 300_000)
        let expectation = expectation(forNotification: .photoWillBeDeleted, object: nil) { notification in
            notification.userInfo?["fileName"] as? String == "rome.jpg"
        }
        context.delete(stop)
        try stack.save()
        wait(for: [expectation], timeout: 5)
        XCTAssertEqual(try Repository<Photo>(context: context).count(), 0)
    }

    func testDistance() throws {
        let stops = try makeItaly().orderedStops
        XCTAssertEqual(stops[0].distance(to: stops[1]) / 1000, 232, accuracy: 5)
    }

    func testArchive() throws {
        let trip = try makeItaly()
        trip.budget = NSDecimalNumber(string: "99.90")
        let archive = TripArchive.archive(trip)
        XCTAssertEqual(archive["budget"] as? String, "99.9")
        XCTAssertEqual(
            (archive["stops"] as? [[String: Any]])?.map { $0["name"] as? String }, ["Rome", "Florence", "Ravenna"])
        XCTAssertEqual(archive["tags"] as? [String], ["art", "food"])
        let copy = Trip(context: context)
        TripArchive.apply(archive, to: copy)
        XCTAssertEqual(copy.name, "Italy")
        XCTAssertEqual(copy.startDate, trip.startDate)
        XCTAssertEqual(copy.budget, trip.budget)
    }
}
