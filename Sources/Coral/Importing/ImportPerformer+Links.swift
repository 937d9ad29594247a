import CoreData
import GraphDocuments

// Relationships, set according to their policies.

extension ImportPerformer {
    mutating func setLinks(of node: ImportNode) {
        guard let object = node.object else { return }
        for (record, targets) in zip(node.records, node.targets) where !record.record.isDeleted {
            for (position, (given, targets)) in zip(record.record.relationships, targets).enumerated() {
                guard let relationship = node.entity.relationships[given.name] else { continue }
                if session.part == .batch, targets.contains(where: Self.isUnread) {
                    deferred.insert(node.number)
                    deferredLinks[record.record.id, default: DeferredLinks()].insert(position)
                    continue
                }
                if session.part == .deferredLinks, !session.isDeferred(position, of: record.record.id) { continue }
                // Called only for errors: building a place's text is expensive.
                func place() -> DocumentPlace { record.place(of: given.name) }
                switch given.target {
                case .toOne(let id) where !relationship.isToMany:
                    setToOne(relationship, of: object, node, to: id, targets.first, at: place)
                case .toMany(let ids) where relationship.isToMany:
                    let isByKey = record.details?.relationshipsByKey.contains(given.name) ?? false
                    setToMany(
                        relationship, of: object, node, to: ids, targets, deletesOrphans: !isByKey, at: place)
                case .nullToMany where relationship.isToMany:
                    clear(relationship, of: object, node)
                default:
                    refuse(
                        node, .wrongValue,
                        "\(node.entity.name).\(relationship.name) is \(relationship.isToMany ? "to-many" : "to-one").",
                        at: place(), property: relationship.name)
                }
            }
        }
        for (name, target) in node.referencedNodes {
            guard let target = target.resolved.object else { continue }
            object.setValue(target, forKey: name)
        }
    }

    /// Whether a target is neither a record of this batch nor of an earlier one. A later record may have its id; what the
    /// id refers to in the store is decided after all records are read.
    private static func isUnread(_ target: ImportNode) -> Bool {
        let target = target.resolved
        return target.isReference && !target.isBound
    }

    /// Adds the objects at the top of the document to the owner's relationship.
    mutating func linkToOwner() throws {
        guard let owner = options.owner else { return }
        let object = context.object(with: owner.object.objectID)
        guard let entity = session.model.entity(object.entity),
            let relationship = entity.relationships[owner.relationship],
            relationship.isToMany, let destination = relationship.destinationEntity
        else {
            throw ImportError(
                .misuse, "\(object.entity.name ?? "") has no to-many relationship \"\(owner.relationship)\".",
                entity: object.entity.name, property: owner.relationship)
        }
        let old = object.members(of: relationship)
        let present = Set(old.map(ObjectIdentifier.init))
        var added: [NSManagedObject] = []
        for node in session.payload.roots.map(\.resolved) {
            guard let new = node.object, !node.isTombstone, new.entity.isKindOf(entity: destination),
                !present.contains(ObjectIdentifier(new)), !added.contains(where: { $0 === new })
            else { continue }
            added.append(new)
            changes.links.add(
                ImportLink(
                    subject: node.subject, relationship: relationship.inverse?.name ?? relationship.name,
                    added: [object.objectID.uriRepresentation().absoluteString], removed: []))
        }
        if !added.isEmpty { set(relationship, of: object, to: old + added) }
    }

    // MARK: - To one

    private mutating func setToOne(
        _ relationship: RelationshipImport, of object: NSManagedObject, _ node: ImportNode, to id: RecordID?,
        _ target: ImportNode?, at place: () -> DocumentPlace
    ) {
        let old = object.value(forKey: relationship.name) as? NSManagedObject
        guard let id else {
            if isHooked(relationship, of: object, node, []) { return }
            guard let old else { return }
            set(relationship, of: object, to: nil)
            note(node, relationship.name, added: [], removed: [old])
            if replacesMembers(of: relationship, node) { orphans.append((old, relationship)) }
            return
        }
        guard let target, let (target, targetNode) = self.target(target, id, of: relationship, node, at: place)
        else { return }
        if isHooked(relationship, of: object, node, [target]) { return }
        claim(relationship.name, of: node, for: targetNode)
        guard old !== target else { return }
        set(relationship, of: object, to: target)
        note(node, relationship.name, added: [targetNode], removed: old.map { [$0] } ?? [])
        if let old, replacesMembers(of: relationship, node) { orphans.append((old, relationship)) }
    }

    /// Whether objects that are removed from a relationship are deleted unless they have another owner.
    private func replacesMembers(of relationship: RelationshipImport, _ node: ImportNode) -> Bool {
        relationship.policy == .replace && relationship.isToMany
            || relationship.isOwned && session.populated.contains(node.number)
    }

    private func set(_ relationship: RelationshipImport, of object: NSManagedObject, to target: NSManagedObject?) {
        guard options.keepsSidesApart, relationship.inverse?.isToMany == false else {
            return object.setValue(target, forKey: relationship.name)
        }
        // A value that is set while its change is announced updates the inverse, so the change of an object that is not
        // new, and would not be saved otherwise, is announced before.
        if !object.isInserted {
            object.willChangeValue(forKey: relationship.name)
            object.didChangeValue(forKey: relationship.name)
        }
        object.setPrimitiveValue(target, forKey: relationship.name)
    }

    // MARK: - To many

    private mutating func setToMany(
        _ relationship: RelationshipImport, of object: NSManagedObject, _ node: ImportNode, to ids: [RecordID],
        _ targets: [ImportNode], deletesOrphans: Bool, at place: () -> DocumentPlace
    ) {
        var listed: [(node: ImportNode, object: NSManagedObject)] = []
        for (id, target) in zip(ids, targets) {
            guard let (target, targetNode) = self.target(target, id, of: relationship, node, at: place)
            else { continue }
            if let inverse = relationship.inverse, !inverse.isToMany {
                claim(inverse.name, of: targetNode, for: node)
            }
            listed.append((targetNode, target))
        }
        let old = object.members(of: relationship)
        let difference = MemberDifference(
            from: old.map(ObjectIdentifier.init), to: listed.map { ObjectIdentifier($0.object) },
            policy: relationship.policy, isOrdered: relationship.isOrdered)
        let members = difference.listed.map { listed[$0].object }
        if isHooked(relationship, of: object, node, members) || difference.isEmpty { return }
        let added = difference.added.map { listed[$0] }
        let removed = difference.removed.map { old[$0] }
        set(relationship, of: object, to: relationship.policy == .union ? old + added.map(\.object) : members)
        note(node, relationship.name, added: added.map(\.node), removed: removed)
        // A list of keys changes membership; it does not make the removed objects orphans.
        if deletesOrphans, replacesMembers(of: relationship, node) {
            orphans += removed.sortedByName(of: \.objectID).map { ($0, relationship) }
        }
    }

    private mutating func clear(_ relationship: RelationshipImport, of object: NSManagedObject, _ node: ImportNode) {
        if isHooked(relationship, of: object, node, []) { return }
        let old = object.sortedMembers(of: relationship)
        guard !old.isEmpty else { return }
        set(relationship, of: object, to: [])
        note(node, relationship.name, added: [], removed: old)
        if replacesMembers(of: relationship, node) { orphans += old.map { ($0, relationship) } }
    }

    /// Whether a hook sets the relationship; then the policy does not apply.
    private mutating func isHooked(
        _ relationship: RelationshipImport, of object: NSManagedObject, _ node: ImportNode,
        _ listed: [NSManagedObject]
    ) -> Bool {
        guard let hook = hook(options.hooks.link, node.entity, relationship.name) else { return false }
        guard let answer = hook(listed, object) else { return true }
        let chosen = relationship.isToMany ? answer : Array(answer.prefix(1))
        let old =
            relationship.isToMany
            ? object.members(of: relationship)
            : (object.value(forKey: relationship.name) as? NSManagedObject).map { [$0] } ?? []
        let difference = MemberDifference(
            from: old.map(ObjectIdentifier.init), to: chosen.map(ObjectIdentifier.init), policy: .set,
            isOrdered: relationship.isOrdered)
        guard !difference.isEmpty else { return true }
        if relationship.isToMany {
            set(relationship, of: object, to: chosen)
        } else {
            object.setValue(chosen.first, forKey: relationship.name)
        }
        changes.links.add(
            ImportLink(
                subject: node.subject, relationship: relationship.name,
                added: difference.added.map { chosen[$0] }.map {
                    nodesByObject[ObjectIdentifier($0)]?.label ?? $0.objectID.uriRepresentation().absoluteString
                },
                removed: difference.removed.map { old[$0].objectID.uriRepresentation().absoluteString }.sorted()))
        return true
    }

    private func set(_ relationship: RelationshipImport, of object: NSManagedObject, to members: [NSManagedObject]) {
        if relationship.isOrdered {
            object.setValue(NSOrderedSet(array: members), forKey: relationship.name)
        } else {
            object.setValue(Set(members), forKey: relationship.name)
        }
    }

    // MARK: - Targets

    /// The object that an id refers to; nil if there is none and the policy permits that.
    private mutating func target(
        _ target: ImportNode, _ id: RecordID, of relationship: RelationshipImport, _ node: ImportNode,
        at place: () -> DocumentPlace
    ) -> (NSManagedObject, ImportNode)? {
        let target = target.resolved
        if target.object == nil, target.isReference, options.danglingReferences == .stub { makeStub(target) }
        if let object = target.object, !target.isTombstone {
            guard let destination = relationship.destinationEntity,
                object.entity === destination || object.entity.isKindOf(entity: destination)
            else {
                refuse(
                    node, .danglingReference,
                    "\(id) is a \(object.entity.name ?? ""); \(node.entity.name).\(relationship.name) refers to \(relationship.destination).",
                    at: place(), property: relationship.name)
                return nil
            }
            return (object, target)
        }
        let message = "\(node.entity.name).\(relationship.name) refers to \(id), which does not exist."
        // A target that was refused or that this document deletes is not a dangling reference.
        let isKnown = excluded.contains(target.number) || target.isTombstone || refused.contains(target.number)
        switch options.danglingReferences.outcome(isKnown: isKnown) {
        case .error: refuse(node, .danglingReference, message, at: place(), property: relationship.name)
        case .conflict:
            let name = "\(node.entity.name).\(relationship.name)"
            let isError = options.danglingReferences.outcome(isKnown: false) == .error
            changes.conflicts.add(
                ImportConflict(
                    subject: node.subject, property: relationship.name,
                    message: isError ? "\(name) refers to \(id), which is not imported." : message))
        case .omission: break
        }
        return nil
    }

    /// Inserts an object that has only the key values of the references to it.
    private mutating func makeStub(_ node: ImportNode) {
        guard !node.referencedValues.isEmpty, !node.entity.entity.isAbstract, options.operations.contains(.insert),
            let object = try? makeObject(node)
        else { return }
        var set: [GraphAttribute] = []
        for (name, given) in node.referencedValues.sorted(by: { $0.key < $1.key }) {
            guard let attribute = node.entity.attributes[name],
                let value = conversion.convert(given, to: attribute),
                let plain = try? attribute.object(for: value, folder: options.folder)
            else { continue }
            object.setValue(plain, forKey: name)
            set.append(GraphAttribute(name: name, value: value))
        }
        for (name, target) in node.referencedNodes {
            if let target = target.resolved.object { object.setValue(target, forKey: name) }
        }
        node.object = object
        node.isStub = true
        changes.inserts.add(ImportInsert(subject: node.subject, values: set))
    }

    /// Records which object the document states for the other side of a to-one relationship. Two different objects are
    /// a conflict; the last one is used.
    private mutating func claim(_ relationship: String, of node: ImportNode, for target: ImportNode) {
        guard claims[node.number].add(target.number, for: relationship) else { return }
        changes.conflicts.add(
            ImportConflict(
                subject: node.subject, property: relationship,
                message: "Two objects are stated for \(node.entity.name).\(relationship); the last is used."))
    }

    private mutating func note(
        _ node: ImportNode, _ relationship: String, added: [ImportNode], removed: [NSManagedObject]
    ) {
        changes.links.add(
            ImportLink(
                subject: node.subject, relationship: relationship, added: added.map(\.label),
                removed: removed.map { $0.objectID.uriRepresentation().absoluteString }.sorted()))
    }
}
