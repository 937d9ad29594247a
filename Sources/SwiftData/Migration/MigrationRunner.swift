import CoreData
import Foundation
import ManagedObjects

/// The versions of a program's models, and how a store moves from one to the next.
public protocol SchemaMigrationPlan: SendableMetatype {
    /// The versions, the oldest first.
    static var schemas: [any VersionedSchema.Type] { get }
    /// The steps between them.
    static var stages: [MigrationStage] { get }
}

/// One step of a ``SchemaMigrationPlan``.
public enum MigrationStage: @unchecked Sendable {  // because a migration executes the functions one after the other
    /// A step that the store infers from the two versions.
    case lightweight(fromVersion: any VersionedSchema.Type, toVersion: any VersionedSchema.Type)
    /// A step with work of the program: before it with the old models, after it with the new ones.
    @preconcurrency
    case custom(
        fromVersion: any VersionedSchema.Type, toVersion: any VersionedSchema.Type,
        willMigrate: ((ModelContext) throws -> Void)?, didMigrate: ((ModelContext) throws -> Void)?)
}

/// Brings the store of a configuration to the version of a container's schema, by the stages of a plan.
///
/// Without a plan the store's own migration does it, which infers what has changed. A custom stage with functions works on a copy,
/// which replaces the store when both have returned: the stage is done completely or not at all.
struct MigrationRunner {
    let schema: Schema
    let plan: (any SchemaMigrationPlan.Type)?
    /// The entities that the configuration keeps; nil if it is the only one, which keeps all.
    let part: Set<String>?

    /// Migrates a store, if it exists and has another version.
    ///
    /// - Throws: Code 134504 if the store has none of the plan's versions, ``SwiftDataError/unknownSchema`` if the container has none,
    ///   ``SwiftDataError/backwardMigration`` if the store is newer, 134070 if the store is
    ///   in use where a stage has functions, and the error of a stage. The store then has one of the plan's versions.
    func migrate(_ configuration: ModelConfiguration) throws {
        guard let plan, FileManager.default.fileExists(atPath: configuration.url.path) else { return }
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
            ofType: NSSQLiteStoreType, at: configuration.url, options: nil)
        let stored = metadata[NSStoreModelVersionHashesKey] as? [String: Data] ?? [:]
        func isVersion(_ schema: Schema, _ names: Set<String>) throws -> Bool {
            try model(of: schema, names, configuration).isConfiguration(
                withName: part == nil ? nil : configuration.name, compatibleWithStoreMetadata: metadata)
        }
        if try isVersion(schema, part ?? []) { return }
        let versions = plan.schemas.map { ($0, Schema(versionedSchema: $0)) }
        // A container that is created for classes has no version of its own: the last version with its entities is meant.
        let same = try versions.indices.filter { try isSame(versions[$0].1, schema) }
        let stated = schema.isVersionStated ? same.first { versions[$0].1.version == schema.version } : nil
        guard let end = stated ?? same.last else {
            throw SwiftDataError.unknownSchema.because("\(plan) does not have the version of the container's schema.")
        }
        guard let start = try versions.firstIndex(where: { try isVersion($0.1, Set(stored.keys)) }) else {
            throw CocoaError(
                CocoaError.Code(rawValue: 134504),
                userInfo: [
                    NSLocalizedDescriptionKey: "Cannot use staged migration with an unknown model version.",
                    NSLocalizedFailureReasonErrorKey:
                        "\(configuration.url.path) has none of the versions \(versions.map(\.1.version.description).joined(separator: ", ")). "
                        + (try nearest(to: metadata, at: configuration.url, among: versions.map(\.1))),
                ])
        }
        if start > end {
            throw SwiftDataError.backwardMigration.because(
                "\(configuration.url.path) has version \(versions[start].1.version), which is newer than \(versions[end].1.version)."
            )
        }
        for index in start..<end {
            try run(
                from: versions[index], to: versions[index + 1], Set(stored.keys).union(part ?? []), at: configuration)
        }
    }

    /// The model of a version, in which the configuration has its part of some entities.
    private func model(
        of schema: Schema, _ names: Set<String>, _ configuration: ModelConfiguration
    ) throws -> NSManagedObjectModel {
        let model = try ManagedModelBuilder.model(of: schema)
        if part != nil {
            model.setEntities(
                model.entities.filter { names.contains($0.name ?? "") }, forConfigurationName: configuration.name)
        }
        return model
    }

    /// The version that is nearest to a store's, and in what it differs: a version that shipped may have been edited since.
    private func nearest(to metadata: [String: Any], at url: URL, among versions: [Schema]) throws -> String {
        let stored = metadata[NSStoreModelVersionHashesKey] as? [String: Data] ?? [:]
        let models = try versions.map { ($0.version, try ManagedModelBuilder.model(of: $0)) }
        let nearest = models.max { one, other in
            func equal(_ model: NSManagedObjectModel) -> Int {
                model.entityVersionHashesByName.count { stored[$0.key] == $0.value }
            }
            return equal(one.1) < equal(other.1)
        }
        guard let (version, model) = nearest else { return "" }
        return "The nearest is \(version). \(StoreRefusal.sentence(ofStoreAt: url, metadata: metadata, model: model))"
    }

    /// Whether two schemas have the same entities, as a store compares them.
    private func isSame(_ one: Schema, _ other: Schema) throws -> Bool {
        try ManagedModelBuilder.model(of: one).entityVersionHashesByName
            == ManagedModelBuilder.model(of: other).entityVersionHashesByName
    }

    private typealias Version = (type: any VersionedSchema.Type, schema: Schema)

    private func run(
        from old: Version, to new: Version, _ names: Set<String>, at configuration: ModelConfiguration
    ) throws {
        let stage = plan?.stages.first { stage in
            switch stage {
            case .lightweight(let from, let to), .custom(let from, let to, _, _): from == old.type && to == new.type
            }
        }
        guard let stage else {
            throw SwiftDataError.unknownSchema.because(
                "No stage leads from version \(old.schema.version) to \(new.schema.version).")
        }
        guard case .custom(_, _, let willMigrate, let didMigrate) = stage, willMigrate != nil || didMigrate != nil
        else {
            return try work(with: new.schema, names, at: configuration.url, configuration, migrates: true) { _ in }
        }
        func run(at url: URL) throws {
            if let willMigrate {
                try work(with: old.schema, names, at: url, configuration, migrates: false, willMigrate)
            }
            try work(with: new.schema, names, at: url, configuration, migrates: true, didMigrate ?? { _ in })
        }
        // On a copy, because neither a function that throws nor the end of the process may leave half of a stage.
        let storeClass = try StoreClasses.shared.storeClass(ofType: NSSQLiteStoreType, url: configuration.url)
        guard let database = storeClass as? any DatabaseStore.Type else { return try run(at: configuration.url) }
        try database.changeCopy(ofStoreAt: configuration.url, run)
    }

    /// Opens the store, or its copy, with a version and calls a closure with a context, whose changes are saved.
    private func work(
        with schema: Schema, _ names: Set<String>, at url: URL, _ configuration: ModelConfiguration, migrates: Bool,
        _ body: (ModelContext) throws -> Void
    ) throws {
        let coordinator = NSPersistentStoreCoordinator(
            managedObjectModel: try model(of: schema, names, configuration))
        var options = StoreOpening.options(of: configuration)
        options[NSMigratePersistentStoresAutomaticallyOption] = migrates
        let store = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: part == nil ? nil : configuration.name, at: url,
            options: options)
        defer { try? coordinator.remove(store) }
        let container = ModelContainer(schema: schema, coordinator: coordinator, configuration: configuration)
        let context = ModelContext(container)
        try body(context)
        try context.save()
    }
}
