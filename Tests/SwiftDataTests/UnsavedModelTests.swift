import Foundation
import SwiftData
import Testing

// Models without macros, which need a trait.

private final class Folder: PersistentModel {
    static var schemaMetadata: [Schema.PropertyMetadata] {
        [
            .init(name: "name", keypath: \Folder.name),
            .init(
                name: "notes", keypath: \Folder.notes,
                metadata: Schema.Relationship(deleteRule: .cascade, inverse: \Note.folder)),
        ]
    }

    var persistentBackingData: any BackingData<Folder>
    init(backingData: any BackingData<Folder>) { persistentBackingData = backingData }

    init(name: String) {
        persistentBackingData = Folder._createBackingData()
        self.name = name
        notes = []
    }

    var name: String {
        get { getValue(forKey: \.name) }
        set { setValue(forKey: \.name, to: newValue) }
    }
    var notes: [Note] {
        get { getValue(forKey: \.notes) }
        set { setValue(forKey: \.notes, to: newValue) }
    }
}

private final class Note: PersistentModel {
    static var schemaMetadata: [Schema.PropertyMetadata] {
        [.init(name: "title", keypath: \Note.title), .init(name: "folder", keypath: \Note.folder)]
    }

    var persistentBackingData: any BackingData<Note>
    init(backingData: any BackingData<Note>) { persistentBackingData = backingData }

    init(title: String) {
        persistentBackingData = Note._createBackingData()
        self.title = title
        folder = nil
    }

    var title: String {
        get { getValue(forKey: \.title) }
        set { setValue(forKey: \.title, to: newValue) }
    }
    var folder: Folder? {
        get { getValue(forKey: \.folder) }
        set { setValue(forKey: \.folder, to: newValue) }
    }
}

@Suite("Models that were never saved")
struct UnsavedModelTests {
    private let container: ModelContainer
    private let context: ModelContext

    init() throws {
        container = try ModelContainer(for: Folder.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
        context = ModelContext(container)
    }

    private func titles() throws -> [String] {
        try ModelContext(container).fetch(FetchDescriptor<Note>(sortBy: [SortDescriptor(\.title)])).map(\.title)
    }

    /// As for the model that is deleted itself.
    @Test("A cascade discards them, and they can be inserted again")
    func cascade() throws {
        let (folder, note) = (Folder(name: "a"), Note(title: "n"))
        note.folder = folder
        context.insert(folder)
        #expect(note.modelContext === context)
        context.delete(folder)
        context.insert(Note(title: "other"))
        try context.save()
        #expect(note.modelContext == nil && note.isDeleted && note.title == "n")
        #expect(try titles() == ["other"])
        context.insert(note)
        #expect(note.modelContext === context && !note.isDeleted)
        try context.save()
        #expect(try titles() == ["n", "other"])
    }

    @Test("A model that a cascade has discarded may be inserted, or set in a relationship, before the save")
    func insertionAfterCascade() throws {
        let (folder, other, note, second) = (
            Folder(name: "a"), Folder(name: "b"), Note(title: "n"), Note(title: "m")
        )
        folder.notes = [note, second]
        context.insert(folder)
        context.insert(other)
        context.delete(folder)
        context.processPendingChanges()
        #expect(note.modelContext == nil)
        context.insert(note)
        other.notes = [second]
        try context.save()
        #expect(note.modelContext === context && second.folder === other)
        #expect(try titles() == ["m", "n"])
    }

    @Test("A rollback after a cascade leaves no model attached")
    func rollback() throws {
        let (folder, note) = (Folder(name: "a"), Note(title: "n"))
        note.folder = folder
        context.insert(folder)
        context.delete(folder)
        context.processPendingChanges()
        context.rollback()
        #expect(note.modelContext == nil && folder.modelContext == nil && note.title == "n")
        context.insert(note)
        try context.save()
        #expect(try titles() == ["n"])
    }

    @Test("Undoing an insertion detaches the model with its values; redoing attaches it again")
    func undoneInsertion() throws {
        let manager = UndoManager()
        context.undoManager = manager
        let note = Note(title: "n")
        context.insert(note)
        context.processPendingChanges()
        manager.undo()
        #expect(note.modelContext == nil && note.title == "n")
        manager.redo()
        #expect(note.modelContext === context && note.title == "n")
        note.title = "m"
        try context.save()
        #expect(try titles() == ["m"])
        let second = Note(title: "s")
        context.insert(second)
        context.processPendingChanges()
        manager.undo()
        context.insert(second)
        #expect(second.modelContext === context)
        try context.save()
        #expect(try titles() == ["m", "s"])
    }

    @Test("Undoing a deletion attaches the model again")
    func undoneDeletion() throws {
        let note = Note(title: "n")
        context.insert(note)
        try context.save()
        let manager = UndoManager()
        context.undoManager = manager
        let fresh = Note(title: "f")
        context.insert(fresh)
        context.processPendingChanges()
        context.delete(fresh)
        context.processPendingChanges()
        #expect(fresh.modelContext == nil)
        manager.undo()
        #expect(fresh.modelContext === context && fresh.title == "f" && !fresh.isDeleted)
        context.delete(note)
        try context.save()
        #expect(note.modelContext == nil)
        manager.undo()
        #expect(note.modelContext === context && note.title == "n")
        try context.save()
        #expect(try titles() == ["f", "n"])
    }

    @Test("A model that another context has deleted keeps its values, also with changes, and can be inserted again")
    func foreignDeletion() throws {
        let (folder, note) = (Folder(name: "a"), Note(title: "n"))
        note.folder = folder
        context.insert(folder)
        try context.save()
        let fresh = Note(title: "fresh")
        folder.name = "changed"
        folder.notes.append(fresh)
        let other = ModelContext(container)
        for folder in try other.fetch(FetchDescriptor<Folder>()) { other.delete(folder) }
        try other.save()
        try context.save()
        #expect(folder.modelContext == nil && note.modelContext == nil && fresh.modelContext == nil)
        #expect(folder.name == "changed" && fresh.title == "fresh")
        context.insert(folder)
        context.insert(fresh)
        try context.save()
        #expect(try titles() == ["fresh"])
    }

    @Test("What an observer of willSave inserts and deletes is saved, and its models follow")
    func observerOfSave() throws {
        let (kept, gone, added) = (Note(title: "kept"), Note(title: "gone"), Note(title: "added"))
        context.insert(kept)
        context.insert(gone)
        try context.save()
        let goneIdentifier = gone.persistentModelID
        kept.title = "changed"
        // A save posts on the thread of its context.
        nonisolated(unsafe) let (saving, inserted, deleted) = (context, added, gone)
        nonisolated(unsafe) var saved: [AnyHashable: Any] = [:]
        let observers = [
            NotificationCenter.default.addObserver(forName: ModelContext.willSave, object: context, queue: nil) { _ in
                saving.insert(inserted)
                saving.delete(deleted)
            },
            NotificationCenter.default.addObserver(forName: ModelContext.didSave, object: context, queue: nil) {
                saved = $0.userInfo ?? [:]
            },
        ]
        defer { observers.forEach(NotificationCenter.default.removeObserver) }
        try context.save()
        #expect(try titles() == ["added", "changed"])
        #expect(added.modelContext === context && gone.modelContext == nil && gone.isDeleted && gone.title == "gone")
        func identifiers(_ key: ModelContext.NotificationKey) -> [PersistentIdentifier]? {
            saved[key.rawValue] as? [PersistentIdentifier]
        }
        #expect(identifiers(.insertedIdentifiers) == [added.persistentModelID])
        #expect(identifiers(.updatedIdentifiers) == [kept.persistentModelID])
        #expect(identifiers(.deletedIdentifiers) == [goneIdentifier])
    }

    @Test("A model that leaves an owner of no context for one that is in one, leaves it at both ends")
    func movedToInserted() throws {
        let (first, second, note) = (Folder(name: "a"), Folder(name: "b"), Note(title: "n"))
        note.folder = first
        context.insert(second)
        note.folder = second
        #expect(first.notes.isEmpty && first.modelContext == nil && note.modelContext === context)
        context.insert(first)
        try context.save()
        #expect(note.folder === second && first.notes.isEmpty && second.notes.map(\.title) == ["n"])
    }

    @Test("A list of models, of which one is in a context, takes the others from their owners")
    func listWithInserted() throws {
        let (folder, other) = (Folder(name: "a"), Folder(name: "b"))
        let (inserted, fresh) = (Note(title: "i"), Note(title: "f"))
        fresh.folder = other
        context.insert(inserted)
        folder.notes = [inserted, fresh]
        #expect(other.notes.isEmpty && other.modelContext == nil)
        context.insert(other)
        try context.save()
        #expect(Set(folder.notes.map(\.title)) == ["f", "i"] && fresh.folder === folder && other.notes.isEmpty)
    }

    @Test("An owner in a context takes models from owners of no context, and leaves these there")
    func takenByInserted() throws {
        let (folder, other, note) = (Folder(name: "a"), Folder(name: "b"), Note(title: "n"))
        note.folder = other
        context.insert(folder)
        folder.notes.append(note)
        #expect(note.folder === folder && other.notes.isEmpty && other.modelContext == nil)
        try context.save()
        #expect(try ModelContext(container).fetch(FetchDescriptor<Folder>()).map(\.name) == ["a"])
    }
}
