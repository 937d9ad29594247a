import Foundation
import SwiftData
import Testing

@testable import ManagedObjects

// A model without macros, which need a trait.

private final class Memo: PersistentModel {
    static var schemaMetadata: [Schema.PropertyMetadata] { [.init(name: "title", keypath: \Memo.title)] }

    var persistentBackingData: any BackingData<Memo>
    init(backingData: any BackingData<Memo>) { persistentBackingData = backingData }

    init(title: String) {
        persistentBackingData = Memo._createBackingData()
        self.title = title
    }

    var title: String {
        get { getValue(forKey: \.title) }
        set { setValue(forKey: \.title, to: newValue) }
    }
}

/// A merge and an undo that fail are taken back: the rows come back, and so do their models.
@Suite("Models of rows that failed work gives back")
struct FailedWorkTests {
    private let container: ModelContainer
    private let context: ModelContext
    private let memo = Memo(title: "n")

    private struct Failure: Error {}

    init() throws {
        container = try ModelContainer(for: Memo.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
        context = ModelContext(container)
        context.undoManager = UndoManager()
        context.insert(memo)
        context.processPendingChanges()
    }

    private var managed: NSManagedObjectContext { context.managedContext }

    private func titles() throws -> [String] {
        try ModelContext(container).fetch(FetchDescriptor<Memo>(sortBy: [SortDescriptor(\.title)])).map(\.title)
    }

    private func isInserted(_ title: String = "n") -> Bool {
        memo.modelContext === context && !memo.isDeleted && memo.title == title
    }

    private func isDetached(isDeleted: Bool) -> Bool {
        memo.modelContext == nil && memo.isDeleted == isDeleted && memo.title == "n"
    }

    /// Lets the next undo or redo fail, as if a row could not be read.
    private func failOnce() {
        let (managed, usual) = (self.managed, self.managed.willUndoInsertions)
        managed.willUndoInsertions = { objects in
            usual?(objects)
            managed.noteFailedRead(Failure(), "")
            managed.willUndoInsertions = usual
        }
    }

    @Test("A deletion that is taken back leaves the model in its context", arguments: [false, true])
    func deletion(isNested: Bool) throws {
        let row = try #require(managed.insertedObjects.first)
        #expect(throws: Failure.self) {
            try managed.restoringOnError { _ in
                if isNested {
                    try managed.restoringOnError { _ in managed.deleteObject(row) }
                } else {
                    managed.deleteObject(row)
                }
                throw Failure()
            }
        }
        #expect(isInserted())
        memo.title = "m"
        try context.save()
        #expect(try titles() == ["m"] && isInserted("m"))
    }

    @Test("A deletion that succeeds detaches the model with its values, and the row is not saved")
    func certainDeletion() throws {
        let row = try #require(managed.insertedObjects.first)
        try managed.restoringOnError { _ in managed.deleteObject(row) }
        #expect(isDetached(isDeleted: true))
        try context.save()
        #expect(try titles() == [])
    }

    @Test("A model stays where it is if an undo or a redo fails, and follows the next one")
    func undo() throws {
        failOnce()
        managed.undo()
        #expect(isInserted())
        managed.undo()
        #expect(isDetached(isDeleted: false))
        failOnce()
        managed.redo()
        #expect(isDetached(isDeleted: false))
        managed.redo()
        #expect(isInserted())
        try context.save()
        #expect(try titles() == ["n"])
    }

    @Test("A deleted model stays deleted if the undo of its deletion fails")
    func undoneDeletion() throws {
        context.delete(memo)
        context.processPendingChanges()
        #expect(isDetached(isDeleted: true))
        failOnce()
        managed.undo()
        #expect(isDetached(isDeleted: true))
        managed.undo()
        #expect(isInserted())
    }
}
