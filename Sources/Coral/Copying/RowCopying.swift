import CoreData

/// Whether copies inside one SQLite store may be made by the store itself, without making objects: many times faster,
/// and with the same result.
///
/// That is possible where the store is this package's own, the copies go where the originals are, and the rules need no
/// object: no closures, conditions or hooks, no values from objects higher up, no unique values to be told apart.
/// Elsewhere, and on Apple's Core Data, objects make the copies whatever is said here.
public enum RowCopying: String, Sendable, Hashable, CaseIterable {
    /// Objects make the copies.
    case never
    /// The store makes them where no entity has a class of its own: such a class may do something when objects of it are
    /// inserted or saved.
    case automatic
    /// The store makes them, and methods such as `awakeFromInsert` and `willSave` are not called.
    case always
}

#if !canImport(Darwin) && !CORAL_PUBLIC_API

    @_spi(Stores) import ManagedObjects

    extension CopyBlueprint {
        /// Copies in the store; nil, with nothing changed, where objects must do it.
        func copyRows(
            _ ids: [NSManagedObjectID], in context: NSManagedObjectContext, choice: RowCopying, progress: Progress?
        ) throws -> [NSManagedObjectID: NSManagedObjectID]? {
            guard let rules = rowRules(choice) else { return nil }
            let request = RowCopyRequest(rules: rules) {
                if progress?.isCancelled == true { throw CocoaError(.userCancelled) }
            }
            guard let result = try context.copyRows(ids, by: request) else { return nil }
            progress?.totalUnitCount = Int64(result.copies.count)
            progress?.completedUnitCount = Int64(result.copies.count)
            return result.objectIDs
        }

        /// The rules as the store takes them; nil where some of them need objects.
        private func rowRules(_ choice: RowCopying) -> [RowCopyRequest.Rules]? {
            guard choice != .never, targetModel === model, !rules.needObjects else { return nil }
            var result: [RowCopyRequest.Rules] = []
            for copy in prepared {
                guard copy.condition == nil, !copy.relationships.contains(where: { $0.choice != nil }),
                    choice == .always || copy.target.hasPlainClass,
                    rules.uniqueness == .unchecked || copy.constraints.allSatisfy(copy.isMadeUnique),
                    let sources = copy.rowSources
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
    }

    extension CopyRules {
        /// Whether somebody wants to see the objects, or rules differ from object to object.
        fileprivate var needObjects: Bool {
            didMake != nil || didConnect != nil || !excludedEntities.isEmpty || !excludedRootNames.isEmpty
        }
    }

    extension EntityCopy {
        /// Where each attribute's value comes from; nil where an object must say.
        fileprivate var rowSources: [String: RowCopyRequest.Source]? {
            var sources: [String: RowCopyRequest.Source] = [:]
            for attribute in attributes {
                switch attribute.source {
                case .original: sources[attribute.name] = .original
                case .newUUID: sources[attribute.name] = .newUUID
                case .now: sources[attribute.name] = .date(Date())
                case .parent, .closure: return nil
                }
            }
            return sources
        }

        /// Whether a constraint cannot be broken, because one of its values is made anew. Of those with relationships the
        /// store sees for itself whether the copies break them.
        fileprivate func isMadeUnique(_ constraint: UniquenessConstraint) -> Bool {
            constraint.hasRelationships
                || attributes.contains { attribute in
                    guard case .newUUID = attribute.source else { return false }
                    return constraint.properties.contains(attribute.target.name)
                }
        }
    }

    extension NSEntityDescription {
        fileprivate var hasPlainClass: Bool {
            let name = managedObjectClassName ?? ""
            return name.isEmpty || name == "NSManagedObject" || NSClassFromString(name) == NSManagedObject.self
        }
    }

#else

    extension CopyBlueprint {
        /// Objects must do it.
        func copyRows(
            _ ids: [NSManagedObjectID], in context: NSManagedObjectContext, choice: RowCopying, progress: Progress?
        ) throws -> [NSManagedObjectID: NSManagedObjectID]? { nil }
    }

#endif
