import CoreData

/// Whether copies inside one SQLite store may be made by the store itself, without creating objects: many times faster,
/// with the same result.
///
/// This is possible if the store is this package's own, the copies are in the store of the originals, and the rules
/// need no objects: no closures, conditions or hooks, no values from ancestors other than the owner, no values that
/// must be made unique. Otherwise, and with Apple's Core Data, copying uses objects whatever is set here.
public enum RowCopying: String, Sendable, Hashable, CaseIterable {
    /// Copying uses objects.
    case never
    /// The store copies if no entity has a class of its own: such a class may run code when its objects are inserted
    /// or saved.
    case automatic
    /// The store copies, and methods such as `awakeFromInsert` and `willSave` are not called.
    case always
}

#if !canImport(Darwin) && !CORAL_PUBLIC_API

    @_spi(Stores) import ManagedObjects

    extension CopyBlueprint {
        /// Copies in the store; nil, without changes, if copying requires objects.
        func copyRows(
            _ ids: [NSManagedObjectID], in context: NSManagedObjectContext, choice: RowCopying, progress: Progress?
        ) throws -> [NSManagedObjectID: NSManagedObjectID]? {
            guard let rules = rowRules(choice, roots: ids.map(\.entity)) else { return nil }
            let request = RowCopyRequest(rules: rules) {
                if progress?.isCancelled == true { throw CocoaError(.userCancelled) }
            }
            guard let result = try context.copyRows(ids, by: request) else { return nil }
            progress?.complete(result.copies.count)
            return result.objectIDs
        }

        /// The rules in the form of the store; nil if some of them need objects.
        private func rowRules(_ choice: RowCopying, roots: [NSEntityDescription]) -> [RowCopyRequest.Rules]? {
            guard choice != .never, targetModel === model, !rules.needObjects else { return nil }
            var result: [RowCopyRequest.Rules] = []
            for copy in prepared {
                guard copy.condition == nil, !copy.relationships.contains(where: { $0.choice != nil }),
                    choice == .always || copy.target.hasPlainClass,
                    rules.uniqueness == .unchecked || copy.constraints.allSatisfy(copy.isMadeUnique),
                    let sources = rowSources(of: copy, roots: roots)
                else { return nil }
                var links: [String: RowCopyRequest.Link] = [:]
                for relationship in copy.relationships {
                    links[relationship.name] = RowCopyRequest.Link(
                        follows: relationship.rule == .copy,
                        reachesOthers: relationship.rule == .link && relationship.permitsLinks)
                }
                result.append(RowCopyRequest.Rules(entity: copy.entity, sources: sources, links: links))
            }
            return result
        }

        /// The source of each attribute's value; nil if one requires an object.
        private func rowSources(
            of copy: EntityCopy, roots: [NSEntityDescription]
        ) -> [String: RowCopyRequest.Source]? {
            var sources: [String: RowCopyRequest.Source] = [:]
            for attribute in copy.attributes {
                switch attribute.source {
                case .original: sources[attribute.name] = .original
                case .newUUID: sources[attribute.name] = .newUUID
                case .now: sources[attribute.name] = .date(Date())
                case .parent(let parent):
                    guard let owner = owner(of: copy, roots: roots, having: parent, for: attribute) else { return nil }
                    sources[attribute.name] = .owner(relationship: owner, attribute: parent.attribute)
                case .closure: return nil
                }
            }
            return sources
        }

        /// The relationship to the object that an attribute follows, if every object of the entity was reached from
        /// one and by the inverse of that relationship; nil if this is known only from the walk.
        private func owner(
            of copy: EntityCopy, roots: [NSEntityDescription], having parent: ParentValue, for attribute: AttributeCopy
        ) -> String? {
            guard !roots.contains(copy.entity) else { return nil }
            let ways = prepared.flatMap { owner in
                owner.relationships.filter { way in
                    way.rule == .copy && way.relationship.destinationEntity.map(copy.entity.isKindOf(entity:)) ?? false
                }.map { (owner, $0.relationship) }
            }
            guard ways.count == 1, let (owner, way) = ways.first, let back = way.inverseRelationship, !back.isToMany,
                parent.entity.map({ name in owner.inheritedNames.contains(name) }) ?? true,
                let followed = owner.attributes.first(where: { $0.name == parent.attribute }),
                followed.target.attributeType == attribute.target.attributeType, !followed.followsParent
            else { return nil }
            return back.name
        }
    }

    extension CopyRules {
        /// Whether rules need objects: hooks, or rules that differ from object to object.
        fileprivate var needObjects: Bool {
            didMake != nil || didConnect != nil || !excludedEntities.isEmpty || !excludedRootNames.isEmpty
        }
    }

    extension EntityCopy {
        /// The names of the entity and its ancestors.
        fileprivate var inheritedNames: [String] {
            sequence(first: entity) { $0.superentity }.map { $0.name ?? "" }
        }

        /// Whether a constraint cannot be violated, because one of its values is a new UUID. For constraints with
        /// relationships the store checks whether the copies violate them.
        fileprivate func isMadeUnique(_ constraint: UniquenessConstraint) -> Bool {
            constraint.hasRelationships
                || attributes.contains { attribute in
                    guard case .newUUID = attribute.source else { return false }
                    return constraint.properties.contains(attribute.target.name)
                }
        }
    }

    extension NSEntityDescription {
        /// Whether the entity's objects have no class of their own.
        var hasPlainClass: Bool {
            let name = managedObjectClassName ?? ""
            return name.isEmpty || name == "NSManagedObject" || NSClassFromString(name) == NSManagedObject.self
        }
    }

#else

    extension CopyBlueprint {
        /// Copying always requires objects.
        func copyRows(
            _ ids: [NSManagedObjectID], in context: NSManagedObjectContext, choice: RowCopying, progress: Progress?
        ) throws -> [NSManagedObjectID: NSManagedObjectID]? { nil }
    }

#endif
