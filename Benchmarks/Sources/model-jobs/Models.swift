#if Macros
    import CoralModels
    import Foundation
    import SwiftData

    // The classes of `nine-jobs` as models.

    @Model
    final class Note {
        #Index<Note>([\.createdAt])
        @Attribute(.unique) var id: UUID
        var title: String
        var body: String
        var createdAt: Date
        var isPinned: Bool
        var rank: Double
        @Relationship(deleteRule: .cascade, inverse: \Item.note) var items: [Item] = []
        @Relationship(deleteRule: .cascade, inverse: \NoteDetail.note) var detail: NoteDetail?

        init(id: UUID, title: String, body: String, createdAt: Date, isPinned: Bool, rank: Double) {
            self.id = id
            self.title = title
            self.body = body
            self.createdAt = createdAt
            self.isPinned = isPinned
            self.rank = rank
        }
    }

    @Model
    final class NoteDetail {
        var content: String
        var note: Note?

        init(content: String, note: Note) {
            self.content = content
            self.note = note
        }
    }

    @Model
    final class Item {
        var index: Int32
        var name: String
        var noteID: UUID
        var quantity: Int64
        var price: Decimal
        var note: Note?
        var tags: [Tag] = []

        init(
            index: Int32, name: String, noteID: UUID, quantity: Int64, price: Decimal, note: Note, tags: [Tag]
        ) {
            self.index = index
            self.name = name
            self.noteID = noteID
            self.quantity = quantity
            self.price = price
            self.note = note
            self.tags = tags
        }
    }

    @Model
    final class Tag {
        @Attribute(.unique) var name: String
        @Relationship(inverse: \Item.tags) var items: [Item] = []

        init(name: String) { self.name = name }
    }

    // The same rules as those in the user info of the other program's model.

    extension Note: RuledModel {
        static var toolkitRules: ModelRules<Note> { ModelRules(.renew(\.id)) }
    }

    extension NoteDetail: RuledModel {
        static var toolkitRules: ModelRules<NoteDetail> { ModelRules(.key(\.note)) }
    }

    extension Item: RuledModel {
        static var toolkitRules: ModelRules<Item> { ModelRules(.key(\.note, \.index)) }
    }
#endif
