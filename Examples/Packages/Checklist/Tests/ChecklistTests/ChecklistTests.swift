import CoreData
import Observation
import XCTest

@testable import Checklist

final class ChecklistTests: XCTestCase {
    private var container: NSPersistentContainer!
    private var context: NSManagedObjectContext { container.viewContext }

    override func setUpWithError() throws {
        container = try Checklist.makeContainer(at: URL(fileURLWithPath: "/dev/null"))
    }

    private func chore(_ title: String, in whole: Chore? = nil) -> Chore {
        let chore = Chore(context: context)
        chore.title = title
        chore.whole = whole
        return chore
    }

    func testTheCurrentVersionIsLoaded() {
        XCTAssertEqual(container.managedObjectModel.versionIdentifiers, ["2"])
        XCTAssertEqual(container.managedObjectModel.entitiesByName.keys.sorted(), ["Chore", "Label", "Reminder"])
    }

    func testPropertiesAreThoseOfTheEntity() throws {
        let move = chore("Move")
        XCTAssertFalse(move.isDone)
        XCTAssertEqual(move.labels, [])
        let pack = chore("Pack", in: move)
        _ = chore("Drive", in: move)
        move.position = 3
        pack.isDone = true
        move.isExpanded = true
        XCTAssertEqual(move.steps?.count, 2)
        XCTAssertEqual(move.value(forKey: "position") as? Int64, 3)
        XCTAssertTrue(Set(move.changedValues().keys).isSuperset(of: ["title", "position", "steps"]))
        try context.save()
        context.reset()

        let request = NSFetchRequest<Chore>(entityName: "Chore")
        request.predicate = NSPredicate(format: "whole == nil")
        let found = try XCTUnwrap(context.fetch(request).first)
        XCTAssertEqual(found.title, "Move")
        XCTAssertEqual(found.position, 3)
        XCTAssertEqual(found.steps?.array.compactMap { ($0 as? Chore)?.title }, ["Pack", "Drive"])
        XCTAssertFalse(found.isComplete)
        XCTAssertFalse(found.isExpanded)
    }

    func testPropertiesAreObserved() {
        let move = chore("Move")
        context.isObservable = true
        let changed = expectation(description: "The title has changed.")
        withObservationTracking {
            _ = move.title
        } onChange: {
            changed.fulfill()
        }
        move.title = "Move out"
        wait(for: [changed], timeout: 1)
    }

    func testASubclassHasItsOwn() throws {
        let reminder = Reminder(context: context)
        reminder.title = "Call"
        reminder.due = Date(timeIntervalSinceReferenceDate: 86_400)
        try context.save()
        let found = try context.fetch(NSFetchRequest<Chore>(entityName: "Chore"))
        XCTAssertEqual((found.first as? Reminder)?.due, Date(timeIntervalSinceReferenceDate: 86_400))
    }

    func testGeneratedPropertiesOfAHandWrittenClass() throws {
        let label = Label(context: context)
        label.name = "urgent"
        label.weight = 2.5
        let call = chore("Call")
        label.addToTasks(call)
        XCTAssertEqual(call.labels, [label])
        XCTAssertEqual(label.description, "urgent")
        call.labels = []
        XCTAssertEqual(label.tasks?.count, 0)
        try context.save()
    }

    func testKeyPaths() throws {
        for (position, title) in ["C", "A", "B"].enumerated() { chore(title).position = Int64(position) }
        let request = NSFetchRequest<Chore>(entityName: "Chore")
        request.sortDescriptors = [NSSortDescriptor(keyPath: \Chore.title, ascending: true)]
        XCTAssertEqual(try context.fetch(request).map(\.position), [1, 2, 0])
        XCTAssertEqual(NSExpression(forKeyPath: \Label.weight).keyPath, "weight")
        XCTAssertEqual(NSExpression(forKeyPath: \Reminder.due).keyPath, "due")
    }
}
