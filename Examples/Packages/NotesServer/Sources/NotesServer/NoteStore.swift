import CoralPostgreSQL
import CoreData

/// The notes of one tenant. Each tenant has a store of its own, so that no request can forget to filter by the tenant.
public struct NoteStore: Sendable {
    /// The time after which a request is given up, with its statement.
    private static let deadline = Duration.seconds(5)

    let container: NSPersistentContainer
    let readers: ContextPool
    let writers: ContextPool

    private static let model = Bundle.module.url(forResource: "Notes", withExtension: "momd")
        .flatMap(NSManagedObjectModel.init(contentsOf:))

    /// Opens the store of a tenant in a schema of a PostgreSQL database, or in a folder.
    ///
    /// - Parameter location: A URL that begins with `postgresql:`, or the path of a folder.
    public init(tenant: String, in location: String) throws {
        if location.hasPrefix("postgresql:") {
            try self.init(.postgreSQL(url: location, schema: tenant), writers: 8)
        } else {
            let file = URL(fileURLWithPath: location).appendingPathComponent("\(tenant).sqlite")
            // A file has one writer: the others wait as suspended tasks instead of waiting for its lock.
            try self.init(NSPersistentStoreDescription(url: file), writers: 1)
        }
    }

    private init(_ description: NSPersistentStoreDescription, writers: Int) throws {
        guard let model = Self.model else { throw CocoaError(.fileReadNoSuchFile) }
        container = NSPersistentContainer(name: "Notes", managedObjectModel: model)
        description.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
        description.setOption(true as NSNumber, forKey: NSPersistentStoreRemoteChangeNotificationPostOptionKey)
        container.persistentStoreDescriptions = [description]
        var failure: (any Error)?
        container.loadPersistentStores { failure = $1 }
        if let failure { throw failure }
        readers = ContextPool(container)
        self.writers = ContextPool(container, limit: writers)
    }

    /// The notes behind a key, in the order of the keys.
    public func notes(after key: String?, limit: Int) async throws -> [NoteValue] {
        try await readers.withContext(timeout: Self.deadline) { context in
            let request = Note.fetchRequest()
            if let key { request.predicate = NSPredicate(format: "key > %@", key) }
            request.sortDescriptors = [NSSortDescriptor(key: "key", ascending: true)]
            request.fetchLimit = limit
            request.returnsObjectsAsFaults = false
            return try context.fetch(request).map(NoteValue.init)
        }
    }

    public func note(_ key: String) async throws -> NoteValue? {
        try await readers.withContext(timeout: Self.deadline) { try Self.find([key], in: $0).first.map(NoteValue.init) }
    }

    /// Inserts notes, and changes those whose keys exist, all or none.
    public func put(_ values: [NoteValue]) async throws {
        try await writers.withContext(timeout: Self.deadline) { context in
            context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            var notes = Dictionary(
                try Self.find(values.map(\.key), in: context).map { ($0.key, $0) }, uniquingKeysWith: { $1 })
            for value in values {
                let note = notes[value.key] ?? Note(context: context)
                notes[value.key] = note
                (note.key, note.title, note.text) = (value.key, value.title, value.text)
            }
            try context.save()
        }
    }

    /// Deletes a note. Returns whether there was one.
    public func delete(_ key: String) async throws -> Bool {
        try await writers.withContext(timeout: Self.deadline) { context in
            let notes = try Self.find([key], in: context)
            for note in notes { context.delete(note) }
            try context.save()
            return !notes.isEmpty
        }
    }

    private static func find(_ keys: [String], in context: NSManagedObjectContext) throws -> [Note] {
        let request = Note.fetchRequest()
        request.predicate = NSPredicate(format: "key IN %@", keys)
        request.returnsObjectsAsFaults = false
        return try context.fetch(request)
    }
}
