import ArgumentParser
import Coral

/// `coral import`: a document into a store.
struct ImportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import", abstract: "Imports a document into a store, which is made where there is none.",
        discussion: """
            Objects are found by the keys that --key or the model's user info (coral.identity) declare, by the model's \
            uniqueness constraints, or by their ids where the document comes from the very store. What is found is \
            updated, the rest is made. All is written, or on any error nothing.

            With --restore a store is made again as it was when it was exported: with its UUID and its primary keys.

            A new store needs a model: --model takes a .momd, .mom, .xcdatamodeld, .xcdatamodel, or a store that keeps \
            its own.
            """)

    @Argument(help: "The document.")
    var file: String

    @Option(name: .long, help: ArgumentHelp("The store to import into.", valueName: "store"))
    var into: String

    @Flag(name: .long, help: "Keep the UUID and the primary keys of the store that the document comes from.")
    var restore = false

    @Flag(name: .long, help: "Show what would be done, and do nothing.")
    var dryRun = false

    @Option(
        name: .long,
        help: ArgumentHelp(
            "What identifies objects of an entity, such as Note=id or Line=order,number.", valueName: "key"))
    var key: [String] = []

    @Option(name: .long, help: "The entity of objects that do not say theirs.")
    var entity: String?

    @Flag(name: .long, help: "Refuse values that are not of their declared type.")
    var strict = false

    @Flag(name: .long, help: "Leave out records with errors, and import the rest.")
    var skipInvalid = false

    @OptionGroup var source: ModelSource

    func run() throws {
        let url = URL(fileURLWithPath: file)
        guard FileManager.default.fileExists(atPath: url.path) else {
            throw CommandError("There is no document at \(file).")
        }
        restore ? try restoreStore(from: url) : try importDocument(url)
    }

    // MARK: - Importing

    private func importDocument(_ document: URL) throws {
        let store = URL(fileURLWithPath: into)
        let isNew = !FileManager.default.fileExists(atPath: store.path)
        let model = try storeModel(store, isNew: isNew)
        let importer = try options(document)
        if isNew, dryRun {
            // Nothing is written, not even an empty store.
            let open = try ImportTarget(inMemoryWith: model)
            return try open.context.performAndWait { try show(try plan(document, into: open.context, importer)) }
        }
        if isNew { try StoreCreation.createStore(at: store, model: model) }
        do {
            let open = try OpenStore(url: store, model: model, isReadOnly: false)
            if isNew, isLarge(document), !importer.skipsInvalid {
                // A new store is removed on any error, so that here too it is all or nothing.
                return report(
                    try BatchImporter(into: open.coordinator, options: importer).importDocument(
                        .file(document), entity: entity))
            }
            try open.context.performAndWait {
                let plan = try plan(document, into: open.context, importer)
                guard !dryRun else { return try show(plan) }
                try plan.apply()
                if open.context.hasChanges { try open.context.save() }
                report(plan)
            }
        } catch {
            if isNew { StoreCreation.removeStore(at: store, model: model) }
            throw error
        }
    }

    /// Whether a document is better imported in batches: 32 MB and more.
    private func isLarge(_ document: URL) -> Bool {
        let attributes = try? FileManager.default.attributesOfItem(atPath: document.path)
        return (attributes?[.size] as? NSNumber)?.intValue ?? 0 >= 32_000_000
    }

    private func plan(
        _ document: URL, into context: NSManagedObjectContext, _ options: ImportOptions
    ) throws -> ImportPlan<NSManagedObject> {
        var importer = GraphImporter(into: context, options: options)
        importer.worksInPlace = true
        return try importer.plan(.file(document), entity: entity)
    }

    private func options(_ document: URL) throws -> ImportOptions {
        var options = ImportOptions()
        options.folder = document.deletingLastPathComponent()
        options.isStrict = strict
        options.skipsInvalid = skipInvalid
        for text in key {
            let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
            guard parts.count == 2 else { throw CommandError("--key \(text) is not of the form Entity=attribute,….") }
            options.identity.keys[parts[0]] = parts[1].split(separator: ",").map(String.init)
        }
        return options
    }

    private func storeModel(_ store: URL, isNew: Bool) throws -> NSManagedObjectModel {
        if isNew, source.model == nil {
            throw CommandError("There is no store at \(into). Give the model of the new store with --model.")
        }
        return try source.model(for: store)
    }

    // MARK: - Restoring

    private func restoreStore(from document: URL) throws {
        let store = URL(fileURLWithPath: into)
        let isNew = !FileManager.default.fileExists(atPath: store.path)
        guard !dryRun else { throw CommandError("--dry-run does not go with --restore.") }
        var restorer = StoreRestorer(model: try storeModel(store, isNew: isNew))
        restorer.folder = document.deletingLastPathComponent()
        report(try restorer.restore(.file(document), to: store))
    }

    // MARK: - Telling

    private func report(_ plan: ImportPlan<NSManagedObject>) {
        for conflict in plan.conflicts.kept.prefix(10) { StandardError.warn(conflict.description) }
        for error in plan.errors.kept.prefix(10) { StandardError.warn("Left out: \(error)") }
        StandardOutput.write("\(plan.summary)\n")
    }

    private func report(_ result: BatchImporter.Result) {
        for conflict in result.conflicts.prefix(10) { StandardError.warn(conflict.description) }
        StandardOutput.write(
            "\(Quantity.count(result.insertCount, "insert")), \(Quantity.count(result.linkCount, "link")), 0 errors\n")
    }

    private func show(_ plan: ImportPlan<NSManagedObject>) throws {
        StandardOutput.write(ImportReport.text(of: plan))
        if !plan.errors.isEmpty, !skipInvalid { throw ExitCode.failure }
    }
}

/// A store in memory, for plans that nobody carries out.
private struct ImportTarget {
    let context: NSManagedObjectContext

    init(inMemoryWith model: NSManagedObjectModel) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model.keepingStoredArchives())
        try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil, options: nil)
        context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
    }
}
