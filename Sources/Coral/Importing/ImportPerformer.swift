import CoreData
import GraphDocuments

/// Makes the changes of an import in the import's own context, and records them.
final class ImportPerformer {
    let session: ImportSession
    let context: NSManagedObjectContext
    let options: ImportOptions
    var changes: ImportChanges
    /// Nodes that have errors.
    var refused: Set<Int> = []
    /// Nodes that an earlier pass has refused; they are omitted.
    let excluded: Set<Int>
    /// The nodes to import.
    private let nodes: [ImportNode]
    let conversion: ValueConversion
    let equality: ValueEquality
    /// The nodes by their objects, built at the first lookup: for messages, and for exempting objects from validation.
    private var nodesByObject: [ObjectIdentifier: ImportNode]?
    /// The nodes whose object has only the key values of the references to it.
    private var stubs: [ImportNode] = []
    /// The nodes with relationships to records that were not read yet.
    var deferred: Set<Int> = []
    /// The relationships to records that were not read yet, by the id of the record that has them.
    var deferredLinks: [RecordID: DeferredLinks] = [:]
    /// The relationships that objects lack and that records of later batches may still set.
    var requirements: [ImportSession.OpenRequirement] = []
    /// Matched nodes whose records change nothing: excluded by the options, or not newer.
    var untouched: Set<Int> = []
    /// The stated destinations of to-one relationships, for each node.
    var claims: [DestinationClaims]
    /// Objects removed from a relationship with the policy `replace`.
    var orphans: [RemovedMember] = []
    /// Objects removed from a relationship that owns them, and not deleted for that.
    var removedChildren: [(object: NSManagedObject, relationship: RelationshipImport)] = []
    /// The removed children that have no owner after a batch, and that records of later batches may still give one.
    var ownerless: [ImportSession.OpenRequirement] = []
    var explicitDeletions: Set<NSManagedObjectID> = []
    let unknownKeys: UnknownKeyPolicy

    init(_ session: ImportSession, excluded: Set<Int>) {
        self.session = session
        self.excluded = excluded
        nodes = session.payload.nodes.filter { node in
            node.resolved === node && !node.isReference && !excluded.contains(node.number)
        }
        claims = Array(repeating: DestinationClaims(), count: session.payload.nodes.count)
        context = session.context
        options = session.options
        changes = ImportChanges(limit: session.options.entryLimit)
        unknownKeys = session.unknownKeys
        equality = ValueEquality(
            session.options, hasHeader: session.payload.header != nil,
            coordinator: ImportSession.coordinator(of: session.context))
        // A store is restored as it was: a column that is no decimal was exported as NaN.
        let permitsNaN = session.options.keepsSidesApart || !equality.comparesDecimalsAsDoubles
        conversion = ValueConversion(session.options, permitsNaN: permitsNaN)
    }

    /// Whether the session sets relationships only, of objects whose values were set by an earlier one.
    private var setsLinksOnly: Bool { session.part == .deferredLinks }

    private func didProcess() {
        if session.part == .all { session.progress?.completedUnitCount += 1 }
    }

    // MARK: - Objects

    /// Inserts the object of a new node; determines whether a matched object is updated.
    private func prepare(_ node: ImportNode) throws {
        for record in node.repeatedRecords {
            refuse(
                node, .repeatedID,
                "Another record already has the id \(record.record.id). The ids of records must be unique.",
                at: record.place)
        }
        guard !node.isTombstone else { return }
        checkUnknownKeys(of: node)
        for record in node.records {
            for mistake in record.details?.mistakes ?? [] {
                refuse(
                    node, .wrongValue, mistake.message, at: mistake.property.map(record.place(of:)) ?? record.place,
                    property: mistake.property)
            }
        }
        let operations = node.isTop ? options.operations : options.relationshipOperations ?? options.operations
        if let object = node.object {
            guard object.entity.isKindOf(entity: node.entity.entity) else {
                return refuse(
                    node, .wrongEntity,
                    "The record is a \(node.entity.name), but the object with its key is a "
                        + "\(object.entity.name ?? "").")
            }
            // The record states an ancestor of the stored object's entity; the latter is used.
            if let own = session.model.entity(object.entity), own !== node.entity { node.entity = own }
            let isWanted =
                operations.contains(.update) && !isOlder(node, than: object) && shouldImport(node, object)
            if !isWanted { untouched.insert(node.number) }
            return
        }
        guard !session.omitted.contains(node.number) else {
            changes.conflicts.add(
                ImportConflict(
                    subject: node.subject, property: nil,
                    message: "A \(node.entity.name) without its primary key is omitted."))
            return
        }
        guard operations.contains(.insert), shouldImport(node, nil) else { return }
        guard !node.entity.entity.isAbstract || options.insertsAbstractEntities else {
            return refuse(node, .wrongEntity, "\(node.entity.name) is abstract and has no objects of its own.")
        }
        node.object = try makeObject(node)
        if node.records.allSatisfy({ $0.details?.isReference == true }) { noteStub(node) }
    }

    func makeObject(_ node: ImportNode) throws -> NSManagedObject {
        try options.makesObject(node.entity.entity, node.id, context)
    }

    /// Marks a node whose object is incomplete.
    func noteStub(_ node: ImportNode) {
        node.isStub = true
        stubs.append(node)
        if let object = node.object { nodesByObject?[ObjectIdentifier(object)] = node }
    }

    /// Whether some objects that a save would write are exempt from validation.
    var hasExemptions: Bool { !stubs.isEmpty || !deferred.isEmpty }

    /// The node of an object that has a record or is a stub. Called after all objects are assigned.
    func node(of object: NSManagedObject) -> ImportNode? {
        if let nodesByObject { return nodesByObject[ObjectIdentifier(object)] }
        var nodesByObject: [ObjectIdentifier: ImportNode] = [:]
        for node in objectNodes + stubs {
            if let object = node.object { nodesByObject[ObjectIdentifier(object)] = node }
        }
        self.nodesByObject = nodesByObject
        return nodesByObject[ObjectIdentifier(object)]
    }

    /// The nodes with records that are not tombstones.
    var objectNodes: [ImportNode] { nodes.filter { !$0.isTombstone } }

    private func isChangeable(_ node: ImportNode) -> Bool {
        node.object != nil && !node.isTombstone && !untouched.contains(node.number) && !refused.contains(node.number)
    }

    private func checkUnknownKeys(of node: ImportNode) {
        let policy = unknownKeys
        guard node.records.contains(where: { !$0.unknownMembers.isEmpty }) else { return }
        if policy == .skip {
            // A mapping uses a part of the document on purpose.
            guard options.mapping == nil else { return }
            for record in node.records {
                for member in record.unknownMembers {
                    changes.addUnknownMember("\(node.entity.name).\(member.name.prefix(100))")
                }
            }
            return
        }
        let properties = node.entity.entity.propertiesByName.keys
        for record in node.records {
            for member in record.unknownMembers {
                // The message is built only for entries that are kept, because a document may have a million such members.
                func message() -> String {
                    let name = member.name.count > 100 ? "\(member.name.prefix(100))…" : member.name
                    return "\(node.entity.name) has no property \"\(name)\"."
                        + NameSuggestion.question(for: member.name, in: properties)
                }
                if policy == .fail {
                    refuse(node, .unknownKey, message(), at: member.place, property: member.name)
                } else {
                    changes.conflicts.add(
                        ImportConflict(
                            subject: node.subject(at: member.place), property: member.name, value: member.value,
                            message: message()))
                }
            }
        }
    }

    /// Records which entities of the document's model are skipped.
    private func notePassedOver() {
        guard options.otherModel == .record else { return }
        for difference in session.modelDifferences where difference.kind == .onlyInDocument {
            let subject = ImportSubject(
                entity: difference.entity, record: nil, object: nil, place: nil, label: difference.entity)
            changes.conflicts.add(
                ImportConflict(
                    subject: subject, property: nil,
                    message: "\(difference) Its records are omitted."))
        }
    }

    /// Whether the record's value of the newer attribute is not greater than the object's.
    private func isOlder(_ node: ImportNode, than object: NSManagedObject) -> Bool {
        guard let name = node.entity.newerAttribute, let attribute = node.entity.attributes[name],
            let given = node.value(of: name).flatMap({ conversion.convert($0, to: attribute) }),
            let current = try? attribute.value(of: object), !current.isNull
        else { return false }
        switch (given, current) {
        case (.date(let a), .date(let b)): return a <= b + equality.dateTolerance
        case (.integer(let a), .integer(let b)): return a <= b
        case (.double(let a), .double(let b)): return a <= b
        case (.float(let a), .float(let b)): return a <= b
        case (.decimal(let a), .decimal(let b)): return a <= b
        case (.string(let a), .string(let b)): return a <= b
        default: return false
        }
    }

    // MARK: - Hooks

    private func shouldImport(_ node: ImportNode, _ object: NSManagedObject?) -> Bool {
        guard !options.hooks.shouldImport.isEmpty, let record = node.records.last?.record else { return true }
        return hook(options.hooks.shouldImport, node.entity)?(record, object) ?? true
    }

    func callWillImport(_ node: ImportNode, _ object: NSManagedObject) {
        guard !options.hooks.willImport.isEmpty, let record = node.records.last?.record else { return }
        hook(options.hooks.willImport, node.entity)?(record, object)
    }

    private func callDidImport(_ node: ImportNode) {
        guard !options.hooks.didImport.isEmpty, let record = node.records.last?.record, let object = node.object
        else { return }
        hook(options.hooks.didImport, node.entity)?(record, object)
    }

    func hook<Hook>(_ hooks: [String: Hook], _ entity: EntityImport, _ property: String? = nil) -> Hook? {
        guard !hooks.isEmpty else { return nil }
        let suffix = property.map { ".\($0)" } ?? ""
        for ancestor in sequence(first: entity.entity, next: \.superentity) {
            if let hook = hooks["\(ancestor.name ?? "")\(suffix)"] { return hook }
        }
        return hooks["*\(suffix)"]
    }

    // MARK: - Errors

    func refuse(
        _ node: ImportNode, _ code: ImportError.Code, _ message: @autoclosure () -> String,
        at place: @autoclosure () -> DocumentPlace? = nil, property: String? = nil, rule: Int? = nil
    ) {
        refused.insert(node.number)
        func error() -> ImportError {
            ImportError(
                code, message(), at: place() ?? node.place, record: node.id, entity: node.entity.name,
                property: property, object: node.matchedID?.uriRepresentation().absoluteString,
                ruleCode: rule)
        }
        changes.errors.add(error())
    }
}

// Errors of records are recorded; errors of fetching are thrown.
extension ImportPerformer: ImportSteps {
    func assignObjects() throws {
        if session.part == .all { session.progress?.begin(nodes.count * 2) }
        if !setsLinksOnly { notePassedOver() }
        for node in nodes {
            try session.checkCancelled()
            if !setsLinksOnly { try prepare(node) }
        }
    }

    func setValues() throws {
        for node in nodes where !setsLinksOnly && isChangeable(node) {
            try session.checkCancelled()
            setValues(of: node)
            didProcess()
        }
    }

    func setLinks() throws {
        for node in nodes where isChangeable(node) {
            try session.checkCancelled()
            setLinks(of: node)
            didProcess()
        }
        if !setsLinksOnly { try linkToOwner() }
        for node in nodes where isChangeable(node) && !deferred.contains(node.number) { callDidImport(node) }
    }

    func deleteObjects() throws {
        if options.operations.contains(.delete) { try delete(nodes) }
        context.processPendingChanges()
        noteDeletionsByRule()
        noteOwnerless()
    }

    func validate() { validateChanges() }
}
