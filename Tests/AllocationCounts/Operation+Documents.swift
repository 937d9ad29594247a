import Coral

extension Operation {
    /// Operations on documents, and on graphs that are exported and imported.
    static var ofDocuments: [Operation] {
        [
            Operation("read a record of JSON, token by token", startingWith: .empty) { _, count in
                let document = try document(count)
                return {
                    var reader = JSONReader(document)
                    while try reader.next() != .end {}
                }
            },
            Operation("write a record of JSON", startingWith: .empty) { _, count in
                { _ = try document(count) }
            },
            Operation("export an object", startingWith: .notes) { store, _ in
                { _ = try export(store) }
            },
            Operation("export an object by way of objects", startingWith: .notes) { store, _ in
                let notes = try store.fetchNotes()
                return { _ = try GraphExporter(format: .json, layout: .nested).export(notes, to: MemorySink()) }
            },
            Operation("import a new object", startingWith: .empty) { store, count in
                let document = try export(NoteStore(notes: count))
                return { try importer(into: store).importDocument(.data(document)) }
            },
            Operation("import an object that is there", startingWith: .notes) { store, _ in
                let document = try export(store)
                return { try importer(into: store).importDocument(.data(document)) }
            },
            Operation("import a new object by way of objects", startingWith: .empty) { store, count in
                let document = try export(NoteStore(notes: count))
                var importer = GraphImporter(into: store.context, options: options)
                importer.worksInPlace = true
                return { [importer] in try importer.importObjects(from: document) }
            },
            Operation("copy an object", startingWith: .notes) { store, _ in
                let ids = try store.fetchNotes().map(\.objectID)
                return { try store.copy(ids) }
            },
            Operation("copy an object by way of objects", startingWith: .notes) { store, _ in
                let notes = try store.fetchNotes()
                return { try GraphCopier().copy(notes) }
            },
        ]
    }

    // MARK: - Documents by hand

    /// Records of 15 tokens: five keys, four values, an array of two, and their beginnings and ends.
    private static func document(_ count: Int) throws -> Data {
        let sink = MemorySink()
        var writer = JSONWriter(to: ByteOutput(to: sink))
        try writer.beginArray()
        for number in 0..<count {
            try writer.beginObject()
            try writer.key("position")
            try writer.integer(Int64(number))
            try writer.key("title")
            try writer.string("What \"everybody\" wants to have done, whatever it is")
            try writer.key("rank")
            try writer.double(Double(number) / 7)
            try writer.key("isPinned")
            try writer.bool(true)
            try writer.key("tags")
            try writer.beginArray()
            for _ in 0..<2 { try writer.string("urgent") }
            try writer.endArray()
            try writer.endObject()
        }
        try writer.endArray()
        try writer.output.finish()
        return sink.data
    }

    // MARK: - Documents of stores

    private static let identity = ObjectIdentity(keys: ["Note": ["position"], "Folder": ["name"]])

    private static var options: ImportOptions {
        var options = ImportOptions()
        options.identity = identity
        options.layout = .plain
        return options
    }

    /// The store in the plain layout, where notes refer to their folder, but folders do not refer to their notes.
    private static func export(_ store: NoteStore) throws -> Data {
        let sink = MemorySink()
        var exporter = GraphExporter(format: .json, layout: .plain, shape: .everything.excluding("Folder.notes"))
        exporter.identity = identity
        try exporter.exportStore(of: store.coordinator, to: sink)
        return sink.data
    }

    private static func importer(into store: NoteStore) -> BatchImporter {
        var importer = BatchImporter(into: store.coordinator, options: options)
        importer.rowImporting = .always
        return importer
    }
}
