import CoreData
import GraphDocuments

/// What an import would do, found out by doing it in a context that nobody else sees.
///
/// A plan belongs to the queue of the context that it was made for. Nothing has happened to anybody's objects until
/// `apply`; a plan that is dropped has done nothing.
public final class ImportPlan<Root: NSManagedObject> {
    private let session: ImportSession
    private let target: NSManagedObjectContext
    private var isApplied = false

    init(_ session: ImportSession, target: NSManagedObjectContext) {
        self.session = session
        self.target = target
    }

    /// Objects that are to be made.
    public var inserts: ImportEntries<ImportInsert> { session.changes.inserts }
    /// Objects whose values are to be changed.
    public var updates: ImportEntries<ImportUpdate> { session.changes.updates }
    /// Relationships that are to be changed. Of the two sides of a relationship that one stands here that the document
    /// speaks of first; the other follows.
    public var links: ImportEntries<ImportLink> { session.changes.links }
    /// Objects that are to be deleted.
    public var deletions: ImportEntries<ImportDeletion> { session.changes.deletions }
    /// What policies have settled.
    public var conflicts: ImportEntries<ImportConflict> { session.changes.conflicts }
    /// What is wrong. With errors a plan can only be applied where `skipsInvalid` has left the records at fault out.
    public var errors: ImportEntries<ImportError> { session.changes.errors }
    /// What the model has no place for, where `ImportOptions.otherModel` says that it is kept.
    public var leftovers: ImportEntries<ImportLeftover> { session.changes.leftovers }
    /// Values whose files did not exist when the document was written: see `ImportOptions.missingFiles`.
    public var missingFiles: ImportEntries<ImportMissingFile> { session.changes.missingFiles }
    /// How the document's model differs from the one that it is imported into; empty where it does not, or says nothing of it.
    public var modelDifferences: [DocumentModelDifference] { session.modelDifferences }
    /// What the document says of itself.
    public var header: DocumentHeader? { session.payload.header }
    /// The number of records read.
    public var recordCount: Int { session.payload.recordCount }

    /// One line: `1 insert, 12 updates, 3 links, 0 errors`. Deletions and conflicts are told where there are any.
    public var summary: String {
        var parts = [count(inserts.count, "insert"), count(updates.count, "update"), count(links.count, "link")]
        if !deletions.isEmpty { parts.append(count(deletions.count, "deletion")) }
        if !missingFiles.isEmpty { parts.append(count(missingFiles.count, "missing file")) }
        if !conflicts.isEmpty { parts.append(count(conflicts.count, "conflict")) }
        parts.append(count(errors.count, "error"))
        return parts.joined(separator: ", ")
    }

    private func count(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }

    /// Whether there is nothing to do.
    public var isEmpty: Bool { inserts.isEmpty && updates.isEmpty && links.isEmpty && deletions.isEmpty }

    /// Makes the changes the context's own: all of them, unsaved, or on any error none. Returns the objects of the records
    /// at the top of the document, in its order.
    ///
    /// Throws `ImportError`, with all others in it, where the plan has errors; what saving to a parent context throws
    /// otherwise. A plan can be applied once.
    @discardableResult
    public func apply() throws -> [Root] {
        guard !isApplied else { throw ImportError(.misuse, "The plan has been applied already.") }
        if !session.options.skipsInvalid, var error = errors.kept.first {
            error.others = Array(errors.kept.dropFirst())
            if session.context === target { target.rollback() }
            throw error
        }
        isApplied = true
        if session.context !== target {
            try session.context.performAndWait {
                #if !canImport(Darwin) && !CORAL_PUBLIC_API
                    // All was checked when the plan was made, but for objects of which the document has but the key.
                    ChosenKeys.stopValidating(session.context)
                #endif
                if session.context.hasChanges { try session.context.save() }
            }
        }
        return objects(of: session.payload.roots)
    }

    /// The object that a record became, in the context that the plan was made for; nil before `apply`, and for a record that
    /// was left out.
    public subscript(record: RecordID) -> NSManagedObject? {
        guard isApplied else { return nil }
        return session.payload.node(with: record).flatMap { object(of: $0) }
    }

    /// The IDs of all records' objects, by the records' ids; empty before `apply`. Temporary for new objects, until the
    /// context is saved. Records without an id are not in it.
    public var objectIDs: [RecordID: NSManagedObjectID] {
        guard isApplied else { return [:] }
        var ids: [RecordID: NSManagedObjectID] = [:]
        for (id, node) in session.payload.identifiedNodes {
            ids[id] = object(of: node)?.objectID
        }
        return ids
    }

    private func objects(of nodes: [ImportNode]) -> [Root] {
        var met: Set<Int> = []
        return nodes.compactMap { node in
            met.insert(node.resolved.number).inserted ? object(of: node) as? Root : nil
        }
    }

    private func object(of node: ImportNode) -> NSManagedObject? {
        guard let object = node.resolved.object, !object.isDeleted else { return nil }
        return target === session.context ? object : target.object(with: object.objectID)
    }
}
