import CoreData
import GraphDocuments

// Relationships, set according to their policies.

extension ImportPerformer {
    func setLinks(of node: ImportNode) {
        guard let object = node.object else { return }
        for link in node.links {
            let record = node.records[link.record]
            guard !record.record.isDeleted, let relationship = node.relationship(of: link) else { continue }
            if session.part == .batch, link.isUnread {
                deferred.insert(node.number)
                deferredLinks[record.record.id, default: DeferredLinks()].insert(link.position)
                continue
            }
            if session.part == .deferredLinks, !session.isDeferred(link.position, of: record.record.id) { continue }
            let setting = LinkSetting(relationship, of: object, node: node, link: link)
            switch link.destinations {
            case .toOne(let target) where !relationship.isToMany: setToOne(setting, to: target)
            case .toMany(let targets) where relationship.isToMany: setToMany(setting, to: targets)
            case .nullToMany where relationship.isToMany: clear(setting)
            default:
                refuse(
                    node, .wrongValue,
                    "\(node.entity.name).\(relationship.name) is \(relationship.isToMany ? "to-many" : "to-one").",
                    at: setting.place, property: relationship.name)
            }
        }
        for (name, target) in node.referencedNodes {
            guard let target = target.resolved.object else { continue }
            object.setValue(target, forKey: name)
        }
    }

    /// Adds the objects at the top of the document to the owner's relationship.
    func linkToOwner() throws {
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

    private func setToOne(_ setting: LinkSetting, to target: ImportNode?) {
        let (relationship, object, node) = (setting.relationship, setting.object, setting.node)
        let old = object.value(forKey: relationship.name) as? NSManagedObject
        guard let target else {
            if isHooked(setting, []) { return }
            guard let old else { return }
            set(relationship, of: object, to: nil)
            note(setting, added: [], removed: [old])
            release([old], setting)
            return
        }
        guard let (new, target) = destination(target, 0, of: setting) else { return }
        if isHooked(setting, [new]) { return }
        claim(relationship.name, of: node, for: target)
        guard old !== new else { return }
        noteTaken(new, by: object, relationship)
        if let inverse = relationship.inverse { noteTaken(object, byNodeOf: new, target, inverse: inverse.name) }
        set(relationship, of: object, to: new)
        note(setting, added: [target], removed: old.map { [$0] } ?? [])
        if let old { release([old], setting, isReplaced: true) }
    }

    /// Records what happens to objects that are removed from a relationship.
    private func release(_ removed: [NSManagedObject], _ setting: LinkSetting, isReplaced: Bool = false) {
        // Objects are deleted as orphans only if the record contains the members, not if it lists their keys.
        if !setting.isByKey, replacesMembers(of: setting) {
            orphans += removed.map { RemovedMember(object: $0, relationship: setting.relationship) }
        } else {
            if !isReplaced { changes.unlinkedCount += removed.count }
            noteRemoved(removed, setting.relationship)
        }
    }

    /// Whether objects that are removed from a relationship are deleted unless they have another owner.
    private func replacesMembers(of setting: LinkSetting) -> Bool {
        let relationship = setting.relationship
        return relationship.policy == .replace && relationship.isToMany
            || isOwnedByPopulated(setting) && !options.keepsUnlistedChildren
    }

    /// What happens to members that the record does not list.
    private func policy(of setting: LinkSetting) -> RelationshipImportPolicy {
        options.keepsUnlistedChildren && isOwnedByPopulated(setting) ? .union : setting.relationship.policy
    }

    private func isOwnedByPopulated(_ setting: LinkSetting) -> Bool {
        setting.relationship.isOwned && session.populated.contains(setting.node.number)
    }

    private func set(_ relationship: RelationshipImport, of object: NSManagedObject, to target: NSManagedObject?) {
        guard options.keepsSidesApart, relationship.inverse?.isToMany == false else {
            return object.setValue(target, forKey: relationship.name)
        }
        // A value that is set between `willChangeValue` and `didChangeValue` updates the inverse, so the primitive value is set
        // after both. They are called only to mark an existing object as changed, so that it is saved.
        if !object.isInserted {
            object.willChangeValue(forKey: relationship.name)
            object.didChangeValue(forKey: relationship.name)
        }
        object.setPrimitiveValue(target, forKey: relationship.name)
    }

    // MARK: - To many

    private func setToMany(_ setting: LinkSetting, to targets: [ImportNode]) {
        let (relationship, object, node) = (setting.relationship, setting.object, setting.node)
        let policy = policy(of: setting)
        noteRepetitions(among: targets, of: setting)
        var listed: [ImportNode] = []
        var listedObjects: [NSManagedObject] = []
        listed.reserveCapacity(targets.count)
        listedObjects.reserveCapacity(targets.count)
        for index in targets.indices {
            guard let (object, target) = destination(targets[index], index, of: setting) else { continue }
            if let inverse = relationship.inverse, !inverse.isToMany { claim(inverse.name, of: target, for: node) }
            listed.append(target)
            listedObjects.append(object)
        }
        let value = object.value(forKey: relationship.name)
        if relationship.isSet(value, of: listedObjects) {
            _ = isHooked(setting, listedObjects)
            return
        }
        let old = relationship.destinations(in: value)
        let difference = MemberDifference(
            from: old.map(ObjectIdentifier.init), to: listedObjects.map(ObjectIdentifier.init),
            policy: policy, isOrdered: relationship.isOrdered)
        let members =
            difference.listed.count == listed.count ? listedObjects : difference.listed.map { listedObjects[$0] }
        if isHooked(setting, members) || difference.isEmpty { return }
        let removed = difference.removed.map { old[$0] }
        for index in difference.added { noteTaken(listedObjects[index], by: object, relationship) }
        set(
            relationship, of: object,
            to: policy == .union ? old + difference.added.map { listedObjects[$0] } : members)
        note(setting, added: difference.added.map { listed[$0] }, removed: removed)
        if !removed.isEmpty { release(removed.sortedByName(of: \.objectID), setting) }
    }

    private func clear(_ setting: LinkSetting) {
        if isHooked(setting, []) { return }
        let old = setting.object.sortedMembers(of: setting.relationship)
        guard !old.isEmpty else { return }
        set(setting.relationship, of: setting.object, to: [])
        note(setting, added: [], removed: old)
        release(old, setting)
    }

    /// Whether a hook sets the relationship; then the policy does not apply.
    private func isHooked(_ setting: LinkSetting, _ listed: [NSManagedObject]) -> Bool {
        let (relationship, object) = (setting.relationship, setting.object)
        guard let hook = hook(options.hooks.link, setting.node.entity, relationship.name) else { return false }
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
                subject: setting.node.subject, relationship: relationship.name,
                added: difference.added.map { chosen[$0] }.map {
                    node(of: $0)?.label ?? $0.objectID.uriRepresentation().absoluteString
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

    // MARK: - Destinations

    /// The object of a destination; nil if there is none and the policy permits that.
    private func destination(
        _ target: ImportNode, _ index: Int, of setting: LinkSetting
    ) -> (NSManagedObject, ImportNode)? {
        let (relationship, node) = (setting.relationship, setting.node)
        let target = target.resolved
        if target.object == nil, target.isReference, options.danglingReferences == .stub { makeStub(target) }
        if let object = target.object, !target.isTombstone, target.rivals.isEmpty {
            guard let destination = relationship.destinationEntity,
                object.entity === destination || object.entity.isKindOf(entity: destination)
            else {
                refuse(
                    node, .danglingReference,
                    "\(setting.id(index)) is a \(object.entity.name ?? ""); \(setting.name) refers to \(relationship.destination).",
                    at: setting.place, property: relationship.name)
                return nil
            }
            return (object, target)
        }
        // A target that was refused or that this document deletes is not a dangling reference.
        let isKnown = excluded.contains(target.number) || target.isTombstone || refused.contains(target.number)
        let outcome = options.danglingReferences.outcome(isKnown: isKnown)
        if outcome == .omission { return nil }
        let absence = isKnown ? "does not exist" : "is neither in the document nor in the store"
        let message = "\(setting.name) refers to \(setting.id(index)), which \(absence)."
        guard outcome == .conflict else {
            refuse(node, .danglingReference, message, at: setting.place, property: relationship.name)
            return nil
        }
        let isError = options.danglingReferences.outcome(isKnown: false) == .error
        changes.conflicts.add(
            ImportConflict(
                subject: node.subject, property: relationship.name,
                message: isError
                    ? "\(setting.name) refers to \(setting.id(index)), which is not imported." : message))
        return nil
    }

    /// Inserts an object that has only the key values of the references to it.
    private func makeStub(_ node: ImportNode) {
        guard !node.referencedValues.isEmpty, !node.entity.entity.isAbstract, options.operations.contains(.insert),
            let object = try? makeObject(node)
        else { return }
        var set: [AttributeChange] = []
        for (name, given) in node.referencedValues.sorted(by: { $0.key < $1.key }) {
            guard let attribute = node.entity.attributes[name],
                let value = conversion.convert(given, to: attribute),
                let plain = try? attribute.object(for: value, folder: options.folder)
            else { continue }
            object.setValue(plain, forKey: name)
            set.append(.init(name: name, old: nil, new: value))
        }
        for (name, target) in node.referencedNodes {
            if let target = target.resolved.object { object.setValue(target, forKey: name) }
        }
        node.object = object
        noteStub(node)
        changes.inserts.add(ImportChange(subject: node.subject, attributes: set, isInsert: true))
    }

    /// Records the destination that the document states for the other side of a to-one relationship. Two different
    /// destinations are a conflict; the last one is used.
    private func claim(_ relationship: String, of node: ImportNode, for target: ImportNode) {
        guard claims[node.number].add(target.number, for: relationship) else { return }
        changes.conflicts.add(
            ImportConflict(
                subject: node.subject, property: relationship,
                message: "Two objects are stated for \(node.entity.name).\(relationship); the last is used."))
    }

    private func note(
        _ setting: LinkSetting, added: @autoclosure () -> [ImportNode], removed: @autoclosure () -> [NSManagedObject]
    ) {
        changes.links.add(
            ImportLink(
                subject: setting.node.subject, relationship: setting.relationship.name, added: added().map(\.label),
                removed: removed().map { $0.objectID.uriRepresentation().absoluteString }.sorted()))
    }
}

/// A relationship of an object that an import sets as a record states it.
struct LinkSetting {
    let relationship: RelationshipImport
    let object: NSManagedObject
    let node: ImportNode
    private let link: StatedLink

    init(_ relationship: RelationshipImport, of object: NSManagedObject, node: ImportNode, link: StatedLink) {
        self.relationship = relationship
        self.object = object
        self.node = node
        self.link = link
    }

    private var record: PlacedRecord { node.records[link.record] }
    private var given: GraphRelationship { record.record.relationships[link.position] }

    /// Whether the record lists keys of the destinations, and does not contain them.
    var isByKey: Bool { record.details?.relationshipsByKey.contains(given.name) ?? false }

    // The following are computed for messages only, because building strings is expensive.

    /// The name in messages: of the entity and of the relationship.
    var name: String { "\(node.entity.name).\(relationship.name)" }
    /// The position in the document.
    var place: DocumentPlace { record.place(of: given.name) }

    /// The id that the record states for a destination.
    func id(_ index: Int) -> RecordID { given.target.ids[index] }
}

/// The deferred relationships of a record, as a set of their positions in it. All positions from 63 on share one bit.
package struct DeferredLinks {
    private var bits: UInt64 = 0

    package mutating func insert(_ position: Int) { bits |= 1 << UInt64(min(position, 63)) }

    package mutating func formUnion(_ other: DeferredLinks) { bits |= other.bits }

    package func contains(_ position: Int) -> Bool { bits >> UInt64(min(position, 63)) & 1 == 1 }
}

/// A relationship as a record states it, with the nodes of its destinations. The relationship is looked up in the model by
/// its name only once.
package struct StatedLink {
    /// The relationship, of the entity that the node had when the payload was linked.
    package let relationship: RelationshipImport
    /// The index of the record among those of the node.
    package private(set) var record: Int
    /// The position of the relationship in the record.
    package let position: Int
    package let destinations: Destinations

    package enum Destinations {
        case toOne(ImportNode?)
        case toMany([ImportNode])
        /// A to-many relationship that is null in the document, as opposed to an empty list.
        case nullToMany

        package var nodes: [ImportNode] {
            switch self {
            case .toOne(let node): node.map { [$0] } ?? []
            case .toMany(let nodes): nodes
            case .nullToMany: []
            }
        }
    }

    package init(_ relationship: RelationshipImport, record: Int, position: Int, destinations: Destinations) {
        self.relationship = relationship
        self.record = record
        self.position = position
        self.destinations = destinations
    }

    /// The link after a number of other records was inserted before its own record.
    package func moved(by count: Int) -> StatedLink {
        var link = self
        link.record += count
        return link
    }

    /// Whether a destination is neither a record of this batch nor of an earlier one. A later record may have its id, so the
    /// id is looked up in the store only after all records are read.
    package var isUnread: Bool {
        switch destinations {
        case .toOne(let node): node?.isUnread ?? false
        case .toMany(let nodes): nodes.contains(where: \.isUnread)
        case .nullToMany: false
        }
    }
}

extension ImportNode {
    fileprivate var isUnread: Bool {
        let node = resolved
        return node.isReference && !node.isBound
    }
}

/// The destinations that a document states for the to-one relationships of one record, on either side of them.
struct DestinationClaims {
    /// The name of a relationship, and the number of the destination's node.
    private typealias Claim = (relationship: String, target: Int)

    // Most records have one destination, which is stored without an array.
    private var first: Claim?
    private var others: [Claim] = []

    /// Adds a destination; the last one is kept. Returns whether it replaces another destination.
    mutating func add(_ target: Int, for relationship: String) -> Bool {
        guard let known = first else {
            first = (relationship, target)
            return false
        }
        if known.relationship == relationship {
            first = (relationship, target)
            return known.target != target
        }
        guard let index = others.firstIndex(where: { $0.relationship == relationship }) else {
            others.append((relationship, target))
            return false
        }
        defer { others[index].target = target }
        return others[index].target != target
    }
}
