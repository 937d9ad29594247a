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

    func testAClosedJournalRecordsNothing() throws {
        let journal = SaveJournal(context: context)
        _ = trips.create(named: "Norway")
        journal.close()
        try context.save()
        XCTAssertEqual(journal.saves, [])
        XCTAssertEqual(journal.changeCount, 0)
    }

    func testADelegateMayLearnOfSaves() throws {
        final class Silent: NSObject, SaveJournalDelegate {}
        final class Listener: NSObject, SaveJournalDelegate {
            var names: [String] = []
            func saveJournal(_ journal: SaveJournal, didRecord names: [String]) { self.names += names }
        }
        let (journal, silent, listener) = (SaveJournal(context: context), Silent(), Listener())
        journal.delegate = silent
        _ = trips.create(named: "Norway")
        try context.save()
        journal.delegate = listener
        _ = trips.create(named: "Sweden")
        try context.save()
        XCTAssertEqual(journal.saves, [["Norway"], ["Sweden"]])
        XCTAssertEqual(listener.names, ["Sweden"])
    }
}
