import CoreData
import XCTest

@testable import TravelDiary

/// A stack in memory for each test.
class TravelDiaryTestCase: XCTestCase {
    private(set) var stack: CoreDataStack!
    var context: NSManagedObjectContext { stack.viewContext }
    var trips: TripRepository { TripRepository(context: context) }

    override func setUpWithError() throws {
        try super.setUpWithError()
        stack = try CoreDataStack(storage: .memory)
    }

    override func tearDownWithError() throws {
        stack = nil
        try super.tearDownWithError()
    }

    func date(_ text: String) -> Date {
        ISO8601DateFormatter().date(from: text + "T12:00:00Z")!
    }

    @discardableResult
    func makeItaly() throws -> Trip {
        let trip = trips.create(named: "Italy", from: date("2024-05-01"), to: date("2024-05-08"))
        trip.addStop(named: "Rome", latitude: 41.9, longitude: 12.5)
        trip.addStop(named: "Florence", latitude: 43.77, longitude: 11.25)
        trip.addStop(named: "Ravenna", latitude: 44.42, longitude: 12.2)
        try trip.setTags(named: ["food", "art"])
        return trip
    }

    func makeTraveler(_ first: String, _ last: String? = nil) -> Traveler {
        let traveler = Traveler(context: context)
        traveler.firstName = first
        traveler.lastName = last
        return traveler
    }

    func makeExpense(_ amount: String, _ category: Expense.Category, _ payer: Traveler?, on trip: Trip) -> Expense {
        let expense = Expense(context: context)
        expense.amount = NSDecimalNumber(string: amount)
        expense.category = category
        expense.payer = payer
        expense.trip = trip
        return expense
    }
}
