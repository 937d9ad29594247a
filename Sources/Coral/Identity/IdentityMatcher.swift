import CoreData
import GraphDocuments

/// Determines which nodes represent the same object, and which objects of the context they represent. The rules are those
/// of `RecordMatching`. Matching by ids of the same store and by contents, which an import by rows does not support, is
/// implemented here.
///
/// Cost: in each round one fetch for each key and batch.
struct IdentityMatcher {
    private let payload: ImportPayload
    private let context: NSManagedObjectContext
    private let options: ImportOptions
    private let conversion: ValueConversion
    private let lookup: IdentityLookup
    /// The context's coordinator, cached because it is used for every node.
    private let coordinator: NSPersistentStoreCoordinator?
    private var index: [IdentityKey: ImportNode] = [:]
    /// The nodes that were matched by the ids of the same store, if these take precedence over keys.
    private var nodesByURI: [NSManagedObjectID: ImportNode] = [:]
    /// The keys of the round that are looked up, by rule. There are few rules.
    private var wanted: [(rule: IdentityRule, keys: [IdentityKey])] = []
    /// The nodes of the round that are matched by their contents.
    private var nodesByContent: [ImportNode] = []
    private(set) var conflicts: [ImportConflict] = []
    private(set) var errors: [ImportError] = []
    /// The nodes with errors, which may have been merged since.
    private(set) var refused: [ImportNode] = []

    init(
        payload: ImportPayload, context: NSManagedObjectContext, options: ImportOptions, progress: Progress? = nil
    ) {
        self.payload = payload
        self.context = context
        self.options = options
        conversion = ValueConversion(options)
        coordinator = ImportSession.coordinator(of: context)
        lookup = IdentityLookup(
            context: context, model: payload.model, batchSize: options.lookupSize, progress: progress)
    }

    /// Resolves every node: afterwards it is matched with an object, or needs a new one. Throws the errors of fetching.
    mutating func match() throws {
        index.reserveCapacity(payload.nodes.count)
        try matchRounds(payload.nodes)
    }

    // MARK: - Keys of nodes

    /// The destination of a relationship that is part of a key.
    private func target(of name: String, _ node: ImportNode) -> ImportNode? {
        if let link = node.link(of: name) {
            guard case .toOne(let target) = link.destinations else { return nil }
            return target?.resolved
        }
        return (node.parents[name] ?? node.referencedNodes[name])?.resolved
    }

    /// The keys of a node whose values are all known.
    private func knownKeys(of node: ImportNode) -> [IdentityKey] {
        let named = node.keyNames.map { [rule(for: $0, of: node.entity)] }
        return (named ?? node.entity.rules).compactMap { rule in
            rule.key { part in
                switch part {
                case .attribute(let name):
                    guard let attribute = node.entity.attributes[name], let value = node.value(of: name) else {
                        return nil
                    }
                    return conversion.convert(value, to: attribute).map { .value($0) }
                case .relationship(let name):
                    guard let target = target(of: name, node) else { return nil }
                    return target.matchedID.map { .object($0) } ?? .node(target.number)
                }
            }
        }
    }

    /// The rule with the given attributes: the entity's own rule if it has the same ones, else a new rule.
    private func rule(for names: [String], of entity: EntityImport) -> IdentityRule {
        if let own = entity.rules.first(where: { $0.parts.map(\.name) == names }) { return own }
        // The key is unique among the objects of the topmost ancestor that has the attributes.
        let eldest = Array(sequence(first: entity.entity, next: \.superentity)).last { ancestor in
            names.allSatisfy { ancestor.attributesByName[$0] != nil }
        }
        return IdentityRule(entity: eldest?.name ?? entity.name, parts: names.map { .attribute($0) })
    }

    // MARK: - URIs

    /// The object in a store of the context that a node's id identifies.
    private func objectID(of node: ImportNode) -> NSManagedObjectID? {
        guard options.identity.usesObjectURIs, let id = node.id, !id.isNaturalKey, let coordinator else { return nil }
        // The entity may have been renamed since the document was written.
        let entity = id.entity.flatMap { payload.model.entity($0)?.name }
        return id.uri(inStore: payload.header?.storeUUID, entity: entity)
            .flatMap { coordinator.managedObjectID(forURIRepresentation: $0) }
    }

    fileprivate mutating func matchURIs(_ nodes: [NSManagedObjectID: [ImportNode]]) throws {
        for object in try lookup.objects(with: Array(nodes.keys)) {
            var first: ImportNode?
            for node in nodes[object.objectID] ?? [] {
                let node = node.resolved
                if let first, first !== node { first.absorb(node) }
                first = first ?? node
            }
            first?.matchedID = object.objectID
            first?.object = object
            if options.identity.prefersObjectURIs { nodesByURI[object.objectID] = first }
        }
    }

    /// For references whose key belongs to no object, finds the objects by their ids in the same store, because the keys may
    /// have changed since the export. Each is reported as a conflict. Cost: a fetch for each entity of such references.
    fileprivate mutating func matchReferencesByID(_ nodes: [ImportNode]) throws {
        var named: [NSManagedObjectID: ImportNode] = [:]
        for node in nodes where node.resolved.isReference && node.resolved.matchedID == nil && !node.keys.isEmpty {
            if let id = objectID(of: node) { named[id] = node.resolved }
        }
        guard !named.isEmpty else { return }
        for object in try lookup.objects(with: Array(named.keys)) {
            guard let node = named[object.objectID] else { continue }
            node.matchedID = object.objectID
            node.object = object
            conflicts.append(
                ImportConflict(
                    subject: node.subject, property: node.keys.first?.rule.parts.first?.name,
                    message: "No \(node.entity.name) has the key in \(node.label); the object with its id is used."))
        }
    }

    /// Records a conflict for each node with the id of a stored object that has a different key. Cost: a fetch for
    /// those nodes whose key matches another object or none.
    fileprivate mutating func noteOtherIDs(_ nodes: [ImportNode]) throws {
        guard !options.identity.prefersObjectURIs else { return }
        var named: [NSManagedObjectID: ImportNode] = [:]
        for node in nodes where !node.keys.isEmpty && !node.resolved.isReference && !node.resolved.isBound {
            guard let id = objectID(of: node), id != node.resolved.matchedID else { continue }
            named[id] = node
        }
        guard !named.isEmpty else { return }
        for object in try lookup.objects(with: Array(named.keys)) {
            guard let node = named[object.objectID] else { continue }
            noteOtherObject(node, object.objectID, keyDecides: true)
        }
    }

    /// Records the conflict of a node whose id and key belong to two objects. Records with the same key are already one
    /// node; the conflict names the record that has the id.
    fileprivate mutating func noteOtherObject(_ node: ImportNode, _ other: NSManagedObjectID, keyDecides: Bool) {
        func name(_ id: NSManagedObjectID) -> String {
            "\(id.entity.name ?? "")/\(id.uriRepresentation().lastPathComponent)"
        }
        let known = node.resolved.matchedID.map(name)
        let message: String
        if !keyDecides {
            message =
                "The record has the id of \(known ?? "") and the key of \(name(other)). Ids take precedence: "
                + "\(known ?? "") is updated, and then both objects have the same key."
        } else if let known {
            message =
                "The record has the id of \(name(other)) and the key of \(known). Keys take precedence: "
                + "\(known) is updated."
        } else {
            message =
                "The record has the id of \(name(other)) and another key. Keys take precedence: "
                + "a new object is inserted."
        }
        var subject = node.resolved.subject
        subject.record = node.id
        subject.place = node.resolved.records.first { $0.record.id == node.id }?.place ?? subject.place
        subject.label = node.id?.text ?? subject.label
        conflicts.append(
            ImportConflict(subject: subject, property: node.keys.first?.rule.parts.first?.name, message: message))
    }

    // MARK: - Content

    private func matchContent(_ nodes: [ImportNode]) throws {
        for (_, group) in Dictionary(grouping: nodes, by: { $0.entity.name }).sorted(by: { $0.key < $1.key }) {
            guard let entity = group.first?.entity else { continue }
            let contents = group.map { node in
                entity.attributes.values.reduce(into: [String: GraphValue]()) { content, attribute in
                    guard let value = node.value(of: attribute.name) else { return }
                    content[attribute.name] = conversion.convert(value, to: attribute)
                }
            }
            var taken: Set<NSManagedObjectID> = []
            let found = try lookup.objects(of: entity, withContents: contents)
            for (node, objects) in zip(group, found) {
                // Each object is matched with one record only: two records with the same content are two objects.
                guard let object = objects.first(where: { taken.insert($0.objectID).inserted }) else { continue }
                node.matchedID = object.objectID
                node.object = object
            }
        }
    }
}

extension IdentityMatcher: RecordMatching {
    func beginRound() {}

    func isPending(_ node: ImportNode) -> Bool { node.resolved === node && !node.isMatchingComplete }

    func isReady(_ node: ImportNode) -> Bool {
        node.keyNames != nil
            || node.entity.rules.allSatisfy { rule in
                rule.relationships.allSatisfy { target(of: $0, node)?.isMatchingComplete ?? true }
            }
    }

    mutating func refuseUnready(_ nodes: [ImportNode]) {
        for node in nodes {
            node.isMatchingComplete = true
            refused.append(node)
            errors.append(
                ImportError(
                    .ambiguousIdentity, "The key of this \(node.entity.name) contains a cycle.", at: node.place,
                    record: node.id, entity: node.entity.name))
        }
    }

    mutating func prepare(_ nodes: [ImportNode]) throws {
        var byURI: [NSManagedObjectID: [ImportNode]] = [:]
        for node in nodes {
            let keys = knownKeys(of: node)
            node.keys = keys
            guard keys.isEmpty || options.identity.prefersObjectURIs, !node.isBound else { continue }
            if let id = objectID(of: node) {
                byURI[id, default: []].append(node)
            } else if keys.isEmpty, options.identity.matchesContent, !node.isReference, node.entity.rules.isEmpty {
                nodesByContent.append(node)
            }
        }
        if !byURI.isEmpty { try matchURIs(byURI) }
    }

    // MARK: - Keys

    func keys(of node: ImportNode) -> [IdentityKey] { node.keys }

    func holder(of key: IdentityKey) -> ImportNode? { index[key]?.resolved }

    func isSame(_ holder: ImportNode, _ node: ImportNode) -> Bool { holder === node.resolved }

    mutating func hold(_ key: IdentityKey, by node: ImportNode) {
        index[key] = node
        if node.isBound, !node.isPopulated { return }
        if let place = wanted.firstIndex(where: { $0.rule == key.rule }) {
            wanted[place].keys.append(key)
        } else {
            var keys: [IdentityKey] = []
            keys.reserveCapacity(payload.nodes.count)
            keys.append(key)
            wanted.append((key.rule, keys))
        }
    }

    func merge(_ node: ImportNode, into holder: ImportNode) { holder.absorb(node.resolved) }

    // MARK: - Stored objects

    mutating func lookUp() throws {
        for (rule, keys) in wanted {
            for (key, objects) in try lookup.objects(with: keys, of: rule) {
                guard let node = index[key]?.resolved, let object = objects.first else { continue }
                try adopt(object, count: objects.count, for: node, key)
            }
        }
        wanted = []
    }

    /// The node's object, whether it was found by a key, by an id or before.
    func match(of node: ImportNode) -> NSManagedObject? {
        let node = node.resolved
        return node.matchedID.map { node.object ?? context.object(with: $0) }
    }

    func isSame(_ one: NSManagedObject, _ other: NSManagedObject) -> Bool { one.objectID == other.objectID }

    func setMatch(_ object: NSManagedObject, of node: ImportNode) {
        node.resolved.matchedID = object.objectID
        node.resolved.object = object
    }

    mutating func noteSeveral(_ objects: Int, _ node: ImportNode, _ key: IdentityKey) {
        conflicts.append(
            ImportConflict(
                subject: node.subject, property: nil,
                message: "\(objects) stored objects of \(key.rule.entity) have this key; the first is used."))
    }

    mutating func prefers(_ known: NSManagedObject, to other: NSManagedObject, for node: ImportNode) -> Bool {
        if node.resolved.isPopulated {
            let name = ImportSubject.shortName(other.objectID.uriRepresentation().absoluteString)
            conflicts.append(
                ImportConflict(
                    subject: node.resolved.subject, property: node.keys.first?.rule.parts.first?.name,
                    message: "\(name) has the key of the record too: afterwards both objects have it."))
            return true
        }
        guard nodesByURI[known.objectID] === node.resolved else { return false }
        // If the document also contains the other object, it may change that object's key.
        if nodesByURI[other.objectID] == nil { noteOtherObject(node, other.objectID, keyDecides: false) }
        return true
    }

    mutating func refuseAmbiguity(_ node: ImportNode, _ known: NSManagedObject, _ other: NSManagedObject) {
        let (one, two) = (known.objectID, other.objectID)
        node.resolved.rivals += [one, two]
        refused.append(node)
        errors.append(
            ImportError(
                .ambiguousIdentity,
                "The keys of this \(node.entity.name) belong to two objects: \(one.uriRepresentation()) and \(two.uriRepresentation()).",
                at: node.place, record: node.id, entity: node.entity.name))
    }

    mutating func complete(_ nodes: [ImportNode]) throws {
        try matchReferencesByID(nodes)
        try noteOtherIDs(nodes)
        if !nodesByContent.isEmpty { try matchContent(nodesByContent) }
        nodesByContent = []
        for node in nodes { node.resolved.isMatchingComplete = true }
    }
}
