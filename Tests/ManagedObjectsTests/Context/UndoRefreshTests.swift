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
}
