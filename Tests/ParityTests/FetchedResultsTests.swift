import CoreData
import Testing

/// The behaviour that lists rely on: sections, index paths, and the delegate's methods.
///
/// Page: https://developer.apple.com/documentation/coredata/nsfetchedresultscontroller
@Suite struct FetchedResultsTests {
    private func diary(_ notes: [(String, Int)]) throws -> (Diary, NSManagedObjectContext) {
        let diary = try Diary()
        let context = diary.context()
        try context.performAndWait {
            for (title, rank) in notes { _ = context.insert("Note", ["title": title, "rank": rank]) }
            try context.save()
        }
        return (diary, context)
    }

    private func note(_ title: String, in context: NSManagedObjectContext) throws -> NSManagedObject {
        try #require(try context.all("Note", NSPredicate(format: "title == %@", title)).first)
    }

    // MARK: - Sections and paths

    @Test func `a controller has no results before it fetches`() throws {
        let (diary, context) = try diary([("a", 1)])
        try context.performAndWait {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
            request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
            let controller = NSFetchedResultsController(
                fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
            #expect(controller.fetchedObjects == nil)
            #expect(controller.sections == nil)
            try controller.performFetch()
            #expect(controller.fetchedObjects?.count == 1)
            #expect(controller.fetchRequest === request)
            #expect(controller.managedObjectContext === context)
        }
        withExtendedLifetime(diary) {}
    }

    @Test func sectionsAreNamedByTheirKeyPath() throws {
        let (diary, context) = try diary([("a", 1), ("b", 0), ("c", 1), ("d", 9)])
        try context.performAndWait {
            let (controller, _) = try notesByRank(in: context)
            let sections = try #require(controller.sections)
            #expect(sections.map(\.name) == ["0", "1"])
            #expect(sections.map(\.numberOfObjects) == [1, 2])
            #expect(
                (sections[1].objects as? [NSManagedObject])?.map { $0.value(forKey: "title") as? String } == ["a", "c"])
            let object = controller.object(at: IndexPath(item: 1, section: 1))
            #expect(object.value(forKey: "title") as? String == "c")
            #expect(controller.indexPath(forObject: object) == IndexPath(indexes: [1, 1]))
            #expect(controller.indexPath(forObject: try note("d", in: context)) == nil)
        }
        withExtendedLifetime(diary) {}
    }

    @Test func withoutAKeyPathThereIsOneSection() throws {
        let (diary, context) = try diary([])
        try context.performAndWait {
            let (controller, _) = try notesByRank(in: context, sections: false)
            #expect(controller.sections?.map(\.numberOfObjects) == [0])
            let (divided, _) = try notesByRank(in: context)
            #expect(divided.sections?.count == 0)
        }
        withExtendedLifetime(diary) {}
    }

    @Test func `unordered sections are an error`() throws {
        let (diary, context) = try diary([("a", 1), ("b", 0), ("c", 1)])
        context.performAndWait {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
            request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
            let controller = NSFetchedResultsController(
                fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: "rank", cacheName: nil)
            #expect(throws: (any Error).self) { try controller.performFetch() }
        }
        withExtendedLifetime(diary) {}
    }

    @Test func `a section key path that objects do not have is an error`() throws {
        let (diary, context) = try diary([("a", 1)])
        context.performAndWait {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
            request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
            let controller = NSFetchedResultsController(
                fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: "initial", cacheName: nil)
            let error = #expect(throws: CocoaError.self) { try controller.performFetch() }
            #expect(error?.localizedDescription.contains("Note has no property \"initial\".") == true)
        }
        withExtendedLifetime(diary) {}
    }

    /// https://developer.apple.com/documentation/coredata/nsfetchedresultscontroller/1622310-sectionindextitles
    @Test func `an index has the initials of the sections' names`() throws {
        let (diary, context) = try diary([("apple", 1), ("avocado", 1), ("birch", 1)])
        try context.performAndWait {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
            request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
            let controller = NSFetchedResultsController(
                fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: "title", cacheName: nil)
            try controller.performFetch()
            #expect(controller.sections?.map(\.indexTitle) == ["A", "A", "B"])
            #expect(controller.sectionIndexTitles == ["A", "B"])
            #expect(controller.section(forSectionIndexTitle: "B", at: 1) == 2)
            #expect(controller.sectionIndexTitle(forSectionName: "cedar") == "C")
        }
        withExtendedLifetime(diary) {}
    }

    // MARK: - Notifications of the delegate

    @Test func `changes are reported in order`() throws {
        let (diary, context) = try diary([("a", 0), ("b", 0), ("c", 1), ("d", 2)])
        try context.performAndWait {
            let (controller, follower) = try notesByRank(in: context)
            // A fetch ends an event, so it is done before the changes.
            let notes = try context.all("Note", sortedBy: "title")
            notes[0].setValue(3, forKey: "rank")  // into a new section
            context.delete(notes[3])  // the last of its section
            _ = context.insert("Note", ["title": "e", "rank": 1])
            notes[2].setValue(true, forKey: "draft")
            context.processPendingChanges()
            #expect(
                follower.takeLog() == [
                    "will", "delete section 2 2", "insert section 2 3", "delete 2.0 -", "insert - 1.1", "move 0.0 2.0",
                    "update 1.0 1.0", "did",
                ])
            #expect(controller.sections?.map(\.name) == ["0", "1", "3"])
        }
        withExtendedLifetime(diary) {}
    }

    @Test func `an update has its index paths before and after`() throws {
        let (diary, context) = try diary([("b", 0), ("c", 0)])
        try context.performAndWait {
            let (controller, follower) = try notesByRank(in: context)
            let last = try note("c", in: context)
            _ = context.insert("Note", ["title": "a", "rank": 0])
            last.setValue("d", forKey: "title")
            context.processPendingChanges()
            #expect(follower.takeLog() == ["will", "insert - 0.0", "update 0.1 0.2", "did"])
            #expect(controller.object(at: IndexPath(item: 2, section: 0)) === last)
        }
        withExtendedLifetime(diary) {}
    }

    @Test func `an object is inserted and deleted when the predicate begins and ceases to match`() throws {
        let (diary, context) = try diary([("a", 0), ("b", 7)])
        try context.performAndWait {
            let (controller, follower) = try notesByRank(in: context)
            let notes = try context.all("Note", sortedBy: "title")
            notes[0].setValue(8, forKey: "rank")
            notes[1].setValue(0, forKey: "rank")
            context.processPendingChanges()
            #expect(follower.takeLog() == ["will", "delete 0.0 -", "insert - 0.0", "did"])
            #expect(controller.fetchedObjects == [notes[1]])
            // A change of other objects calls no method.
            notes[0].setValue(9, forKey: "rank")
            _ = context.insert("Person")
            context.processPendingChanges()
            #expect(follower.takeLog() == [])
            try context.save()
            #expect(follower.takeLog() == [])
            withExtendedLifetime(controller) {}
        }
        withExtendedLifetime(diary) {}
    }

    @Test func `saves of other contexts are reported once they are merged`() throws {
        let (diary, context) = try diary([("a", 0), ("b", 0)])
        let other = diary.context()
        let (controller, follower) = try context.performAndWait { try notesByRank(in: context) }
        context.automaticallyMergesChangesFromParent = true
        try other.performAndWait {
            _ = other.insert("Note", ["title": "c", "rank": 0])
            other.delete(try note("a", in: other))
            try note("b", in: other).setValue(1, forKey: "rank")
            try other.save()
        }
        context.performAndWait {
            #expect(
                follower.takeLog() == [
                    "will", "insert section 1 1", "delete 0.0 -", "insert - 0.0", "move 0.1 1.0", "did",
                ])
            #expect(controller.fetchedObjects?.map { $0.value(forKey: "title") as? String } == ["c", "b"])
        }
    }

    @Test func `a reset is not reported`() throws {
        let (diary, context) = try diary([("a", 0)])
        try context.performAndWait {
            let (controller, follower) = try notesByRank(in: context)
            context.reset()
            #expect(follower.takeLog() == [])
            try controller.performFetch()
            #expect(controller.fetchedObjects?.map { $0.value(forKey: "title") as? String } == ["a"])
        }
        withExtendedLifetime(diary) {}
    }

    @Test func `without a delegate results are not updated`() throws {
        let (diary, context) = try diary([("a", 0)])
        try context.performAndWait {
            let (controller, follower) = try notesByRank(in: context)
            controller.delegate = nil
            _ = context.insert("Note", ["title": "b", "rank": 0])
            context.processPendingChanges()
            #expect(controller.fetchedObjects?.count == 1)
            try controller.performFetch()
            #expect(controller.fetchedObjects?.count == 2)
            withExtendedLifetime(follower) {}
        }
        withExtendedLifetime(diary) {}
    }

    @Test func theDelegateIsNotRetained() throws {
        let (diary, context) = try diary([("a", 0)])
        try context.performAndWait {
            func controllerAlone() throws -> NSFetchedResultsController<NSManagedObject> {
                let (controller, follower) = try notesByRank(in: context)
                #expect(controller.delegate === follower)
                return controller
            }
            let controller = try controllerAlone()
            #expect(controller.delegate == nil)
        }
        withExtendedLifetime(diary) {}
    }

    // MARK: - The controller of a notification

    private final class Witness: NSObject, NSFetchedResultsControllerDelegate {
        var mine: NSFetchedResultsController<NSManagedObject>?
        var seen: [Bool] = []

        func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {
            seen.append(controller === mine)
            seen.append(controller == mine)
            // The controller has its new results.
            seen.append(controller.fetchedObjects?.count == 2)
        }

        func controller(
            _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
            sectionIndexTitleForSectionName sectionName: String
        ) -> String? { "#\(sectionName)" }
    }

    @Test func `a delegate can identify its controller`() throws {
        let (diary, context) = try diary([("a", 0)])
        try context.performAndWait {
            let (controller, _) = try notesByRank(in: context)
            let (stranger, _) = try notesByRank(in: context)
            let witness = Witness()
            witness.mine = controller
            controller.delegate = witness
            _ = context.insert("Note", ["title": "b", "rank": 0])
            context.processPendingChanges()
            #expect(witness.seen == [true, true, true])
            #expect(controller !== stranger)
            #expect(controller != stranger)
            #expect(controller.sectionIndexTitles == ["#0"])
            witness.mine = nil
        }
        withExtendedLifetime(diary) {}
    }
}
