import CoreData

// The entity classes, as generated from a model.

final class Note: NSManagedObject {
    private enum Properties {
        static let id = ManagedProperty<UUID?>("id")
        static let title = ManagedProperty<String?>("title")
        static let body = ManagedProperty<String?>("body")
        static let createdAt = ManagedProperty<Date?>("createdAt")
        static let isPinned = ManagedProperty<Bool>("isPinned")
        static let rank = ManagedProperty<Double>("rank")
        static let items = ManagedProperty<[Item]>("items")
        static let detail = ManagedProperty<NoteDetail?>("detail")
    }

    var id: UUID? {
        get { Properties.id[self] }
        set { Properties.id[self] = newValue }
    }
    var title: String? {
        get { Properties.title[self] }
        set { Properties.title[self] = newValue }
    }
    var body: String? {
        get { Properties.body[self] }
        set { Properties.body[self] = newValue }
    }
    var createdAt: Date? {
        get { Properties.createdAt[self] }
        set { Properties.createdAt[self] = newValue }
    }
    var isPinned: Bool {
        get { Properties.isPinned[self] }
        set { Properties.isPinned[self] = newValue }
    }
    var rank: Double {
        get { Properties.rank[self] }
        set { Properties.rank[self] = newValue }
    }
    /// The items in their order.
    var items: [Item] {
        get { Properties.items[self] }
        set { Properties.items[self] = newValue }
    }
    var detail: NoteDetail? {
        get { Properties.detail[self] }
        set { Properties.detail[self] = newValue }
    }
}

final class NoteDetail: NSManagedObject {
    private enum Properties {
        static let content = ManagedProperty<String?>("content")
        static let note = ManagedProperty<Note?>("note")
    }

    var content: String? {
        get { Properties.content[self] }
        set { Properties.content[self] = newValue }
    }
    var note: Note? {
        get { Properties.note[self] }
        set { Properties.note[self] = newValue }
    }
}

final class Item: NSManagedObject {
    private enum Properties {
        static let index = ManagedProperty<Int32>("index")
        static let name = ManagedProperty<String?>("name")
        static let noteID = ManagedProperty<UUID?>("noteID")
        static let quantity = ManagedProperty<Int64>("quantity")
        static let price = ManagedProperty<Decimal?>("price")
        static let note = ManagedProperty<Note?>("note")
        static let tags = ManagedProperty<Set<Tag>>("tags")
    }

    var index: Int32 {
        get { Properties.index[self] }
        set { Properties.index[self] = newValue }
    }
    var name: String? {
        get { Properties.name[self] }
        set { Properties.name[self] = newValue }
    }
    var noteID: UUID? {
        get { Properties.noteID[self] }
        set { Properties.noteID[self] = newValue }
    }
    var quantity: Int64 {
        get { Properties.quantity[self] }
        set { Properties.quantity[self] = newValue }
    }
    var price: Decimal? {
        get { Properties.price[self] }
        set { Properties.price[self] = newValue }
    }
    var note: Note? {
        get { Properties.note[self] }
        set { Properties.note[self] = newValue }
    }
    var tags: Set<Tag> {
        get { Properties.tags[self] }
        set { Properties.tags[self] = newValue }
    }
}

final class Tag: NSManagedObject {
    private enum Properties {
        static let name = ManagedProperty<String?>("name")
        static let items = ManagedProperty<Set<Item>>("items")
    }

    var name: String? {
        get { Properties.name[self] }
        set { Properties.name[self] = newValue }
    }
    var items: Set<Item> {
        get { Properties.items[self] }
        set { Properties.items[self] = newValue }
    }
}
