import Foundation
import Testing

import class FoundationAdditions.UndoManager

@testable import EngineTesting

@testable import ManagedObjects

/// Steps of undo that contain a refresh.
@Suite struct UndoRefreshTests {
    /// What reads rows again and keeps unsaved changes.
    enum Refresh: CaseIterable {
        case object, all
    }

    private func step(_ context: NSManagedObjectContext, _ work: () -> Void) {
        context.undoManager?.beginUndoGrouping()
        work()
        context.processPendingChanges()
        context.undoManager?.endUndoGrouping()
    }

    @Test(arguments: Refresh.allCases)
    func `undoing a step with a refresh does not undo the step before it`(refresh: Refresh) throws {
        let context = try TestStack().context()
        let notes = ["a", "b", "c"].map { context.insert("Note", ["title": $0]) }
        try context.save()
        let manager = UndoManager()
        manager.groupsByEvent = false
        context.undoManager = manager
        func related() -> Set<NSManagedObject>? { notes[0].value(forKey: "related") as? Set<NSManagedObject> }
        step(context) { notes[0].mutableSetValue(forKey: "related").add(notes[1]) }
        step(context) {
            notes[0].setValue("x", forKey: "title")
            switch refresh {
            case .object: context.refresh(notes[0], mergeChanges: true)
            case .all: context.refreshAllObjects()
            }
            #expect(related() == [notes[1]])
            notes[0].setValue(5, forKey: "count")
            notes[0].mutableSetValue(forKey: "related").add(notes[2])
        }
        context.undo()
        #expect(related() == [notes[1]])
        #expect(notes[0].value(forKey: "title") as? String == "a" && notes[0].value(forKey: "count") == nil)
        context.undo()
        #expect(related() == [])
        #expect(!manager.canUndo)
        context.redo()
        #expect(related() == [notes[1]])
        context.redo()
        #expect(related() == [notes[1], notes[2]])
        #expect(notes[0].value(forKey: "title") as? String == "x")
        #expect(notes[0].value(forKey: "count") as? Int == 5)
        #expect(context.brokenInvariants() == [])
    }

    /// Both end the step first, which informs the observer.
    @Test(arguments: Refresh.allCases)
    func `an observer of the step may reset the context, which then refreshes nothing`(refresh: Refresh) throws {
        let context = try TestStack().context()
        let note = context.insert("Note", ["title": "a"])
        try context.save()
        context.undoManager = UndoManager()
        note.setValue("b", forKey: "title")
        let changes = ChangesOf(context) { if context.hasChanges { context.reset() } }
        switch refresh {
        case .object: context.refresh(note, mergeChanges: true)
        case .all: context.refreshAllObjects()
        }
        #expect(note.managedObjectContext == nil && !context.hasChanges)
        let keys = Set(changes.keys.joined())
        #expect(keys.isSuperset(of: [NSUpdatedObjectsKey, NSInvalidatedAllObjectsKey]))
        #expect(!keys.contains(NSRefreshedObjectsKey))
        #expect(context.brokenInvariants() == [])
    }
}

/// Collects the keys of a context's notifications of changed objects, and runs a function at each.
private final class ChangesOf: @unchecked Sendable {  // because the tests are one thread each
    private(set) var keys: [[String]] = []
    private var token: (any NSObjectProtocol)?

    init(_ context: NSManagedObjectContext, _ react: @escaping () -> Void) {
        nonisolated(unsafe) let react = react
        token = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextObjectsDidChange, object: context, queue: nil
        ) { [unowned self] notification in
            keys.append((notification.userInfo ?? [:]).keys.compactMap { $0 as? String }.sorted())
            react()
        }
    }

    deinit { if let token { NotificationCenter.default.removeObserver(token) } }
}
