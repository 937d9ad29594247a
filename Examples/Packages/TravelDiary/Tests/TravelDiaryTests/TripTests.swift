import CoreData
import XCTest

@testable import TravelDiary

final class TripTests: TravelDiaryTestCase {
    func testNewRecordHasIdentifierAndDates() throws {
        let trip = trips.create(named: "Norway")
        XCTAssertNotNil(trip.identifier)
        XCTAssertNotNil(trip.createdAt)
        XCTAssertEqual(trip.status, .planned)
        XCTAssertEqual(trip.value(forKey: #keyPath(Trip.name)) as? String, "Norway")
    }

    func testUpdateDateChangesWithASave() throws {
        let trip = try makeItaly()
        try stack.save()
        let before = try XCTUnwrap(trip.updatedAt)
        trip.summary = "Ice cream"
        try stack.save()
        XCTAssertGreaterThan(try XCTUnwrap(trip.updatedAt), before)
        XCTAssertNotNil(stack.lastSaveDate)
    }

    func testStatusIsStoredAsANumber() throws {
        let trip = try makeItaly()
        trip.status = .current
        XCTAssertEqual(trip.statusRawValue, 1)
        try stack.save()
        XCTAssertEqual(try trips.count(Trip.withStatus(.current)), 1)
        XCTAssertEqual(try trips.count(Trip.withStatus(.finished)), 0)
    }

    func testStopsKeepTheirOrder() throws {
        let trip = try makeItaly()
        XCTAssertEqual(trip.orderedStops.map(\.name), ["Rome", "Florence", "Ravenna"])
        trip.moveStop(from: 2, to: 0)
        try stack.save()
        context.refreshAllObjects()
        XCTAssertEqual(trip.orderedStops.map(\.name), ["Ravenna", "Rome", "Florence"])
        trip.replaceStops(at: 0, with: Stop(context: context))
        trip.removeFromStops(trip.stops!)
        XCTAssertEqual(trip.stops?.count, 0)
    }

    func testStopsByIndexes() throws {
        let trip = try makeItaly()
        let others = ["Pisa", "Siena"].map { name -> Stop in
            let stop = Stop(context: context)
            stop.name = name
            return stop
        }
        trip.insertIntoStops(others, at: NSIndexSet(indexesIn: NSRange(location: 1, length: 2)))
        XCTAssertEqual(trip.orderedStops.map(\.name), ["Rome", "Pisa", "Siena", "Florence", "Ravenna"])
        XCTAssertTrue(others[0].trip === trip)
        trip.removeFromStops(at: NSIndexSet(index: 0))
        XCTAssertEqual(trip.orderedStops.first?.name, "Pisa")
    }

    func testInverseRelationships() throws {
        let trip = try makeItaly()
        let anna = makeTraveler("Anna", "Berg")
        let ben = makeTraveler("Ben")
        trip.setCouple(anna, ben)
        XCTAssertEqual(anna.trips?.count, 1)
        XCTAssertEqual(trip.sortedTravelers.map(\.displayName), ["Anna Berg", "Ben"])
        anna.removeFromTrips(trip)
        XCTAssertEqual(trip.travelers?.count, 1)
        anna.addToTrips(NSSet(object: trip))
        XCTAssertEqual(trip.travelers?.count, 2)
    }

    func testTagsAreShared() throws {
        let italy = try makeItaly()
        let spain = trips.create(named: "Spain")
        try spain.setTags(named: ["Food", "beach"])
        try stack.save()
        XCTAssertEqual(try Repository<Tag>(context: context).count(), 3)
        XCTAssertEqual(italy.tagNames, ["art", "food"])
        XCTAssertEqual(spain.tagNames, ["beach", "food"])
        XCTAssertEqual(try trips.find(Trip.tagged("FOOD")).count, 2)
    }

    func testColorIsTransformed() throws {
        let trip = try makeItaly()
        trip.coverColor = CoverColor(red: 0.1, green: 0.5, blue: 1)
        try stack.save()
        context.refresh(trip, mergeChanges: false)
        XCTAssertEqual(trip.coverColor, CoverColor(red: 0.1, green: 0.5, blue: 1))
        let archive = try NSKeyedArchiver.archivedData(
            withRootObject: try XCTUnwrap(trip.coverColor), requiringSecureCoding: true)
        XCTAssertEqual(
            try NSKeyedUnarchiver.unarchivedObject(ofClass: CoverColor.self, from: archive), trip.coverColor)
    }

    func testValidation() throws {
        let trip = try makeItaly()
        trip.endDate = date("2024-04-01")
        XCTAssertThrowsError(try context.save()) { error in
            XCTAssertEqual(error as? TravelDiaryError, .endsBeforeStart(name: "Italy"))
        }
        trip.endDate = date("2024-06-01")
        trip.name = "  "
        XCTAssertThrowsError(try context.save()) { error in
            XCTAssertEqual((error as NSError).code, NSValidationStringTooShortError)
            XCTAssertEqual((error as NSError).userInfo[NSValidationKeyErrorKey] as? String, #keyPath(Trip.name))
        }
        trip.name = "Italy"
        trip.orderedStops[0].latitude = 100
        XCTAssertThrowsError(try stack.save())
        XCTAssertFalse(context.hasChanges)
    }

    func testNightsAndTotal() throws {
        let trip = try makeItaly()
        XCTAssertEqual(trip.nights, 7)
        XCTAssertEqual(trip.total, 0)
        let expense = makeExpense("12.5", .food, nil, on: trip)
        XCTAssertEqual(trip.total, NSDecimalNumber(string: "12.5"))
        expense.amount = 20
        XCTAssertEqual(trip.total, 20)
        trip.budget = 10
        XCTAssertTrue(trip.isOverBudget)
    }

    func testCascade() throws {
        let trip = try makeItaly()
        _ = makeExpense("1", .fun, nil, on: trip)
        try stack.save()
        trips.delete(trip)
        try stack.save()
        XCTAssertEqual(try Repository<Stop>(context: context).count(), 0)
        XCTAssertEqual(try Repository<Expense>(context: context).count(), 0)
        XCTAssertEqual(try Repository<Tag>(context: context).count(), 2)
    }

    func testEditingContextCanBeCancelled() throws {
        let trip = try makeItaly()
        try stack.save()
        let editing = stack.newEditingContext()
        let copy = try XCTUnwrap(try editing.existingObject(with: trip.objectID) as? Trip)
        copy.name = "Italia"
        XCTAssertEqual(trip.name, "Italy")
        editing.rollback()
        copy.name = "Bella Italia"
        try editing.save()
        XCTAssertEqual(trip.name, "Bella Italia")
    }

    func testObjectOfAnURL() throws {
        let trip = try makeItaly()
        try stack.save()
        let url = trip.objectID.uriRepresentation()
        XCTAssertTrue(try stack.object(Trip.self, at: url) === trip)
        XCTAssertThrowsError(try stack.object(Photo.self, at: url))
    }

    func testObservation() throws {
        let trip = try makeItaly()
        var names: [String?] = []
        let observation = trip.observe(\.name, options: [.old, .new]) { trip, _ in names.append(trip.name) }
        trip.name = "Italia"
        observation.invalidate()
        trip.name = "Italy"
        XCTAssertEqual(names, ["Italia"])
    }
}
