import CoralPostgreSQL
import CoreData

/// The stores of all tenants. Each tenant has a store of its own, so that no request can forget to filter by the tenant.
public final class NoteStores: Sendable {
    /// Opens a store at the first request of its tenant, and closes those that have not been used for the longest time.
    let pool: TenantPool
    /// The stores that are followed now.
    let followed = FollowedStores()
    private let location: String

    /// - Parameters:
    ///   - location: The URL of a PostgreSQL database, in which each tenant has a schema, or the path of a folder.
    ///   - openLimit: The number of stores that stay open.
    public init(in location: String, openLimit: Int = 100) throws {
        self.location = location
        pool = TenantPool(managedObjectModel: try Self.model.get(), openLimit: openLimit) {
            Self.description(of: $0, in: location)
        }
    }

    /// - Parameter tenant: A name from the list of tenants, never from a request.
    public func store(of tenant: String) -> NoteStore { NoteStore(tenant: tenant, stores: self) }

    static let model = Result {
        guard let url = Bundle.module.url(forResource: "Notes", withExtension: "momd"),
            let model = NSManagedObjectModel(contentsOf: url)
        else { throw CocoaError(.fileReadNoSuchFile) }
        return model
    }

    func description(of tenant: String) -> NSPersistentStoreDescription { Self.description(of: tenant, in: location) }

    private static func description(of tenant: String, in location: String) -> NSPersistentStoreDescription {
        let description =
            location.hasPrefix("postgresql:")
            ? NSPersistentStoreDescription.postgreSQL(url: location, schema: tenant)
            : NSPersistentStoreDescription(
                url: URL(fileURLWithPath: location).appendingPathComponent("\(tenant).sqlite"))
        description.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
        return description
    }
}

/// The notes of one tenant.
public struct NoteStore: Sendable {
    /// The time after which a request is given up, with its statement.
    private static let deadline = Duration.seconds(5)

    let tenant: String
    let stores: NoteStores

    private func withContext<T>(_ block: @escaping (NSManagedObjectContext) throws -> T) async throws -> T {
        try await stores.pool.withContext(for: tenant, timeout: Self.deadline, block)
    }

    /// The notes behind a key, in the order of the keys.
    public func notes(after key: String?, limit: Int) async throws -> [NoteValue] {
        try await withContext { context in
            let request = Note.fetchRequest()
            if let key { request.predicate = NSPredicate(format: "key > %@", key) }
            request.sortDescriptors = [NSSortDescriptor(key: "key", ascending: true)]
            request.fetchLimit = limit
            request.returnsObjectsAsFaults = false
            return try context.fetch(request).map(NoteValue.init)
        }
    }

    public func note(_ key: String) async throws -> NoteValue? {
        try await withContext { try Self.find([key], in: $0).first.map(NoteValue.init) }
    }

    /// Inserts notes, and changes those whose keys exist, all or none.
    public func put(_ values: [NoteValue]) async throws {
        try await withContext { context in
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
        try await withContext { context in
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
