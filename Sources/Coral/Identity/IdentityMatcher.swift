import CoreData
import GraphDocuments

/// Determines which nodes represent the same object, and which objects of the context they are: one index over store,
/// context and payload.
///
/// Works in rounds. Each round looks up the nodes whose keys are known: first those with keys of attributes alone, then
/// those whose keys contain relationships to nodes that are resolved. Cost: in each round one fetch for each key and
/// batch.
final class IdentityMatcher {
    private let payload: ImportPayload
    private let context: NSManagedObjectContext
    private let options: ImportOptions
    private let conversion: ValueConversion
    private let lookup: IdentityLookup
    /// Cached, because every node uses it.
    private let coordinator: NSPersistentStoreCoordinator?
    private var index: [IdentityKey: ImportNode] = [:]
    /// The nodes that were matched by the ids of the same store, if these take precedence over keys.
    private var nodesByURI: [NSManagedObjectID: ImportNode] = [:]
    private(set) var conflicts: [ImportConflict] = []
    private(set) var errors: [ImportError] = []

    init(
        payload: ImportPayload, context: NSManagedObjectContext, options: ImportOptions, progress: Progress? = nil
    ) {
        self.payload = payload
        self.context = context
        self.options = options
        conversion = ValueConversion(options)
        coordinator = ImportSession.coordinator(of: context)
        lookup = IdentityLookup(
            context: context, model: payload.model, batchSize: options.batchSize, progress: progress)
    }

    /// Resolves every node: afterwards it is matched, or new. Throws the errors of fetching.
    func match() throws {
        linkParents()
        var pending = payload.nodes
        while !pending.isEmpty {
            var ready: [ImportNode] = []
            var waiting: [ImportNode] = []
            for node in pending where node.resolved === node && !node.isSettled {
                if isReady(node) { ready.append(node) } else { waiting.append(node) }
            }
            guard !ready.isEmpty else {
                for node in waiting { refuse(node) }
                break
            }
            try resolve(ready)
            pending = waiting
        }
    }

    // MARK: - Parents and keys

    /// Sets the parent of each node in a relationship with a to-one inverse, even if the document does not repeat it.
    /// Creates nodes for references outside of the payload.
    private func linkParents() {
        // The nodes created in this loop have no records, so the current list is sufficient.
        for node in payload.nodes where !node.isReference {
            node.targets = node.records.map { record in
                record.record.relationships.map { relationship in
                    guard let known = node.entity.relationships[relationship.name],
                        let destination = payload.model.entity(known.destination)
                    else { return [] }
                    let back = known.inverse.flatMap { $0.isToMany ? nil : $0.name }
                    return relationship.target.ids.map { id in
                        let target = payload.node(
                            for: id, destination: destination, at: record.place(of: relationship.name))
                        if let back { target.parents[back] = node }
                        return target
                    }
                }
            }
        }
    }

    private func isReady(_ node: ImportNode) -> Bool {
        node.keyNames != nil
            || node.entity.rules.allSatisfy { rule in
                rule.relationships.allSatisfy { name in
                    target(of: name, node)?.isSettled ?? true
                }
            }
    }

    /// The destination of a relationship that is part of a key.
    private func target(of name: String, _ node: ImportNode) -> ImportNode? {
        if let target = node.target(of: name), node.entity.relationships[name] != nil {
            guard case .toOne = target else { return nil }
            return node.targets(of: name).first?.resolved
        }
        return (node.parents[name] ?? node.referencedNodes[name])?.resolved
    }

    /// The keys of a node whose values are all known. A key with a null value is ignored: nulls are never equal.
    private func keys(of node: ImportNode) -> [IdentityKey] {
        let named = node.keyNames.map { [rule(for: $0, of: node.entity)] }
        return (named ?? node.entity.rules).compactMap { rule in
            var parts: [IdentityKey.Part] = []
            for part in rule.parts {
                switch part {
                case .attribute(let name):
                    guard let attribute = node.entity.attributes[name], let value = node.value(of: name),
                        let converted = conversion.convert(value, to: attribute), !converted.isNull
                    else { return nil }
                    parts.append(.value(converted))
                case .relationship(let name):
                    guard let target = target(of: name, node) else { return nil }
                    parts.append(target.matchedID.map { .object($0) } ?? .node(target.number))
                }
            }
            return IdentityKey(rule: rule, parts: parts)
        }
    }

    /// The rule of some attributes; the entity's own, if it is the same.
    private func rule(for names: [String], of entity: EntityImport) -> IdentityRule {
        if let own = entity.rules.first(where: { $0.parts.map(\.name) == names }) { return own }
        // The key is unique among the objects of the topmost ancestor that has the attributes.
        let eldest = Array(sequence(first: entity.entity, next: \.superentity)).last { ancestor in
            names.allSatisfy { ancestor.attributesByName[$0] != nil }
        }
        return IdentityRule(entity: eldest?.name ?? entity.name, parts: names.map { .attribute($0) })
    }

    private func refuse(_ node: ImportNode) {
        node.isSettled = true
        errors.append(
            ImportError(
                .ambiguousIdentity, "The key of this \(node.entity.name) contains a cycle.", at: node.place,
                record: node.id, entity: node.entity.name))
    }

    // MARK: - One round

    private func resolve(_ nodes: [ImportNode]) throws {
        var byRule: [IdentityRule: [IdentityKey]] = [:]
        var order: [IdentityRule] = []
        var byURI: [NSManagedObjectID: [ImportNode]] = [:]
        var byContent: [ImportNode] = []
        for node in nodes {
            let keys = keys(of: node)
            node.keys = keys
            if keys.isEmpty || options.identity.prefersObjectURIs, !node.isBound {
                if let id = objectID(of: node) {
                    byURI[id, default: []].append(node)
                } else if keys.isEmpty, options.identity.matchesContent, !node.isReference, node.entity.rules.isEmpty {
                    byContent.append(node)
                }
            }
        }
        if !byURI.isEmpty { try matchURIs(byURI) }
        for node in nodes {
            for key in node.keys {
                if let known = index[key]?.resolved {
                    if known !== node.resolved { merge(node.resolved, into: known) }
                    continue
                }
                index[key] = node
                if node.isBound { continue }
                if byRule[key.rule] == nil { order.append(key.rule) }
                byRule[key.rule, default: []].append(key)
            }
        }
        for rule in order {
            let found = try lookup.objects(with: byRule[rule] ?? [], of: rule)
            for (key, objects) in found { adopt(objects, for: key) }
        }
        try matchReferencesByID(nodes)
        try noteOtherIDs(nodes)
        if !byContent.isEmpty { try matchContent(byContent) }
        for node in nodes { node.resolved.isSettled = true }
    }

    private func merge(_ node: ImportNode, into known: ImportNode) {
        if let one = node.matchedID, let other = known.matchedID, one != other { return ambiguous(node, one, other) }
        known.absorb(node)
    }

    private func adopt(_ objects: [NSManagedObject], for key: IdentityKey) {
        guard let node = index[key]?.resolved, let object = objects.first else { return }
        if objects.count > 1 {
            conflicts.append(
                ImportConflict(
                    subject: node.subject, property: nil,
                    message: "\(objects.count) stored objects of \(key.rule.entity) have this key; the first is used.")
            )
        }
        if let known = node.matchedID, known != object.objectID {
            guard nodesByURI[known] === node else { return ambiguous(node, known, object.objectID) }
            // If the document also contains the other object, it may change that object's key.
            if nodesByURI[object.objectID] == nil { noteOtherObject(node, object.objectID, keyDecides: false) }
            return
        }
        node.matchedID = object.objectID
        node.object = object
    }

    private func ambiguous(_ node: ImportNode, _ one: NSManagedObjectID, _ other: NSManagedObjectID) {
        errors.append(
            ImportError(
                .ambiguousIdentity,
                "The keys of this \(node.entity.name) belong to two objects: \(one.uriRepresentation()) and \(other.uriRepresentation()).",
                at: node.place, record: node.id, entity: node.entity.name))
    }

    // MARK: - URIs

    /// The object in a store of the context that a node's id identifies.
    private func objectID(of node: ImportNode) -> NSManagedObjectID? {
        guard options.identity.usesObjectURIs, let id = node.id, let coordinator else { return nil }
        // The entity may have another name than in the document.
        let entity = id.entity.flatMap { payload.model.entity($0)?.name }
        return id.uri(inStore: payload.header?.storeUUID, entity: entity)
            .flatMap { coordinator.managedObjectID(forURIRepresentation: $0) }
    }

    private func matchURIs(_ nodes: [NSManagedObjectID: [ImportNode]]) throws {
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

    /// Finds the objects of references whose key no object has by the id of the same store: their key may have changed
    /// since. Each is a conflict. Cost: a fetch for each entity of such references.
    private func matchReferencesByID(_ nodes: [ImportNode]) throws {
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
    private func noteOtherIDs(_ nodes: [ImportNode]) throws {
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
    private func noteOtherObject(_ node: ImportNode, _ other: NSManagedObjectID, keyDecides: Bool) {
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
                // Two records with the same content are two objects, as they would be in the store.
                guard let object = objects.first(where: { taken.insert($0.objectID).inserted }) else { continue }
                node.matchedID = object.objectID
                node.object = object
            }
        }
    }
}
