import CoreDataErrors
import Foundation
import FoundationAdditions
import ManagedObjects
import ModelFiles
import Synchronization

/// One side of a migration: a copy of a model whose classes are all `NSManagedObject`, with coordinator and context.
final class MigrationStack {
    let model: NSManagedObjectModel
    let coordinator: NSPersistentStoreCoordinator
    private(set) lazy var context: NSManagedObjectContext = {
        let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return context
    }()

    init(_ original: NSManagedObjectModel) {
        // Copies of a model are models.
        model = original.copy() as? NSManagedObjectModel ?? original
        for entity in model.entities where model !== original {
            entity.managedObjectClassName = ManagedObjects.NSStringFromClass(NSManagedObject.self)
        }
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    }

    /// Closes the stores and releases the objects.
    func close() {
        context.reset()
        for store in coordinator.persistentStores { try? coordinator.remove(store) }
    }
}

/// Which destination instances were created for which source instances: the association tables of a migration.
///
/// Source instances are represented by their IDs, so that their values can be released. Memory: some 200 bytes for each
/// association.
struct MigrationAssociations {
    private struct Link {
        let mapping: String
        let source: NSManagedObjectID
        let destination: NSManagedObject
    }

    private var links: [Link] = []
    private var bySource: [NSManagedObjectID: [Int]] = [:]
    private var byDestination: [ObjectIdentifier: [Int]] = [:]
    private var byMapping: [String: [Int]] = [:]

    mutating func add(_ source: NSManagedObject, _ destination: NSManagedObject, mapping: String) {
        let link = Link(mapping: mapping, source: source.objectID, destination: destination)
        bySource[link.source, default: []].append(links.count)
        byDestination[ObjectIdentifier(destination), default: []].append(links.count)
        byMapping[mapping, default: []].append(links.count)
        links.append(link)
    }

    mutating func removeAll() { self = MigrationAssociations() }

    /// The destination instances of a mapping, each once, in the order of their association.
    func destinations(mapping: String) -> [NSManagedObject] {
        var met: Set<ObjectIdentifier> = []
        return (byMapping[mapping] ?? []).map { links[$0].destination }.filter {
            met.insert(ObjectIdentifier($0)).inserted
        }
    }

    /// The source instances of a mapping, each once, in the order of their association.
    func sources(mapping: String) -> [NSManagedObjectID] {
        var met: Set<NSManagedObjectID> = []
        return (byMapping[mapping] ?? []).map { links[$0].source }.filter { met.insert($0).inserted }
    }

    /// The destination instances of a source instance, of one mapping or of all.
    func destinations(of source: NSManagedObjectID, mapping: String?) -> [NSManagedObject] {
        (bySource[source] ?? []).map { links[$0] }.filter { mapping == nil || $0.mapping == mapping }.map(\.destination)
    }

    /// The source instances of a destination instance of a mapping.
    func sources(of destination: NSManagedObject, mapping: String) -> [NSManagedObjectID] {
        (byDestination[ObjectIdentifier(destination)] ?? []).map { links[$0] }.filter { $0.mapping == mapping }
            .map(\.source)
    }
}

extension NSMigrationManager {
    /// Copies the history of the source store to the new store, and rewrites it for the new model. Does nothing if the source has no
    /// history, or if the stores are of different types. The destination must have none, and its objects must have been saved.
    final func copyHistory(
        _ mappings: [NSEntityMapping], from source: NSPersistentStore, to destination: NSPersistentStore
    ) throws {
        guard type(of: source) == type(of: destination) else { return }
        let history = MigratedHistory(source: source, entities: mappings.map(\.names)) { entity, key in
            let name = mappings.first { $0.sourceEntityName == entity.name && $0.destinationEntityName != nil }?
                .destinationEntityName
            let root = name.flatMap { self.stacks.destination.model.entitiesByName[$0] }?.rootEntity.name
            if let root, self.rootsKeepingKeys.contains(root) { return key }
            let identifier = NSManagedObjectID(
                key: ObjectKey(store: source.number, entity: UInt16(truncatingIfNeeded: entity.index), number: key),
                entity: entity, storeIdentifier: source.identifier)
            return self.associations.destinations(of: identifier, mapping: nil).first?.objectID.primaryKey
        }
        try (destination as? any DatabaseStore)?.copyHistory(of: history)
    }
}

extension NSEntityMapping {
    /// The names of the entities, and those of the source properties that the expressions name.
    var names: InferredMapping.Entity {
        func names(_ mappings: [NSPropertyMapping]?) -> [InferredMapping.Property] {
            (mappings ?? []).map { mapping in
                let text = mapping.valueExpression?.description ?? ""
                return .init(
                    name: mapping.name ?? "", sourceName: text.firstMatch(of: /\$source\.(\w+)/).map { String($0.1) })
            }
        }
        return InferredMapping.Entity(
            kind: .transform, sourceName: sourceEntityName, destinationName: destinationEntityName,
            attributes: names(attributeMappings), relationships: names(relationshipMappings))
    }
}

/// Finds the classes of migration policies by the names that mappings give.
final class MigrationPolicyClasses: Sendable {
    static let shared = MigrationPolicyClasses()

    private let known = Mutex<[String: NSEntityMigrationPolicy.Type]>([:])

    func register(_ policyClass: NSEntityMigrationPolicy.Type, as name: String?) {
        known.withLock { $0[name ?? String(describing: policyClass)] = policyClass }
    }

    /// The only policy class of the program with a name, which may be without a module.
    private func onlyClass(named name: String) -> NSEntityMigrationPolicy.Type? {
        let found = ProgramClasses.named(name).compactMap { $0 as? NSEntityMigrationPolicy.Type }
        return found.count == 1 ? found[0] : nil
    }

    /// The policy of a mapping.
    ///
    /// - Throws: Code 134110 if its class does not exist or is not a policy's, and if a custom mapping names none.
    func policy(of mapping: NSEntityMapping) throws -> NSEntityMigrationPolicy {
        guard let name = mapping.entityMigrationPolicyClassName, !name.isEmpty else {
            guard mapping.mappingType != .customEntityMappingType else {
                throw CocoaError(
                    .migration,
                    "The entity mapping “\(mapping.name ?? "")” is of the type custom and has no migration policy.")
            }
            return NSEntityMigrationPolicy()
        }
        let registered = known.withLock { $0[name] }
        guard
            let found = registered ?? NSClassFromString(name) as? NSEntityMigrationPolicy.Type ?? onlyClass(named: name)
        else {
            throw CocoaError(
                .migration,
                "There is no migration policy of the class \(name), which the entity mapping “\(mapping.name ?? "")” names. "
                    + "Register it with NSEntityMigrationPolicy.register(as:).")
        }
        return found.init()
    }
}
