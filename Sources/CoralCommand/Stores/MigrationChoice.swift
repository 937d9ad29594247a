import ArgumentParser
import Coral
import CoralMigration

/// The migration that a command makes: the model, its earlier versions, and mapping models.
struct MigrationChoice: ParsableArguments {
    @Option(
        name: .long, help: ArgumentHelp("The model to migrate to, or a store with that model.", valueName: "model"),
        completion: Completion.models)
    var to: String

    @Option(
        name: .long,
        help: ArgumentHelp("The intermediate versions: a model, or a folder of models.", valueName: "models"),
        completion: Completion.models)
    var through: [String] = []

    @Option(
        name: .long,
        help: ArgumentHelp(
            "A mapping model (.cdm, .xcmappingmodel), or a folder or bundle with them. Default: those beside the model.",
            valueName: "path"),
        completion: .file())
    var mapping: [String] = []

    @Flag(name: .long, help: "Use no mapping model: all steps are inferred.")
    var inferred = false

    func validate() throws {
        if inferred, !mapping.isEmpty { throw ValidationError("--inferred and --mapping contradict each other.") }
    }

    /// The chosen migration. Throws `CommandError` and the errors of the models.
    func migration(_ repairs: MigrationRepairOptions) throws -> ProgressiveMigration {
        let target = URL(storeAt: to)
        let sources = try SwiftDataSourceFiles.read(to)
        guard try sources != nil || target.storeExists() else {
            throw CommandError("There is no model or store at \(ServerURLs.shown(to)).")
        }
        let between = try through.map { path in
            guard FileManager.default.fileExists(atPath: path) else {
                throw CommandError("There is no model at \(path).")
            }
            return URL(fileURLWithPath: path)
        }
        var migration: ProgressiveMigration
        if let sources {
            let versions = try sources.versions.map {
                ModelVersion(name: $0.name, model: try SwiftDataSourceFiles.managedModel($0.model))
            }
            let name = sources.current.name
            let current = versions.first { $0.name == name } ?? versions[versions.count - 1]
            // A SwiftData plan migrates over its versions.
            let planned = versions.filter { sources.plan?.schemas.dropLast().contains($0.name) == true }
            migration = ProgressiveMigration(
                to: current, through: try planned + between.flatMap(ModelVersion.versions(at:)))
        } else if ModelSource.isModelFile(target) {
            migration = try ProgressiveMigration(toModelAt: target, through: between)
        } else {
            let name = target.deletingPathExtension().lastPathComponent
            migration = ProgressiveMigration(
                to: ModelVersion(name: name, model: try ModelSource.model(at: to)),
                through: try between.flatMap(ModelVersion.versions(at:)))
        }
        if mapping.isEmpty, !inferred {
            migration.mappings = try MappingFiles.files(of: target).map(MigrationMapping.init(contentsOf:))
        }
        migration.mappings += try mapping.flatMap { path in
            guard FileManager.default.fileExists(atPath: path) else {
                throw CommandError("There is no mapping model at \(path).")
            }
            return try MigrationMapping.mappings(at: URL(fileURLWithPath: path))
        }
        migration.repairs = try repairs.chosen()
        return migration
    }
}
