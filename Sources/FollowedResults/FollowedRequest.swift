import CoreDataErrors
import Foundation
import FoundationAdditions
import ManagedObjects
import PredicateLanguage

/// A fetch request whose results are followed. Decides whether an object matches, and at which position.
struct FollowedRequest {
    let specification: FetchSpecification
    let entity: NSEntityDescription
    let order: RowOrder<NSManagedObject>
    let naming: SectionNaming
    private let reach: RequestReach

    /// - Throws: Code 134060 for a request that has no array of sort descriptors, does not request objects, or names a property
    ///   that its entity does not have.
    init(
        _ specification: FetchSpecification, sectionNameKeyPath: String?, in coordinator: NSPersistentStoreCoordinator
    ) throws {
        guard specification.resultType == .managedObjectResultType else {
            throw CocoaError(.coreData, "Only the results of a request for managed objects can be followed.")
        }
        guard let descriptors = specification.sortDescriptors else {
            throw CocoaError(
                .coreData, "A request whose results are followed must have sort descriptors, or an empty array.")
        }
        entity = try specification.entity(in: coordinator.managedObjectModel)
        let specification = try specification.converted(for: entity, in: coordinator)
        self.specification = specification
        order = try RowOrder(ofObjectsBy: descriptors)
        naming = try SectionNaming(sectionNameKeyPath)
        reach = RequestReach(of: specification, entity: entity, sectionNameKeyPath: sectionNameKeyPath)
    }

    /// Whether the results can contain an object, by its entity.
    func isOfEntity(_ object: NSManagedObject) -> Bool {
        specification.includesSubentities
            ? entity.subtree.contains(object.entityIndex) : object.entityIndex == entity.index
    }

    /// Whether a change of an object can affect the results.
    func concerns(_ object: NSManagedObject) -> Bool {
        isOfEntity(object) || reach.contains(object.entityIndex)
    }

    /// Whether a save can change the results. As for any fetch, unsaved changes of objects beside the results have no effect until
    /// they are saved; those of the results have none if the request does not include them.
    func isAffected(bySaveOf objects: [NSManagedObject]) -> Bool {
        guard specification.includesPendingChanges else { return objects.contains(where: concerns) }
        return dependsOnOthers && objects.contains(where: isBesideResults)
    }

    /// Whether objects beside the results affect the result of the request.
    private var dependsOnOthers: Bool { reach.isWide }

    /// Whether an object is one of those beside the results, or may be.
    private func isBesideResults(_ object: NSManagedObject) -> Bool { reach.contains(object.entityIndex) }

    /// Whether the effect of changed objects can be found in memory, except at the end of a limited result: see ``ResultsFold``.
    ///
    /// Not if the request does not include unsaved changes, because the values in the store are not known. Not if objects beside the
    /// results have unsaved changes, because a fetch would not consider them. With an offset, the objects before the window are not
    /// known. Cost: a step for each unsaved object, if such objects matter.
    func canFold(_ touched: [NSManagedObject], in context: NSManagedObjectContext) -> Bool {
        guard specification.fetchOffset == 0, specification.includesPendingChanges else { return false }
        return !dependsOnOthers
            || !touched.contains(where: isBesideResults) && !context.changed.contains(where: isBesideResults)
    }

    /// Whether an object of the entity matches, by its present values.
    ///
    /// - Throws: ``UndecidedInMemory`` if the predicate cannot be evaluated or a row cannot be read.
    func includes(_ object: NSManagedObject, in context: NSManagedObjectContext) throws -> Bool {
        guard object.context === context, object.canBeFetched else { return false }
        do {
            return try isStoredWhereAsked(object) && context.realise(object)
                && specification.predicate?.evaluation(with: object) ?? true
        } catch {
            throw UndecidedInMemory()
        }
    }

    private func isStoredWhereAsked(_ object: NSManagedObject) -> Bool {
        if let stores = specification.affectedStores, !object.key.isTemporary,
            !stores.contains(where: { $0.number == object.key.store })
        {
            return false
        }
        return true
    }
}

/// Whether an object matches cannot be decided without a fetch.
struct UndecidedInMemory: Error {}
