import CoreData
import XCTest

@testable import TravelDiary

final class ImportTests: TravelDiaryTestCase {
    private let json = """
        [
          {
            "id": "t1", "name": "Japan", "start": "2024-10-01T00:00:00Z", "end": "2024-10-14T00:00:00Z", "status": 1,
            "tags": ["food", "trains"], "updated": "2024-01-02T00:00:00Z",
            "stops": [
              { "name": "Tokyo", "latitude": 35.68, "longitude": 139.76 },
              { "name": "Kyoto", "latitude": 35.01, "longitude": 135.77 }
            ],
            "travelers": [ { "id": "p1", "firstName": "Mia", "lastName": "Kern" } ],
            "expenses": [ { "id": "e1", "amount": "8400.25", "currency": "JPY", "category": "food", "payer": "p1" } ]
          },
          { "id": "t2", "name": "Peru", "updated": "2024-01-02T00:00:00Z" }
        ]
        """

    func testImport() async throws {
        let importer = TripImporter(stack: stack, batchSize: 1)
        let summary = try await importer.importTrips(TripPayload.decode(Data(json.utf8)))
        XCTAssertEqual(summary, TripImporter.Summary(inserted: 2, updated: 0, skipped: 0))
        XCTAssertEqual(importer.progress.fractionCompleted, 1)
        let context = stack.newBackgroundContext()
        try await context.perform {
            let japan = try XCTUnwrap(try Repository<Trip>(context: context).find(identifier: "t1"))
            XCTAssertEqual(japan.status, .current)
            XCTAssertEqual(japan.orderedStops.map(\.name), ["Tokyo", "Kyoto"])
            XCTAssertEqual(japan.tagNames, ["food", "trains"])
            let expense = try XCTUnwrap(japan.expenses?.anyObject() as? Expense)
            XCTAssertEqual(expense.currency, "JPY")
            XCTAssertEqual(expense.category, .food)
            XCTAssertEqual(expense.payer?.displayName, "Mia Kern")
            XCTAssertEqual(japan.updatedAt, ISO8601DateFormatter().date(from: "2024-01-02T00:00:00Z"))
        }
    }

    func testSecondImportUpdates() async throws {
        let importer = TripImporter(stack: stack)
        var payloads = try TripPayload.decode(Data(json.utf8))
        _ = try await importer.importTrips(payloads)
        payloads[0].name = "Nippon"
        payloads[0].updated = Date()
        payloads[0].stops = [payloads[0].stops![1]]
        let summary = try await importer.importTrips(payloads)
        XCTAssertEqual(summary, TripImporter.Summary(inserted: 0, updated: 1, skipped: 1))
        let context = stack.newBackgroundContext()
        try await context.perform {
            let japan = try XCTUnwrap(try Repository<Trip>(context: context).find(identifier: "t1"))
            XCTAssertEqual(japan.name, "Nippon")
            XCTAssertEqual(japan.orderedStops.map(\.name), ["Kyoto"])
            XCTAssertEqual(try Repository<Stop>(context: context).count(), 1)
            XCTAssertEqual(try Repository<Traveler>(context: context).count(), 1)
            XCTAssertEqual(
                try Repository<Trip>(context: context).changed(since: Date(timeIntervalSinceNow: -60)).count, 1)
        }
    }

    func testImportWithoutIdentifierFails() async throws {
        var payloads = try TripPayload.decode(Data(json.utf8))
        payloads[1].id = nil
        do {
            _ = try await TripImporter(stack: stack).importTrips(payloads)
            XCTFail("The import must fail.")
        } catch {
            XCTAssertEqual(error as? TravelDiaryError, .missingIdentifier(entity: "Trip"))
        }
    }
}
