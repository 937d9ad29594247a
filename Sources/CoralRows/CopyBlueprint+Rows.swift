import Coral
import CoreData
import ManagedObjects
import SQLStores

extension CopyBlueprint {
    /// Copies in the store. Returns a reason, without changes, if copying requires objects.
    ///
    /// - Parameter saves: Whether the transaction is committed.
    func copyRows(
        _ ids: [NSManagedObjectID], in context: NSManagedObjectContext, choice: RowCopying, saves: Bool = true,
        progress: Progress?
    ) throws -> RowCapability<[NSManagedObjectID: NSManagedObjectID]> {
        try RowCapability {
            var request = RowCopyRequest(rules: try rowRules(choice, roots: ids.map(\.entity))) {
                if progress?.isCancelled == true { throw CocoaError(.userCancelled) }
            }
            request.isDryRun = !saves
            switch try context.copyRows(ids, by: request) {
            case .copied(let result):
                progress?.complete(result.copies.count)
                return result.objectIDs
            case .needsObjects(let obstacle): throw ObjectsReason(obstacle)
            }
        }
    }

    /// The rules in the form that the store accepts. Throws `ObjectsReason` if a rule requires objects.
    private func rowRules(_ choice: RowCopying, roots: [NSEntityDescription]) throws -> [RowCopyRequest.Rules] {
        if choice == .never { throw ObjectsReason(.options, "The copier's rowCopying is never.") }
        if targetModel !== model { throw ObjectsReason(.options, "The copies have another model.") }
        if rules.didCopy != nil || rules.didConnect != nil {
            throw ObjectsReason(.options, "The rules contain hooks.")
        }
        if !includesAllEntities || !rules.excludedRootNames.isEmpty {
            throw ObjectsReason(.options, "The rules exclude objects of some entities.")
        }
        return try prepared.map { copy in
            let name = copy.entity.name ?? ""
            func reason(_ code: ObjectsReason.Code, _ message: String) -> ObjectsReason {
                ObjectsReason(code, message, entity: name)
            }
            if copy.condition != nil { throw reason(.options, "A condition excludes objects of \(name).") }
            if copy.relationships.contains(where: { $0.choice != nil }) {
                throw reason(.options, "A closure determines the rule of a relationship of \(name).")
            }
            if roots.contains(copy.entity), let list = copy.relationships.first(where: \.listsEmbedding) {
                throw reason(.options, "Only requested objects of \(name) keep \(name).\(list.name).")
            }
            if choice == .automatic, !copy.target.hasPlainClass {
                throw reason(.classes, "\(name) has a class of its own.")
            }
            if rules.uniqueness != .unchecked,
                // The store checks whether copies violate constraints with relationships.
                !copy.constraints.allSatisfy({ $0.hasNewUUID || $0.hasRelationships })
            {
                throw reason(.model, "Values of \(name) must be made unique.")
            }
            let sources = try rowSources(of: copy, roots: roots)
            var links: [String: RowCopyRequest.Link] = [:]
            for relationship in copy.relationships {
                links[relationship.name] = RowCopyRequest.Link(
                    follows: relationship.rule == .embed,
                    reachesOthers: relationship.rule == .reference && !relationship.listsEmbedding
                        && relationship.omission == nil)
            }
            return RowCopyRequest.Rules(entity: copy.entity, sources: sources, links: links)
        }
    }

    /// The source of each attribute's value. Throws `ObjectsReason` if one requires an object.
    private func rowSources(
        of copy: EntityCopy, roots: [NSEntityDescription]
    ) throws -> [String: RowCopyRequest.Source] {
        func reason(_ attribute: AttributeCopy, _ why: String) -> ObjectsReason {
            let name = copy.entity.name ?? ""
            return ObjectsReason(
                .options, "\(name).\(attribute.name) \(why).", entity: name, property: attribute.name)
        }
        var sources: [String: RowCopyRequest.Source] = [:]
        for attribute in copy.attributes {
            switch attribute.source {
            case .original: sources[attribute.name] = .original
            case .newUUID: sources[attribute.name] = .newUUID
            case .now: sources[attribute.name] = .date(Date())
            case .parent(let parent):
                guard let owner = owner(of: copy, roots: roots, having: parent, for: attribute) else {
                    throw reason(attribute, "takes its value from an ancestor found only by walking the graph")
                }
                sources[attribute.name] = .owner(relationship: owner, attribute: parent.attribute)
            case .closure: throw reason(attribute, "takes its value from a closure")
            }
        }
        return sources
    }

    /// The to-one relationship to the parent whose value an attribute takes, if every object of the entity is reached
    /// through the inverse of this relationship; nil if the parents can only be determined by walking the graph.
    private func owner(
        of copy: EntityCopy, roots: [NSEntityDescription], having parent: ParentValue, for attribute: AttributeCopy
    ) -> String? {
        guard !roots.contains(copy.entity) else { return nil }
        let ways = prepared.flatMap { owner in
            owner.relationships.filter { way in
                way.rule == .embed && way.relationship.destinationEntity.map(copy.entity.isKindOf(entity:)) ?? false
            }.map { (owner, $0.relationship) }
        }
        guard ways.count == 1, let (owner, way) = ways.first, let back = way.inverseRelationship, !back.isToMany,
            parent.isAttribute(of: owner.entity, type: attribute.target.attributeType),
            let followed = owner.attributes.first(where: { $0.name == parent.attribute }), !followed.followsParent
        else { return nil }
        return back.name
    }
}

extension ObjectsReason {
    fileprivate init(_ obstacle: RowCopyObstacle) {
        let code: Code =
            switch obstacle.kind {
            case .store: .store
            case .schema: .model
            case .rows: .contents
            }
        self.init(code, obstacle.reason)
    }
}

extension NSEntityDescription {
    /// Whether the entity's objects have no class of their own.
    var hasPlainClass: Bool {
        let name = managedObjectClassName ?? ""
        return name.isEmpty || name == "NSManagedObject" || NSClassFromString(name) == NSManagedObject.self
    }
}
