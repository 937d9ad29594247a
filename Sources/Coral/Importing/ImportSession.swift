import CoreData
import GraphDocuments

/// One run of an importer: reads the document, matches records with objects, and makes the changes in the import's own
/// context.
package final class ImportSession {
    /// The context in which the changes are made.
    package let context: NSManagedObjectContext
    package let options: ImportOptions
    package let model: ImportModel
    package let payload: ImportPayload
    package private(set) var changes: ImportChanges
    /// The nodes whose records were omitted because of errors.
    package private(set) var refusedNodes: [ImportNode] = []
    /// The number of records that were omitted because of errors.
    package var omittedRecordCount: Int { refusedNodes.reduce(0) { $0 + $1.records.count } }
    package let progress: Progress?
    /// The part of the work that is done: everything, or a step of an import in batches.
    package let part: Part
    /// The relationships to records that were not read yet, by the id of the record: those that a batch defers, or
    /// those that a later pass sets.
    package var deferred: [RecordID: DeferredLinks] = [:]
    /// The relationships that objects of this batch require and that records of later batches may still set.
    package private(set) var requirements: [OpenRequirement] = []
    /// The children that have lost their owner in this batch, and that records of later batches may still give one.
    package private(set) var ownerless: [OpenRequirement] = []
    /// The objects that the policy `replace` has removed in this batch, and that records of other batches may list or state.
    package private(set) var orphans: [RemovedMember] = []
    /// The nodes that are omitted because they have no key: see `ImportOptions.mustHaveKeys`.
    package private(set) var omitted: Set<Int> = []
    /// The node of the object that the caller populates; nil for other imports.
    private var populatedRoot: ImportNode?
    /// The nodes of the populated object and of its owned children, whose owned children are replaced.
    package private(set) var populated: Set<Int> = []

    /// A relationship that an object lacks, and the id of the object's record.
    package typealias OpenRequirement = (requirement: ImportRequirement, object: NSManagedObject, record: RecordID?)

    package enum Part {
        case all
        /// Some consecutive records of a document. Relationships to records that were not read yet are deferred.
        case batch
        /// The deferred relationships of some records, after all batches.
        case deferredLinks
    }

    /// Whether objects may be saved that lack required relationships: the context does not validate what it saves.
    package let defersRequirements: Bool

    /// - Parameter context: The session's own context.
    /// - Parameter defersRequirements: Whether the context saves objects that lack required relationships.
    /// Throws `ImportError` if the options do not fit the model.
    package init(
        _ context: NSManagedObjectContext, options: ImportOptions, progress: Progress?, part: Part = .all,
        model: ImportModel? = nil, defersRequirements: Bool = false
    ) throws {
        guard let coordinator = ImportSession.coordinator(of: context) else {
            throw ImportError(.noContext, "The context has no persistent store coordinator.")
        }
        self.context = context
        self.options = options.named(in: coordinator.managedObjectModel)
        self.progress = progress
        self.part = part
        self.defersRequirements = defersRequirements
        self.model = try model ?? ImportModel(coordinator.managedObjectModel, options: options)
        payload = ImportPayload(self.model)
        changes = ImportChanges(limit: options.entryLimit)
    }

    package static func coordinator(of context: NSManagedObjectContext) -> NSPersistentStoreCoordinator? {
        sequence(first: context, next: \.parent).lazy.compactMap(\.persistentStoreCoordinator).first
    }

    // MARK: - Steps

    package func read(_ source: ImportSource, rootEntity: String?) throws {
        try source.read(
            into: payload, options: options.reading(for: model, rootEntity: rootEntity), progress: progress)
    }

    /// Binds a record at the top of the document to an object, whatever its key: the record with the object's URI, else
    /// the first of the object's entity.
    package func bindRoot(to object: NSManagedObject) throws {
        let uri = object.objectID.uriRepresentation()
        let roots = payload.roots.map(\.resolved)
        let root =
            roots.first { $0.id?.uri(inStore: payload.header?.storeUUID) == uri }
            ?? roots.first { object.entity.isKindOf(entity: $0.entity.entity) } ?? roots.first
        guard let root else {
            throw ImportError(.misuse, "The document has no record for the object.")
        }
        guard object.entity.isKindOf(entity: root.entity.entity) else {
            throw ImportError(
                .wrongEntity, "A record of \(root.entity.name) cannot fill an object of \(object.entity.name ?? "").",
                at: root.place, record: root.id, entity: root.entity.name)
        }
        root.matchedID = object.objectID
        root.isBound = true
        root.isPopulated = true
        root.object = object
        populatedRoot = root
    }

    /// How the document's model differs from the one it is imported into.
    package private(set) lazy var modelDifferences: [DocumentModelDifference] =
        ImportSession.coordinator(of: context)
        .map { DocumentModelDifference.differences(of: payload.header, to: $0.managedObjectModel) } ?? []

    /// The policy for members that the model does not have; in a document of another model version, `otherModel`
    /// determines it.
    package var unknownKeys: UnknownKeyPolicy {
        guard let policy = options.otherModel, !modelDifferences.isEmpty else { return options.unknownKeys }
        return policy
    }

    /// Matches records with objects and makes the changes. Afterwards `changes` list them; they are not yet visible to
    /// other contexts.
    package func perform() throws {
        payload.link()
        var matcher = IdentityMatcher(
            payload: payload, context: context, options: options, progress: progress)
        try matcher.match()
        if options.mustHaveKeys { omitted = KeylessRecords.match(in: payload) }
        if let populatedRoot {
            populated = try OwnedChildMatcher(options).match(below: populatedRoot.resolved)
        }
        try checkCancelled()
        // Without `skipsInvalid` the errors stop the import, and the other records are still examined.
        var excluded = options.skipsInvalid ? Set(matcher.refused.map(\.resolved.number)) : []
        var leftOut: [ImportError] = []
        var leftOutCount = 0
        while true {
            var performer = ImportPerformer(self, excluded: excluded)
            performer.changes.take(matcher.conflicts, matcher.errors + leftOut)
            // Errors that are not kept are counted.
            performer.changes.errors.count(leftOutCount - leftOut.count)
            try performer.performSteps()
            changes = performer.changes
            if part == .batch { deferred = performer.deferredLinks }
            (requirements, ownerless) = (performer.requirements, performer.ownerless)
            orphans = part == .all ? [] : performer.orphans
            let refused = performer.refused.subtracting(excluded)
            guard options.skipsInvalid, !refused.isEmpty else {
                refusedNodes = excluded.sorted().map { payload.nodes[$0] }
                return
            }
            // Those of the matcher come first.
            leftOut = Array(performer.changes.errors.kept.dropFirst(matcher.errors.count))
            leftOutCount = performer.changes.errors.count - matcher.errors.count
            // A refused record may already be the destination of relationships, so all changes are made again without it.
            excluded.formUnion(refused)
            context.rollback()
            for node in payload.nodes where node.matchedID == nil { node.object = nil }
        }
    }

    /// Whether the relationship at a position in a record was deferred.
    package func isDeferred(_ position: Int, of record: RecordID) -> Bool {
        deferred[record]?.contains(position) ?? false
    }

    package func checkCancelled() throws {
        if progress?.isCancelled == true { throw CocoaError(.userCancelled) }
    }
}
