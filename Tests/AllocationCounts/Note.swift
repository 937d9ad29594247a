import CoreData

/// A note, as its class is generated: five attributes and a relationship.
final class Note: NSManagedObject {
    private enum Properties {
        static let position = ManagedProperty<Int64>("position")
        static let title = ManagedProperty<String?>("title")
        static let rank = ManagedProperty<Double>("rank")
        static let createdAt = ManagedProperty<Date?>("createdAt")
        static let isPinned = ManagedProperty<Bool>("isPinned")
        static let folder = ManagedProperty<Folder?>("folder")
    }

    var position: Int64 {
        get { Properties.position[self] }
        set { Properties.position[self] = newValue }
    }
    var title: String? {
        get { Properties.title[self] }
        set { Properties.title[self] = newValue }
    }
    var rank: Double {
        get { Properties.rank[self] }
        set { Properties.rank[self] = newValue }
    }
    var createdAt: Date? {
        get { Properties.createdAt[self] }
        set { Properties.createdAt[self] = newValue }
    }
    var isPinned: Bool {
        get { Properties.isPinned[self] }
        set { Properties.isPinned[self] = newValue }
    }
    var folder: Folder? {
        get { Properties.folder[self] }
        set { Properties.folder[self] = newValue }
    }
}
