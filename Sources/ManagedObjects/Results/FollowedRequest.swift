import CoreDataErrors
import Foundation
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
    init(_ specification: FetchSpecification, sectionNameKeyPath: String?, in model: NSManagedObjectModel) throws {
        guard specification.resultType == .managedObjectResultType else {
            throw CocoaError(.coreData, "Only the results of a request for managed objects can be followed.")
        }
        guard let descriptors = specification.sortDescriptors else {
            throw CocoaError(
                .coreData, "A request whose results are followed must have sort descriptors, or an empty array.")
        }
        entity = try specification.entity(in: model)
        let specification = try specification.converted(for: entity)
        self.specification = specification
        order = try RowOrder(ofObjectsBy: descriptors)
        naming = try SectionNaming(sectionNameKeyPath)
        reach = RequestReach(of: specification, entity: entity, sectionNameKeyPath: sectionNameKeyPath)
    }

    /// Whether the results can contain an object, by its entity.
    func isOfEntity(_ object: NSManagedObject) -> Bool {
        specification.includesSubentities
            ? entity.subtree.contains(object.layout.index) : object.layout.index == entity.index
    }

    /// Whether a change of an object can affect the results.
    func concerns(_ object: NSManagedObject) -> Bool {
        isOfEntity(object) || reach.contains(object.layout.index)
    }

    /// Whether objects beside the results affect the result of the request. As for any fetch, unsaved changes of
    /// those objects have no effect until they are saved.
    var dependsOnOthers: Bool { reach.isWide }

    /// Whether an object is one of those beside the results, or may be.
    func isBesideResults(_ object: NSManagedObject) -> Bool { reach.contains(object.layout.index) }

    /// Whether the effect of changed objects can be found in memory, except at the end of a limited result: see ``ResultsFold``.
    ///
    /// Not if objects beside the results have unsaved changes, because a fetch would not consider them. With an offset, the
    /// objects before the window are not known. Cost: a step for each unsaved object, if such objects matter.
    func canFold(_ touched: [NSManagedObject], in context: NSManagedObjectContext) -> Bool {
        guard specification.fetchOffset == 0 else { return false }
        return !dependsOnOthers
            || !touched.contains(where: isBesideResults) && !context.tracker.objects.contains(where: isBesideResults)
    }

    /// Whether an object of the entity matches, by its present values.
    ///
    /// - Throws: ``UndecidedInMemory`` if the predicate cannot be evaluated or a row cannot be read.
    func includes(_ object: NSManagedObject, in context: NSManagedObjectContext) throws -> Bool {
        guard object.context === context, object.flags.isDisjoint(with: [.deleted, .inaccessible, .gone]) else {
            return false
        }
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

/// The entities, besides the request's own, whose objects affect what a request matches and how it is ordered: those
/// that its key paths pass through.
struct RequestReach {
    private var entities: Set<Int> = []
    /// Whether the entities cannot be determined, because the request contains a block or a nested fetch.
    private var isUnknown = false

    var isWide: Bool { isUnknown || !entities.isEmpty }

    init(of specification: FetchSpecification, entity: NSEntityDescription, sectionNameKeyPath: String?) {
        var keyPaths = (specification.sortDescriptors ?? []).compactMap(\.key) + [sectionNameKeyPath].compactMap(\.self)
        keyPaths.removeAll { $0 == "self" || $0 == "SELF" }
        for keyPath in keyPaths { add(keyPath.split(separator: ".").map(String.init), from: entity) }
        guard let node = specification.predicate?.embeddedNode else { return }
        for keyPath in node.keyPaths { add(keyPath, from: entity) }
        node.walk { part in
            switch part {
            case .predicate(.opaque), .expression(.opaque), .expression(.call), .expression(.fetch): isUnknown = true
            default: break
            }
        }
    }

    func contains(_ entity: Int) -> Bool { isUnknown || entities.contains(entity) }

    private mutating func add(_ keyPath: [String], from entity: NSEntityDescription) {
        // The usual case: a property of the object itself, which is the same in entities that inherit it.
        if keyPath.count == 1, let property = entity.propertiesByName[keyPath[0]],
            !(property is NSFetchedPropertyDescription)
        {
            return
        }
        var reached = [entity]
        for (depth, key) in keyPath.enumerated() where !key.hasPrefix("@") {
            let properties = reached.flatMap(\.withSubentities).compactMap { $0.propertiesByName[key] }
            if properties.contains(where: { $0 is NSFetchedPropertyDescription }) { isUnknown = true }
            reached = properties.compactMap { ($0 as? NSRelationshipDescription)?.destinationEntity }
            guard !reached.isEmpty else { return }
            // A reference is a value of the object itself; the properties of the referenced object are not.
            let leadsOn = keyPath[(depth + 1)...].contains { !$0.hasPrefix("@") }
            if leadsOn { for entity in reached { entities.formUnion(entity.subtree) } }
        }
    }
}
