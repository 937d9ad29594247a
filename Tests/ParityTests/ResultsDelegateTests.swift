import CoreData
import Testing

/// Actions of a delegate while it receives changes, and the results when their context or store changes.
@Suite struct ResultsDelegateTests {
    /// Calls a closure once, at a method of choice.
    private final class Actor: NSObject, NSFetchedResultsControllerDelegate {
        enum Moment { case will, object, did }
        let moment: Moment
        var action: (() -> Void)?
        var events: [String] = []

        init(at moment: Moment) { self.moment = moment }

        private func reach(_ moment: Moment, _ event: String) {
            events.append(event)
            guard moment == self.moment, let action else { return }
            self.action = nil
            action()
        }

        func controllerWillChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {
            reach(.will, "will")
        }

        func controller(
            _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
            at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
        ) { reach(.object, "object \(type.rawValue)") }

        func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {
            reach(.did, "did")
        }
    }

    private func withNotes(
        _ count: Int, sections: Bool = true, at moment: Actor.Moment = .object,
        _ body: (NSManagedObjectContext, NSFetchedResultsController<NSManagedObject>, Actor) throws -> Void
    ) throws {
        let diary = try Diary()
        let context = diary.context()
        try context.performAndWait {
            for number in 0..<count { _ = context.insert("Note", ["title": "n\(number)", "rank": number % 3]) }
            try context.save()
            let (controller, _) = try notesByRank(in: context, sections: sections)
            let actor = Actor(at: moment)
            controller.delegate = actor
            try body(context, controller, actor)
        }
        withExtendedLifetime(diary) {}
    }

    private func isCurrent(_ controller: NSFetchedResultsController<NSManagedObject>) throws -> Bool {
        let fresh = try controller.managedObjectContext.fetch(controller.fetchRequest)
        let inSections = (controller.sections ?? []).flatMap { $0.objects ?? [] }.compactMap { $0 as? NSManagedObject }
        return controller.fetchedObjects == fresh && inSections == fresh
    }

    @Test(arguments: 0..<3) fileprivate func aDelegateMayChangeTheContext(index: Int) throws {
        let moment = [Actor.Moment.will, .object, .did][index]
        try withNotes(9, at: moment) { context, controller, actor in
            let notes = try #require(controller.fetchedObjects)
            actor.action = {
                notes[1].setValue(2, forKey: "rank")
                context.delete(notes[2])
                _ = context.insert("Note", ["title": "new", "rank": 4])
                // An event cannot end within the end of another one: the changes belong to the next one.
                context.processPendingChanges()
            }
            notes[0].setValue(1, forKey: "rank")
            context.processPendingChanges()
            context.processPendingChanges()
            #expect(actor.events.filter { $0 == "will" }.count == 2)
            #expect(actor.events.filter { $0 == "did" }.count == 2)
            #expect(try isCurrent(controller))
        }
    }

    @Test func aDelegateMayFetchAgainSaveAndRollBack() throws {
        let actions: [(NSManagedObjectContext, NSFetchedResultsController<NSManagedObject>) throws -> Void] = [
            { _, controller in try controller.performFetch() }, { context, _ in try context.save() },
            { context, _ in context.rollback() }, { context, _ in context.refreshAllObjects() },
        ]
        for action in actions {
            try withNotes(9) { context, controller, actor in
                let notes = try #require(controller.fetchedObjects)
                actor.action = { #expect(throws: Never.self) { try action(context, controller) } }
                notes[0].setValue(1, forKey: "rank")
                notes[8].setValue(0, forKey: "rank")
                context.processPendingChanges()
                context.processPendingChanges()
                #expect(actor.action == nil)
                #expect(try isCurrent(controller))
            }
        }
    }

    @Test func aDelegateMayResetTheContext() throws {
        try withNotes(9) { context, controller, actor in
            let notes = try #require(controller.fetchedObjects)
            actor.action = { context.reset() }
            notes[0].setValue(1, forKey: "rank")
            notes[8].setValue(0, forKey: "rank")
            context.processPendingChanges()
            try controller.performFetch()
            #expect(controller.fetchedObjects?.count == 9)
            #expect(try isCurrent(controller))
        }
    }

    @Test func aDelegateMayLeaveOrReleaseTheController() throws {
        let diary = try Diary()
        let context = diary.context()
        try context.performAndWait {
            let note = context.insert("Note", ["title": "a", "rank": 0])
            try context.save()
            var (controller, _): (NSFetchedResultsController<NSManagedObject>?, ResultsFollower) =
                try notesByRank(in: context)
            let actor = Actor(at: .will)
            controller?.delegate = actor
            actor.action = { controller = nil }
            note.setValue(1, forKey: "rank")
            context.processPendingChanges()
            #expect(controller == nil)
            // No controller observes the context any longer.
            actor.events = []
            note.setValue(2, forKey: "rank")
            context.processPendingChanges()
            #expect(actor.events.isEmpty)
        }
        withExtendedLifetime(diary) {}
    }

    @Test func sectionsWithoutAValueHaveAnEmptyName() throws {
        let diary = try Diary()
        let context = diary.context()
        try context.performAndWait {
            let notes = ["a", "b"].map { context.insert("Note", ["title": $0]) }
            try context.save()
            let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
            request.sortDescriptors = [
                NSSortDescriptor(key: "rank", ascending: true), NSSortDescriptor(key: "title", ascending: true),
            ]
            let controller = NSFetchedResultsController(
                fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: "rank", cacheName: nil)
            let follower = ResultsFollower()
            controller.delegate = follower
            try controller.performFetch()
            follower.begin(with: controller)
            #expect(controller.sections?.map(\.name) == [""])
            #expect(controller.sectionIndexTitles.isEmpty)
            notes[0].setValue(1, forKey: "rank")
            context.processPendingChanges()
            #expect(controller.sections?.map(\.name) == ["", "1"])
            #expect(follower.takeLog() == ["will", "insert section 1 1", "move 0.0 1.0", "did"])
            notes[1].setValue(1, forKey: "rank")
            notes[0].setValue(nil, forKey: "rank")
            context.processPendingChanges()
            #expect(controller.fetchedObjects == notes)
            #expect(follower.sections.map(\.name) == ["", "1"])
        }
        withExtendedLifetime(diary) {}
    }

    @Test func aFetchThatFailsLeavesTheResults() throws {
        try withNotes(3) { _, controller, _ in
            let request = controller.fetchRequest
            request.predicate = NSPredicate(format: "missing > 3")
            let error = #expect(throws: CocoaError.self) { try controller.performFetch() }
            #expect(error?.errorCode == 134060)
            #expect(controller.fetchedObjects?.count == 3)
        }
    }
}
