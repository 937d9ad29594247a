import Coral
import CoreData

/// Examines the rows of a store before one step of a migration.
struct RowRehearsal {
    private let step: MigrationStep
    private let repairs: [MigrationRepair]
    /// The source model, with values of transformable attributes as bytes.
    private let model: NSManagedObjectModel
    private var entities: [(entity: NSEntityDescription, checks: [RowRehearsalCheck], keys: [UniquenessRehearsal])] = []

    /// Whether the rows have to be read: a change may concern them.
    var isNeeded: Bool { !entities.isEmpty }

    init(of step: MigrationStep, repairs: [MigrationRepair]) throws {
        self.step = step
        self.repairs = repairs
        model = step.source.model.keepingStoredArchives()
        // The effect of a mapping model on rows cannot be derived from the two models.
        if case .mapping = step.kind { return }
        let correspondence = ModelCorrespondence(from: model, to: step.destination.model)
        let constraints = UniquenessRehearsal.new(in: correspondence)
        for entity in model.sortedEntities where !entity.isAbstract {
            let checks = try checks(of: entity, correspondence)
            let keys = constraints.filter { $0.concerns(entity) }
            if !checks.isEmpty || !keys.isEmpty { entities.append((entity, checks, keys)) }
        }
    }

    /// The findings in a store with the version before the step: first those that stop the migration, each kind by entity and
    /// property.
    ///
    /// - Parameter limit: The number of URIs that a finding contains.
    func findings(inStoreAt url: URL, limit: Int, _ progress: Progress?) throws -> [MigrationFinding] {
        guard isNeeded else { return [] }
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(
            ofType: url.storeType, configurationName: nil, at: url, options: [NSReadOnlyPersistentStoreOption: true]
        )
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        context.undoManager = nil
        let findings = try context.performAndWait {
            defer { context.reset() }
            return try self.findings(in: context, limit, progress)
        }
        try coordinator.remove(store)
        return findings
    }

    private func findings(
        in context: NSManagedObjectContext, _ limit: Int, _ progress: Progress?
    ) throws -> [MigrationFinding] {
        // A plan describes the whole model, so one loader is used for all entities.
        let loader = try ObjectLoader(reading: model, in: context, batchSize: 500)
        var found = RehearsalRows(limit: limit)
        for (entity, checks, keys) in entities {
            let ids = try loader.ids(of: entity)
            for start in stride(from: 0, to: ids.count, by: loader.batchSize) {
                try autoreleasing {
                    try progress?.checkCancelled()
                    let batch = Array(ids[start..<min(start + loader.batchSize, ids.count)])
                    for object in try loader.objects(with: batch).compactMap({ $0 }) {
                        for check in checks { found.add(check, check.objects(object)) }
                        for key in keys { found.add(key.check, key.duplicates(object)) }
                    }
                    context.reset()
                }
            }
        }
        return found.findings(step: "\(step.source.name) -> \(step.destination.name)")
    }

    /// The checks of the objects of an entity.
    private func checks(
        of entity: NSEntityDescription, _ correspondence: ModelCorrespondence
    ) throws -> [RowRehearsalCheck] {
        guard let after = correspondence.destination(of: entity) else {
            return RemovedEntityChecks(entity, correspondence).checks
        }
        let names = correspondence.properties(from: entity, to: after)
        var checks = Self.removals(entity, after, Set(names.values))
        let repaired = try RepairedMapping(
            source: model, destination: step.destination.model, repairs: repairs
        ).attributeRepairs(from: entity, to: after)
        for property in ModelCorrespondence.properties(of: after) {
            let before = names[property.name].flatMap { entity.propertiesByName[$0] }
            if let attribute = property as? NSAttributeDescription {
                if let repair = repaired.first(where: { $0.name == attribute.name }) {
                    checks += AttributeChecks.repaired(attribute, of: after, repair)
                } else {
                    checks += try AttributeChecks.checks(attribute, of: after, from: before as? NSAttributeDescription)
                }
            } else if let relationship = property as? NSRelationshipDescription {
                checks += RelationshipChecks.checks(
                    relationship, of: after, from: before as? NSRelationshipDescription)
            }
        }
        return checks
    }

    /// Values and references of properties that are removed.
    private static func removals(
        _ entity: NSEntityDescription, _ after: NSEntityDescription, _ kept: Set<String>
    ) -> [RowRehearsalCheck] {
        ModelCorrespondence.properties(of: entity).compactMap { property in
            let name = property.name
            guard !kept.contains(name), !(property is NSDerivedAttributeDescription) else { return nil }
            return RowRehearsalCheck(
                .removedValue, after.name, name, isBreaking: false,
                property is NSRelationshipDescription
                    ? "The relationship is removed, together with its references."
                    : "The attribute is removed, together with its values."
            ) { $0.hasValue(forKey: name) ? [$0.objectID] : [] }
        }
    }
}

/// A check of one object. It returns the objects with the problem, which need not be the checked one.
struct RowRehearsalCheck {
    let code: MigrationFinding.Code
    let entity: String
    let property: String?
    let isBreaking: Bool
    let message: String
    let objects: (NSManagedObject) -> [NSManagedObjectID]

    init(
        _ code: MigrationFinding.Code, _ entity: String?, _ property: String?, isBreaking: Bool, _ message: String,
        _ objects: @escaping (NSManagedObject) -> [NSManagedObjectID]
    ) {
        self.code = code
        self.entity = entity ?? ""
        self.property = property
        self.isBreaking = isBreaking
        self.message = message
        self.objects = objects
    }
}

/// The objects that checks have found.
struct RehearsalRows {
    private struct Reason: Hashable {
        var code: MigrationFinding.Code
        var entity: String
        var property: String?
        var message: String
        var isBreaking: Bool
    }

    private struct Rows {
        var count = 0
        var first: [NSManagedObjectID] = []
    }

    let limit: Int
    private var rows: [Reason: Rows] = [:]
    private var order: [Reason] = []

    init(limit: Int) { self.limit = limit }

    mutating func add(_ check: RowRehearsalCheck, _ objects: [NSManagedObjectID]) {
        guard !objects.isEmpty else { return }
        let reason = Reason(
            code: check.code, entity: check.entity, property: check.property, message: check.message,
            isBreaking: check.isBreaking)
        if rows[reason] == nil { order.append(reason) }
        var found = rows[reason] ?? Rows()
        found.count += objects.count
        found.first += objects.prefix(max(0, limit - found.first.count))
        rows[reason] = found
    }

    func findings(step: String) -> [MigrationFinding] {
        let all = order.map { reason in
            MigrationFinding(
                code: reason.code, entity: reason.entity, property: reason.property, count: rows[reason]?.count ?? 0,
                objects: rows[reason]?.first.map { $0.uriRepresentation() } ?? [], message: reason.message,
                isBreaking: reason.isBreaking, step: step)
        }
        return all.filter(\.isBreaking) + all.filter { !$0.isBreaking }
    }
}

extension NSManagedObject {
    /// Whether an attribute has a value, or a relationship a destination.
    func hasValue(forKey key: String) -> Bool {
        if Engine.current.missingFile(of: self, forKey: key) != nil { return true }
        switch value(forKey: key) {
        case nil, is NSNull: return false
        case let set as NSSet: return set.count > 0
        case let set as NSOrderedSet: return set.count > 0
        default: return true
        }
    }

    /// The destinations of a relationship.
    func destinations(forKey key: String) -> [NSManagedObject] {
        switch value(forKey: key) {
        case let object as NSManagedObject: [object]
        case let set as NSOrderedSet: set.array.compactMap { $0 as? NSManagedObject }
        case let set as NSSet: set.allObjects.compactMap { $0 as? NSManagedObject }
        default: []
        }
    }
}
