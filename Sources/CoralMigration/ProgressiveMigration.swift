import Coral
import CoreData
import ModelFiles

// How a store is migrated over several versions.
//
// `ProgressiveMigration` finds the steps: `VersionPath`, in `ModelFiles`, searches the shortest
// path over the versions, and `ModelCorrespondence` determines which inferred steps in turn have the effect of one. A
// chain of inferred steps is one transaction in the store's file (`LightweightMigration`; with Apple's framework one
// step); other chains run on a copy (`StepExecution`), which replaces the store at the end. Repairs of attributes
// become a mapping model (`RepairedMapping`): inferred for a copy of the newer model without the obstacles, with a
// policy that computes the repaired values; duplicates are merged before the step. `MigrationRehearsal` makes the same
// steps on a copy in the temporary folder, and before each of them `RowRehearsal` examines the rows.
//
// A migration in place changes the version of SQLite's schema. A connection with the old model compares that version
// when it reads a commit for the first time (`ModelVersionCheck`). If the version has changed, the connection reads the
// metadata, and throws code 134100 if they do not fit the model.

/// Migrates a store of any version of a model to a later version, through the intermediate versions where necessary.
///
///     let migration = try ProgressiveMigration(toModelAt: modelURL)          // Notes.momd, with all versions
///     print(try migration.steps(forStoreAt: storeURL).count)
///     try migration.migrateStore(at: storeURL)
///
/// A step is made with a mapping model if there is one for its versions, else by inference. Consecutive inferred steps become one
/// where that gives the same objects: where no property loses its values or gets another default value in an intermediate version.
/// Those that are left are still one transaction.
public struct ProgressiveMigration: Sendable {
    /// The version to migrate to.
    public let destination: ModelVersion
    /// The versions in order, from the oldest to the destination.
    public let versions: [ModelVersion]
    /// The versions after the destination.
    private let laterVersions: [ModelVersion]
    /// Mapping models; those whose version hashes are equal to those of two versions are used.
    public var mappings: [MigrationMapping] = []
    /// Repairs for rows and properties that would stop the migration.
    public var repairs: [MigrationRepair] = []

    /// A migration to a version.
    ///
    /// - Parameters:
    ///   - destination: The version to migrate to.
    ///   - through: The other versions in order, the oldest first. Those after the destination are ignored.
    public init(to destination: ModelVersion, through: [ModelVersion] = []) {
        self.destination = destination
        let last = through.firstIndex { $0.isEqual(to: destination) } ?? through.endIndex
        versions = through[..<last] + [destination]
        laterVersions = Array(through[last...].dropFirst())
    }

    /// A migration to the model in a file; of a file with several versions to the current one, through the others.
    ///
    /// - Parameters:
    ///   - url: The model: a `.momd` or `.mom`; with this package's engine also an `.xcdatamodeld` or `.xcdatamodel`.
    ///   - through: Files or folders with the other versions, in order; the versions in one of them are in the order of
    ///     their names. Empty for the versions in the file itself.
    /// - Throws: ``MigrationError`` if a model cannot be read.
    public init(toModelAt url: URL, through: [URL] = []) throws {
        let destination = try ModelVersion.version(at: url)
        let others = through.isEmpty ? [Self.bundle(of: url)] : through
        let versions = try others.flatMap(ModelVersion.versions(at:))
        let same = versions.first { $0.isEqual(to: destination) }
        self.init(to: same ?? destination, through: versions)
    }

    /// The bundle of all versions that a file is in.
    private static func bundle(of url: URL) -> URL {
        let folder = url.deletingLastPathComponent()
        return ["momd", "xcdatamodeld"].contains(folder.pathExtension.lowercased()) ? folder : url
    }

    /// The mapping models that do not fit any two of the versions: those of another model, or of a version that has been
    /// edited since.
    ///
    /// - Parameter source: A version that need not be one of ``versions``, such as that of a store.
    package func unfittingMappings(from source: ModelVersion? = nil) -> [MigrationMapping] {
        let hashes = ((source.map { [$0] } ?? []) + versions).map(\.model.entityVersionHashesByName)
        return mappings.filter { mapping in
            !hashes.indices.contains { from in
                hashes.indices.contains { $0 != from && mapping.fits(from: hashes[from], to: hashes[$0]) }
            }
        }
    }

    // MARK: - Steps

    /// The steps from the version of a store; none if it already has the version to migrate to. An impossible step is the
    /// last.
    ///
    /// - Throws: ``MigrationError`` if the store's version is not known, is later than the destination, or belongs to another
    ///   model without any entity of this one; Core Data's errors if the store cannot be read. Cost: the version hashes of all
    ///   versions, and an inference for each step.
    public func steps(forStoreAt url: URL) throws -> [MigrationStep] {
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
            ofType: url.storeType, at: url, options: [NSReadOnlyPersistentStoreOption: true])
        if destination.fits(metadata) { return [] }
        if let version = versions.last(where: { $0.fits(metadata) }) { return try steps(from: version) }
        if let later = laterVersions.last(where: { $0.fits(metadata) }) {
            throw MigrationError(
                .laterVersion,
                "\(url.storeName) was written with the version \"\(later.name)\", which is later than \"\(destination.name)\": stores "
                    + "cannot be migrated backwards.")
        }
        guard let own = StoredModel.model(ofStoreAt: url), own.fits(metadata) else {
            throw MigrationError(
                .missingSourceVersion,
                "\(url.storeName) was written with a version of the model that is not among the given ones, and does not contain "
                    + "its model. Give that version, too.")
        }
        let correspondence = ModelCorrespondence(from: own.model, to: destination.model)
        guard own.model.entities.isEmpty || !correspondence.sourceEntities.isEmpty else {
            throw MigrationError(
                .otherModel,
                "\(url.storeName) was written with another model: it has no entity of \"\(destination.name)\", and a migration "
                    + "would remove all objects.")
        }
        return try steps(from: own)
    }

    /// The steps from a version, which need not be one of ``versions``. An impossible step is the last.
    public func steps(from source: ModelVersion) throws -> [MigrationStep] {
        let table = VersionTable(versions, mappings: mappings)
        guard let start = versions.lastIndex(where: { $0.isEqual(to: source) }) else {
            return stepsFromUnknown(source)
        }
        let end = versions.count - 1
        // Mostly one step suffices. Then no step between other versions has to be inferred.
        if start < end, !table.hasMapping(among: start...end), Self.isOneStep(Array(versions[start...])) {
            return [MigrationStep(source: versions[start], destination: destination, kind: .inferred)]
        }
        let found = VersionPath.steps(from: start, to: end, isMapped: table.isMapped, isInferred: table.isInferred)
        guard let found else {
            // The steps between consecutive versions, up to the first that is not possible.
            var steps: [MigrationStep] = []
            for index in start..<end {
                steps.append(step(from: versions[index], to: versions[index + 1]))
                if !steps[steps.count - 1].obstacles.isEmpty { break }
            }
            return steps
        }
        return Self.joined(found.map { step($0, in: versions) })
    }

    /// Steps of which inferred ones in turn are replaced by as few as give the same objects.
    private static func joined(_ steps: [MigrationStep]) -> [MigrationStep] {
        var joined: [MigrationStep] = []
        var start = 0
        while start < steps.count {
            let end = steps[start...].firstIndex { !$0.isInferred } ?? steps.count
            // The number of steps that one step replaces, and a number that is too large. Doubled, so that the cost is that of the
            // steps that are replaced, not of all.
            var (count, excess) = (1, end - start + 1)
            while count + 1 < excess {
                let next = min(2 * count, (count + excess) / 2)
                let versions = [steps[start].source] + steps[start..<start + next].map(\.destination)
                if isOneStep(versions) { count = next } else { excess = next }
            }
            joined.append(
                count == 1
                    ? steps[start]
                    : MigrationStep(
                        source: steps[start].source, destination: steps[start + count - 1].destination, kind: .inferred)
            )
            start += count
        }
        return joined
    }

    /// Whether one inferred step from the first of several versions to the last gives the same objects as a step to each.
    private static func isOneStep(_ versions: [ModelVersion]) -> Bool {
        ModelCorrespondence.difference(ofDirectStepThrough: versions) == nil
            && MigrationObstacle.obstacles(from: versions[0].model, to: versions[versions.count - 1].model).isEmpty
    }

    /// Why a store is not migrated by one inferred step: what prevents a step directly to the destination, or what it would change.
    /// Nil for one step to the destination, and for steps with mapping models or repairs.
    package func detour(of steps: [MigrationStep]) -> String? {
        guard let first = steps.first?.source, let last = steps.last?.destination,
            steps.count > 1 || !last.isEqual(to: destination),
            steps.allSatisfy({ $0.isInferred || !$0.placedObstacles.isEmpty })
        else { return nil }
        let obstacles = MigrationObstacle.obstacles(from: first.model, to: destination.model)
        if let obstacle = obstacles.first { return "One step is not possible. \(obstacle)" }
        guard last.isEqual(to: destination) else { return nil }
        let versions = [first] + steps.map(\.destination)
        return ModelCorrespondence.difference(ofDirectStepThrough: versions).map {
            "One step would give other objects. \($0)"
        }
    }

    /// The position of the version in the order is not known. The store is migrated directly if possible; otherwise the version
    /// is treated as older than all others, and the steps are those of `VersionPath`.
    private func stepsFromUnknown(_ source: ModelVersion) -> [MigrationStep] {
        let direct = step(from: source, to: destination)
        if direct.obstacles.isEmpty { return [direct] }
        let all = [source] + versions
        let table = VersionTable(all, mappings: mappings)
        let found = VersionPath.steps(
            from: 0, to: all.count - 1, isMapped: table.isMapped, isInferred: table.isInferred)
        return found.map { Self.joined($0.map { step($0, in: all) }) } ?? [direct]
    }

    /// A step that was found to be possible.
    private func step(_ step: VersionPath.Step, in versions: [ModelVersion]) -> MigrationStep {
        let (source, destination) = (versions[step.from], versions[step.to])
        if step.isMapped { return self.step(from: source, to: destination) }
        return MigrationStep(source: source, destination: destination, kind: .inferred)
    }

    private func step(from source: ModelVersion, to destination: ModelVersion) -> MigrationStep {
        func step(_ kind: MigrationStep.Kind) -> MigrationStep {
            MigrationStep(source: source, destination: destination, kind: kind)
        }
        let hashes = (source.model.entityVersionHashesByName, destination.model.entityVersionHashesByName)
        if let mapping = mappings.first(where: { $0.fits(from: hashes.0, to: hashes.1) }) {
            return step(.mapping(mapping))
        }
        let obstacles = MigrationObstacle.obstacles(from: source.model, to: destination.model)
        if obstacles.isEmpty { return step(.inferred) }
        if repairs.isEmpty { return step(.impossible(obstacles)) }
        let left = RepairedMapping(source: source.model, destination: destination.model, repairs: repairs).obstacles()
        return step(left.isEmpty ? .repaired : .impossible(left))
    }
}

/// The possible steps between the versions of a list.
private struct VersionTable {
    private let versions: [ModelVersion]
    private let mappings: [MigrationMapping]
    private let hashes: [[String: Data]]

    init(_ versions: [ModelVersion], mappings: [MigrationMapping]) {
        self.versions = versions
        self.mappings = mappings
        hashes = versions.map(\.model.entityVersionHashesByName)
    }

    func isMapped(from: Int, to: Int) -> Bool {
        mappings.contains { $0.fits(from: hashes[from], to: hashes[to]) }
    }

    func hasMapping(among indices: ClosedRange<Int>) -> Bool {
        !mappings.isEmpty
            && indices.contains { from in indices.contains { from < $0 && isMapped(from: from, to: $0) } }
    }

    func isInferred(from: Int, to: Int) -> Bool {
        MigrationObstacle.obstacles(from: versions[from].model, to: versions[to].model).isEmpty
    }
}
