#if Macros
    import Coral
    import CoralModels
    import Foundation
    import NotesWorkload
    import SwiftData

    /// The nine jobs, as a program with SwiftData would implement them.
    struct Jobs {
        let notes: Int
        let items: Int
        let tags: Int
        let json: URL
        private let container: ModelContainer

        init(_ arguments: JobArguments) throws {
            (notes, items, tags, json) = (arguments.notes, arguments.items, arguments.tags, arguments.json)
            container = try ModelContainer(
                for: Note.self, configurations: ModelConfiguration(url: arguments.database))
        }

        func run(_ job: Int) throws -> String {
            switch job {
            case 1: return try insert()
            case 2: return try sum()
            case 3: return try query()
            case 4: return try traverse()
            case 5: return try export()
            case 6, 7: return try importAll()
            case 8, 10: return try copy()
            case 9: return try update()
            default: return "-"
            }
        }

        /// The number of notes that job 1 saves together.
        private static let batch = 2_500

        /// Job 1: inserts and saves the whole graph in batches, each in a context of its own, so that memory does not grow.
        private func insert() throws -> String {
            var context = ModelContext(container)
            var tagModels = (0..<tags).map { Tag(name: Workload.tagName($0)) }
            for tag in tagModels { context.insert(tag) }
            for number in 0..<notes {
                if number > 0, number % Self.batch == 0 {
                    try context.save()
                    let identifiers = tagModels.map(\.persistentModelID)
                    let next = ModelContext(container)
                    let fetched = try next.fetch(FetchDescriptor<Tag>())
                    let found = Dictionary(uniqueKeysWithValues: fetched.map { ($0.persistentModelID, $0) })
                    tagModels = identifiers.compactMap { found[$0] }
                    context = next
                }
                insertNote(number, tags: tagModels, into: context)
            }
            try context.save()
            return "-"
        }

        private func insertNote(_ number: Int, tags tagModels: [Tag], into context: ModelContext) {
            let values = Workload.note(number)
            let note = Note(
                id: values.id, title: values.title, body: values.body, createdAt: values.createdAt,
                isPinned: values.isPinned, rank: values.rank)
            context.insert(note)
            context.insert(NoteDetail(content: values.content, note: note))
            for index in 0..<items {
                let item = Workload.item(number * items + index, tagTotal: tags)
                context.insert(
                    Item(
                        index: Int32(index), name: item.name, noteID: values.id, quantity: item.quantity,
                        price: item.price, note: note, tags: item.tags.map { tagModels[$0] }))
            }
        }

        /// Job 2: reads all items as models.
        private func sum() throws -> String {
            let context = ModelContext(container)
            var sum: Int64 = 0
            for item in try context.fetch(FetchDescriptor<Item>()) { sum += item.quantity }
            return "\(sum)"
        }

        /// Job 3: executes a thousand fetches.
        private func query() throws -> String {
            let context = ModelContext(container)
            var sum = 0
            for number in 0..<1000 {
                let date = Workload.queryDate(number)
                var descriptor = FetchDescriptor<Note>(
                    predicate: #Predicate { $0.createdAt >= date && $0.isPinned },
                    sortBy: [SortDescriptor(\.createdAt)])
                descriptor.fetchLimit = 20
                for note in try context.fetch(descriptor) { sum += Int(note.rank * 1e6) }
            }
            return "\(sum)"
        }

        /// Job 4: reads every note, its items, and their tags.
        private func traverse() throws -> String {
            let context = ModelContext(container)
            var sum: Int64 = 0
            for note in try context.fetch(FetchDescriptor<Note>()) {
                for item in note.items {
                    sum += item.quantity * Int64(item.index + 1)
                    for tag in item.tags { sum += Int64(tag.name.utf8.count) }
                }
            }
            return "\(sum)"
        }

        /// Job 5: exports everything to one file, as the other program does.
        private func export() throws -> String {
            let result = try container.export(
                to: json, layout: .plain, shape: .everything.excluding("Note.items", "Tag.items"))
            return "\(result.recordCount)"
        }

        /// Jobs 6 and 7: imports that file into the store, with rows matched by the keys of their classes. Returns the number of changed
        /// rows.
        private func importAll() throws -> String {
            var options = ImportOptions()
            options.layout = .plain
            let result = try container.importInBatches(from: .file(json), options: options)
            return "\(result.insertCount + result.updateCount)"
        }

        /// Job 8, and job 10 of the other program: copies the first thousand notes with the models that they own; tags are shared, and
        /// identifiers are replaced according to the rules. Returns the number of copies.
        private func copy() throws -> String {
            let context = ModelContext(container)
            var descriptor = FetchDescriptor<Note>()
            descriptor.fetchLimit = 1000
            let copies = try context.fetch(descriptor).deepCopies()
            try context.save()
            return "\(copies.reduce(0) { $0 + 1 + $1.items.count + ($1.detail == nil ? 0 : 1) })"
        }

        /// Job 9: increments the quantity of every item with index 3.
        private func update() throws -> String {
            let context = ModelContext(container)
            let found = try context.fetch(FetchDescriptor<Item>(predicate: #Predicate { $0.index == 3 }))
            for item in found { item.quantity += 1 }
            try context.save()
            return "\(found.count)"
        }
    }
#endif
