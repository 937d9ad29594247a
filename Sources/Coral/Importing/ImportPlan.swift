import CoreData
import GraphDocuments

/// The changes that an import would make, computed by making them in a private context.
///
///     let plan = try GraphImporter(into: context).plan(json, as: Note.self)
///     print(plan.summary)
///     let notes = try plan.apply()
///
/// Use a plan on the queue of the context it was made for. Objects of that context change only with `apply()`, and a plan that is
/// released without it has no effect.
public final class ImportPlan<Root: NSManagedObject> {
    private let session: ImportSession
    private let target: NSManagedObjectContext
    private var isApplied = false

    init(_ session: ImportSession, target: NSManagedObjectContext) {
        self.session = session
        self.target = target
    }

    /// Objects to insert.
    public var inserts: CountedEntries<ImportChange> { session.changes.inserts }
    /// Objects whose values change.
    public var updates: CountedEntries<ImportChange> { session.changes.updates }
    /// Relationships that change. Of the two sides of a relationship, the one that the document mentions first is
    /// listed; the inverse follows.
    public var links: CountedEntries<ImportLink> { session.changes.links }
    /// Objects to delete.
    public var deletions: CountedEntries<ImportDeletion> { session.changes.deletions }
    /// Conflicts that were resolved by policies.
    public var conflicts: CountedEntries<ImportConflict> { session.changes.conflicts }
    /// Errors of records. A plan with errors can be applied only if `skipsInvalid` has omitted the invalid records.
    public var errors: CountedEntries<ImportError> { session.changes.errors }
    /// Values whose files did not exist when the document was written: see `ImportOptions.missingFiles`.
    public var missingFiles: CountedEntries<UnresolvableReference> { session.changes.missingFiles }
    /// How the document's model differs from the one that it is imported into; empty if it does not differ, or if the
    /// document does not describe its model.
    package var modelDifferences: [DocumentModelDifference] { session.modelDifferences }
    /// The document's header.
    package var header: DocumentHeader? { session.payload.header }
    /// The number of records read.
    public var recordCount: Int { session.payload.recordCount }
    /// The number of records that are omitted because of errors, which may be several for a record: see
    /// `ImportOptions.skipsInvalid`.
    public var omittedRecordCount: Int { session.omittedRecordCount }

    /// One line: `1 insert, 12 updates, 3 links, 0 errors`. Objects that are removed from relationships and stay, deletions, missing files, conflicts, omitted records, and members that the
    /// model does not have are included if there are any.
    public var summary: String {
        var parts = [counted(inserts.count, "insert"), counted(updates.count, "update"), counted(links.count, "link")]
        if session.changes.unlinkedCount > 0 { parts.append(counted(session.changes.unlinkedCount, "unlinked object")) }
        if !deletions.isEmpty { parts.append(counted(deletions.count, "deletion")) }
        if !missingFiles.isEmpty { parts.append(counted(missingFiles.count, "missing file")) }
        if !conflicts.isEmpty { parts.append(counted(conflicts.count, "conflict")) }
        parts.append(counted(errors.count, "error"))
        if omittedRecordCount > 0 { parts.append(counted(omittedRecordCount, "omitted record")) }
        let unknown = session.changes.unknownMembers
        if !unknown.isEmpty {
            let names = unknown.kept.joined(separator: ", ")
            parts.append("\(counted(unknown.count, "unknown member")) (\(names)\(unknown.keepsNext ? "" : ", …"))")
        }
        return parts.joined(separator: ", ")
    }

    /// The new objects that nothing could have identified: their entities have no key, and the document is not from one of the
    /// context's stores. Each of them is inserted, whatever the stores contain. The entities' names, and the numbers of objects.
    package var unidentified: [(entity: String, count: Int)] {
        let options = session.options
        guard !options.identity.matchesContent else { return [] }
        let stores = ImportSession.coordinator(of: target)?.persistentStores ?? []
        let isOfStore = stores.contains { $0.identifier != nil && $0.identifier == header?.storeUUID }
        var counts: [String: Int] = [:]
        for node in session.payload.nodes where node.resolved === node && !node.isReference && !node.isTombstone {
            guard node.object != nil, node.matchedID == nil, node.entity.rules.isEmpty, node.keyNames == nil,
                !(isOfStore && node.id != nil)
            else { continue }
            counts[node.entity.name, default: 0] += 1
        }
        return counts.map { (entity: $0.key, count: $0.value) }.sorted { $0.entity < $1.entity }
    }

    /// Whether the plan has no changes.
    public var isEmpty: Bool { inserts.isEmpty && updates.isEmpty && links.isEmpty && deletions.isEmpty }

    /// Makes the changes in the context: all of them, unsaved, or on any error none. Returns the objects at the top of the
    /// document, in its order. Of a document that `encoded()` has written these are the objects that were encoded, without those
    /// that they own; `objects` has all.
    ///
    /// Throws the first `ImportError`, which contains the others, if the plan has errors; else errors of saving to a
    /// parent context. Throws `ImportError` with the code `outdatedPlan` if an object was changed or deleted in the context
    /// after the plan was made, or if an object with the key of one that the plan inserts is in the context or was saved by another
    /// one: then make another plan. A plan can be applied only once.
    ///
    /// Cost: one fetch for each key and batch of objects to insert. No fetch excludes that another process saves such an object
    /// between `apply` and the save: only a uniqueness constraint and `GraphImporter.importInBatches` do.
    @discardableResult
    public func apply() throws -> [Root] { try apply(isNew: false) }

    /// - Parameter isNew: Whether the plan was made just now, so that no key is searched for again.
    @discardableResult
    package func apply(isNew: Bool) throws -> [Root] {
        guard !isApplied else { throw ImportError(.misuse, "The plan has been applied already.") }
        if !session.options.skipsInvalid, let error = errors.combined {
            if session.context === target { target.rollback() }
            throw error
        }
        do {
            if !isNew { try PlannedKeys(of: session).requireNew(in: target) }
            if session.context !== target { try PlannedState(of: session).requireUnchanged(in: target) }
        } catch {
            if session.context === target {
                isApplied = true
                target.rollback()
            }
            throw error
        }
        if session.context !== target {
            isApplied = true
            try session.context.performAndWait {
                // The objects were validated when the plan was made; stubs are exempt.
                Engine.current.stopValidating(session.context)
                if session.context.hasChanges { try session.context.save() }
            }
        }
        isApplied = true
        return objects(of: session.payload.roots)
    }

    /// Applies the plan, and returns what `apply` returns. Throws, with nothing changed, if the document has objects at its top, but
    /// none of the class.
    package func applyForRoots() throws -> [Root] {
        let objects = session.context.performAndWait {
            session.payload.roots.compactMap(\.resolved.object).filter { !$0.isDeleted }
        }
        guard objects.isEmpty || objects.contains(where: { $0 is Root }) else { return [try applyForRoot()] }
        return try apply(isNew: true)
    }

    /// Applies the plan, and returns the first object that `apply` returns. Throws if there is none; then nothing has changed.
    package func applyForRoot() throws -> Root {
        let isValid = errors.isEmpty || session.options.skipsInvalid
        let missing = ImportError(.misuse, "The document contains no object of \(Root.self).")
        let hasRoot = session.context.performAndWait {
            session.payload.roots.contains { ($0.resolved.object as? Root)?.isDeleted == false }
        }
        guard hasRoot || !isValid else {
            if session.context === target { target.rollback() }
            throw missing
        }
        guard let object = try apply(isNew: true).first else { throw missing }
        return object
    }

    /// The objects of all records, whether they are at the document's top or inside others; empty before `apply`. An
    /// object that the document only refers to is not among them, nor is one that was deleted.
    public var objects: [NSManagedObject] {
        guard isApplied else { return [] }
        return session.payload.nodes.filter { $0.resolved === $0 && !$0.isReference }.compactMap { object(of: $0) }
    }

    /// The object of a record, in the context that the plan was made for; nil before `apply`, and for a record that was
    /// omitted.
    public subscript(record: RecordID) -> NSManagedObject? {
        guard isApplied else { return nil }
        return session.payload.node(with: record).flatMap { object(of: $0) }
    }

    /// The object IDs of all records with an id, by that id; empty before `apply`. IDs of new objects are temporary
    /// until the context is saved.
    package var objectIDs: [RecordID: NSManagedObjectID] {
        guard isApplied else { return [:] }
        var ids: [RecordID: NSManagedObjectID] = [:]
        for (id, node) in session.payload.identifiedNodes {
            ids[id] = object(of: node)?.objectID
        }
        return ids
    }

    /// Calls a closure with the plan's own objects, by the ids of their records, and their context, before the plan is applied. Does
    /// nothing for a plan that cannot be applied.
    package func tryOut(_ body: ([RecordID: NSManagedObject], NSManagedObjectContext) throws -> Void) throws {
        guard session.context !== target, errors.isEmpty || session.options.skipsInvalid else { return }
        try session.context.performAndWait {
            let objects = session.payload.identifiedNodes.compactMap { id, node in node.object.map { (id, $0) } }
            try body(Dictionary(objects, uniquingKeysWith: { $1 }), session.context)
        }
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

/// The changes of an import.
package struct ImportChanges {
    package var inserts: CountedEntries<ImportChange>
    package var updates: CountedEntries<ImportChange>
    package var links: CountedEntries<ImportLink>
    package var deletions: CountedEntries<ImportDeletion>
    package var conflicts: CountedEntries<ImportConflict>
    package var errors: CountedEntries<ImportError>
    package var missingFiles: CountedEntries<UnresolvableReference>
    /// Members that the model does not have and that the policy ignores: their number, and the first names.
    package private(set) var unknownMembers = CountedEntries<String>(limit: 3)
    /// The number of objects that are removed from relationships, and neither replaced nor deleted.
    package var unlinkedCount = 0

    package init(limit: Int) {
        inserts = CountedEntries(limit: limit)
        updates = CountedEntries(limit: limit)
        links = CountedEntries(limit: limit)
        deletions = CountedEntries(limit: limit)
        conflicts = CountedEntries(limit: limit)
        errors = CountedEntries(limit: limit)
        missingFiles = CountedEntries(limit: limit)
    }

    package mutating func addUnknownMember(_ name: @autoclosure () -> String) {
        guard unknownMembers.keepsNext else { return unknownMembers.count(1) }
        let name = name()
        if unknownMembers.kept.contains(name) { unknownMembers.count(1) } else { unknownMembers.add(name) }
    }

    package mutating func take(_ conflicts: [ImportConflict], _ errors: [ImportError]) {
        for conflict in conflicts { self.conflicts.add(conflict) }
        for error in errors { self.errors.add(error) }
    }
}
