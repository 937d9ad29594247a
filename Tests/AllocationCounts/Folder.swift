import CoreData

/// A folder of notes.
final class Folder: NSManagedObject {
    private enum Properties {
        static let name = ManagedProperty<String?>("name")
        static let notes = ManagedProperty<Set<Note>>("notes")
    }

    var name: String? {
        get { Properties.name[self] }
        set { Properties.name[self] = newValue }
    }
    var notes: Set<Note> {
        get { Properties.notes[self] }
        set { Properties.notes[self] = newValue }
    }
}
