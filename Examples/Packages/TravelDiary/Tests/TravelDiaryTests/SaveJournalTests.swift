import CoreData
import XCTest

@testable import TravelDiary

final class SaveJournalTests: TravelDiaryTestCase {
    func testWhatASaveInsertsIsStagedAndNotDiscarded() throws {
        let journal = SaveJournal(context: context)
        let trip = trips.create(named: "Norway")
        trip.tags = NSSet(array: [Tag(context: context), Tag(context: context)])
        try context.save()
        XCTAssertEqual(journal.saves, [["Norway", "new", "new 2"]])
        XCTAssertEqual(journal.changeCount, 1)
        trip.name = "Sweden"
        try context.save()
        XCTAssertEqual(journal.saves.count, 2)
        XCTAssertEqual(journal.saves.last, [])
        XCTAssertEqual(Tag(context: context).name, "new 3")
    }
}
