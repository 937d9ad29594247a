import ArgumentParser
import AtomicFiles
import Coral

/// `coral import`: imports a document into a store.
struct ImportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import", abstract: "Imports a document into a store, which is created if it does not exist.",
        discussion: """
            Existing objects are found by the identity that --key or the model's user info (coral.identity) declares, \
            by the model's uniqueness constraints, or by their ids if the document was exported from the same store. \
            Objects that are found are updated, the others are inserted. All changes are saved together, and none on \
            an error.

            With --restore a store is created as it was when it was exported: with its UUID and its primary keys. \
            --restore takes a store too, instead of a document. Its objects are copied to a new one: from a file to \
            PostgreSQL, and back.

            A document may also be a table, CSV or with tabs, whose first line has names of properties: its rows are objects \
            of --entity, or of the entity that the file is named after. A folder of tables is one that coral export \
            --format csv has written. An empty field is null. Messages have the lines of the table. A table does not say which \
            store it is from: all its rows are inserted, unless --key says how existing objects are found.

            A new store needs a model: --model takes a .momd, .mom, .xcdatamodeld or .xcdatamodel, or a store that \
            contains its model. A backup of an existing store is made before it is changed.

            EXAMPLES:
              coral import notes.json --into Notes.sqlite --dry-run
              coral import notes.json --into New.sqlite --model Notes.sqlite
              coral import notes.json --into New.sqlite --model Notes.sqlite \\
                --like Notes.sqlite
              coral import people.csv --entity Person --key Person=name \\
                --into Notes.sqlite --dry-run
              fetch-notes | coral import - --into Notes.sqlite --key Note=id
              coral import Notes.sqlite --restore \\
                --into 'postgresql://db.example.org/app?schema=notes'
            """)

    @Argument(help: "The document; - for standard input. With --restore also a store.")
    var file: InputDocument

    @Option(
        name: .long, help: ArgumentHelp("The store to import into.", valueName: "store"),
        completion: Completion.stores)
    var into: String

    @OptionGroup var likeness: LikeOption

    @Flag(name: .long, help: "Keep the UUID and the primary keys of the store from which the document was exported.")
    var restore = false

    @Flag(name: .long, help: "Show the changes that would be made, and change nothing.")
    var dryRun = false

    /// The layout of a document that does not declare it.
    enum Layout: String, ExpressibleByArgument, CaseIterable {
        case plain
    }

    @Option(name: .long, help: "The document's layout, if it does not declare it: plain has arrays by entity.")
    var layout: Layout?

    @OptionGroup var meaning: DocumentMeaning

    @Option(name: .long, help: "The entity of objects that do not declare theirs.", completion: Completion.entities)
    var entity: String?

    @OptionGroup(title: "Conflicts") var policies: ImportPolicies

    @OptionGroup(title: "Conflicts") var missing: MissingFilesOption

    @Flag(name: .long, help: "Reject values that are not of their declared type.")
    var strict = false

    @Flag(name: .long, help: "Omit records with errors, and import the rest.")
    var skipInvalid = false

    @Flag(name: .long, help: "State whether rows are written directly or objects are created, with the reason.")
    var explain = false

    @Flag(name: .long, help: "Print JSON.")
    var json = false

    @OptionGroup var backup: BackupOption

    @OptionGroup var quiet: QuietOption

    @OptionGroup var source: ModelSource

    func validate() throws {
        guard restore else { return }
        // A restored store is the one that was exported: nothing is interpreted, matched or omitted.
        let others: [(name: String, isGiven: Bool)] = [
            ("--dry-run", dryRun), ("--layout", layout != nil), ("--entity", entity != nil), ("--strict", strict),
            ("--skip-invalid", skipInvalid), ("--key", !meaning.keys.key.isEmpty),
            ("--dialect", meaning.words.dialect != nil),
        ]
        for (name, isGiven) in others + policies.given where isGiven {
            throw ValidationError("\(name) cannot be combined with --restore.")
        }
    }

    func run() throws {
        do {
            try importFile()
        } catch let error as ImportError where !restore {
            guard let advice = ImportAdvice.text(of: [error] + error.others) else { throw error }
            throw CommandError("\(error)\n\(advice)")
        } catch let error as DocumentError where error.code == .unknownEntity && !restore {
            let model = try? source.model(for: URL(storeAt: into))
            throw CommandError("\(error)\n\(ImportAdvice.text(ofUnknownEntityIn: model))")
        }
    }

    private func importFile() throws {
        if restore, file.isStore { return try copyStore() }
        if file.isTable {
            guard !restore else {
                throw CommandError("Tables do not have the UUID of a store: --restore cannot be combined with them.")
            }
            return try importDocument(tables)
        }
        let document = try file.source()
        restore ? try restoreStore(from: document) : try importDocument { _ in document }
    }

    /// The location of the store without symbolic links, and whether the store is new.
    func destination() throws -> (store: URL, isNew: Bool) {
        let store = URL(storeAt: into).withoutLinks
        try likeness.requireFile(store)
        guard store.isFileURL else { return (store, try !store.storeExists()) }
        try OpenStore.requireFile(store)
        guard !ReadFiles([file.url]).wouldBeReplaced(by: store, isStore: true) else {
            throw CommandError("The store \(into) and the document \(file.name) are the same file. Name another store.")
        }
        return (store, !FileManager.default.fileExists(atPath: store.path))
    }

    // MARK: - Importing

    /// The records of a table or of a folder of tables.
    private func tables(_ model: NSManagedObjectModel) throws -> ImportSource {
        guard let url = file.url else { throw CommandError("Standard input is not a table.") }
        if let entity { _ = try OpenStore.entity(named: entity, in: model) }
        let tables = try TableDocument(at: url, entity: entity, model: model, zone: nil)
        guard tables.mistakes.isEmpty || skipInvalid else {
            let shown = tables.mistakes.prefix(20).joined(separator: "\n")
            let rest = tables.mistakes.count - 20
            throw CommandError(rest > 0 ? "\(shown)\n… and \(Quantity.count(rest, "more error"))" : shown)
        }
        StandardError.warn(tables.mistakes.map { "Omitted: \($0)" }, of: tables.mistakes.count)
        return tables.source
    }

    private func importDocument(_ read: (NSManagedObjectModel) throws -> ImportSource) throws {
        let (store, isNew) = try destination()
        let model = try storeModel(store, isNew: isNew)
        let document = try read(model)
        let importer = try options(model)
        if isNew, dryRun {
            // Nothing is written, not even an empty store.
            let open = try ImportTarget(inMemoryWith: model)
            return try open.context.performAndWait {
                try show(
                    try plan(document, into: open.context, importer), note: nil,
                    try path(of: document, intoNewStoreAt: store, model, importer))
            }
        }
        if isNew { return try importIntoNewStore(at: store, document, model, importer) }
        let open = try OpenStore(url: store, model: model, isReadOnly: dryRun, modelPath: source.model)
        try open.context.performAndWait {
            let path = ExecutionPath.objects(because: Self.storeReason)
            guard !dryRun else {
                let plan = try self.plan(document, into: open.context, importer)
                return try show(plan, note: UnidentifiedNote.text(of: plan, in: model), path)
            }
            // In one transaction: of two imports at the same time, the second one finds the objects of the first.
            let imported = try GraphImporter(into: open.context, options: importer).planAndSave {
                try self.plan(document, with: $0)
            } saving: {
                try backup.save(open, $0)
            }
            let plan: ImportPlan<NSManagedObject>
            if let imported {
                plan = imported
            } else {
                plan = try self.plan(document, into: open.context, importer)
                try plan.apply(isNew: true)
                try backup.save(open)
            }
            if let note = UnidentifiedNote.text(of: plan, in: model) { StandardError.report(note) }
            try report(plan, path)
        }
        try open.close()
    }

    /// Imports into a new store, which is moved to its destination after the import has succeeded.
    private func importIntoNewStore(
        at store: URL, _ document: ImportSource, _ model: NSManagedObjectModel, _ options: ImportOptions
    ) throws {
        try StandardOutput.requireOpen()
        guard let reason = wholeReason(options) else {
            return try report(
                try StoreCreation.makeStore(at: store, model: model) { draft in
                    try importInBatches(document, into: draft, model, options)
                })
        }
        try report(
            try StoreCreation.makeStore(at: store, model: model) { draft in
                try StoreCreation.createStore(at: draft, model: model, joinTablesLike: likeness.url())
                let open = try OpenStore(url: draft, model: model, isReadOnly: false)
                let imported = try open.context.performAndWait {
                    let plan = try plan(document, into: open.context, options)
                    try plan.apply(isNew: true)
                    try backup.save(open, isNew: true)
                    return plan
                }
                try open.close()
                return imported
            }, .objects(because: reason))
    }

    private func importInBatches(
        _ document: ImportSource, into draft: URL, _ model: NSManagedObjectModel, _ options: ImportOptions
    ) throws -> BatchImporter.Result {
        try StoreCreation.createStore(at: draft, model: model, joinTablesLike: likeness.url())
        let open = try OpenStore(url: draft, model: model, isReadOnly: false)
        let result = try Work.run("Importing", noun: "byte") { progress in
            try batches(into: open, options).importDocument(document, entity: entity, progress: progress)
        }
        try open.close()
        return result
    }

    func batches(into open: OpenStore, _ options: ImportOptions) -> BatchImporter {
        var batches = BatchImporter(into: open.coordinator, options: options)
        // The classes of the app are not available, so their methods cannot affect the import.
        batches.rowImporting = .always
        return batches
    }

    private func plan(
        _ document: ImportSource, into context: NSManagedObjectContext, _ options: ImportOptions
    ) throws -> ImportPlan<NSManagedObject> {
        var importer = GraphImporter(into: context, options: options)
        importer.worksInPlace = true
        return try plan(document, with: importer)
    }

    private func plan(
        _ document: ImportSource, with importer: GraphImporter
    ) throws -> ImportPlan<NSManagedObject> {
        try Work.run("Reading", noun: nil) {
            try importer.plan(document, entity: entity, progress: $0)
        }
    }

    func options(_ model: NSManagedObjectModel) throws -> ImportOptions {
        var options = ImportOptions()
        options.folder = file.folder
        if strict { options.mismatchedValues = .fail }
        options.missingFiles = missing.missingFiles
        options.skipsInvalid = skipInvalid
        options.identity = try meaning.keys.identity(in: model)
        if layout == .plain { options.layout = .plain }
        if let dialect = try meaning.chosenDialect(in: model) {
            options = try dialect.importOptions(for: model, options)
        } else {
            // A misspelt name must be reported. With a dialect, a model may use only a part of the document.
            options.unknownKeys = .record
        }
        try policies.apply(to: &options, model: model)
        if let entity { _ = try OpenStore.entity(named: entity, in: model) }
        return options
    }

    func storeModel(_ store: URL, isNew: Bool) throws -> NSManagedObjectModel {
        if !isNew, likeness.like != nil {
            throw CommandError("--like requires a new store: \(into) exists, and its join tables have names already.")
        }
        if isNew, source.model == nil {
            throw CommandError(
                "There is no store at \(store.isOfServer ? store.storeName : into). Give the model of the new store with --model."
            )
        }
        return try source.model(for: store)
    }

    // MARK: - Output

    func report(_ plan: ImportPlan<NSManagedObject>, _ path: ExecutionPath) throws {
        StandardError.warn(plan.conflicts.kept.map(\.description), of: plan.conflicts.count)
        StandardError.warn(plan.errors.kept.map { "Omitted: \($0)" }, of: plan.errors.count)
        if json {
            try JSONOutput.report(ImportSummary(plan, isSaved: true, path: path))
        } else {
            try StandardOutput.report("\(plan.summary)\n")
        }
        try state(path)
        try missing.report(plan.missingFiles.kept.map(\.description), of: plan.missingFiles.count)
    }

    func report(_ result: BatchImporter.Result) throws {
        StandardError.warn(result.conflicts.map(\.description), of: result.conflicts.count)
        if json {
            try JSONOutput.report(ImportSummary(result))
        } else {
            try StandardOutput.report(
                "\(Quantity.count(result.insertCount, "insert")), \(Quantity.count(result.linkCount, "link")), 0 errors\n"
            )
        }
        try state(result.path)
        try missing.report(result.missingFiles.map(\.description), of: result.missingFiles.count)
    }

    /// - Parameters:
    ///   - note: What holds for the whole plan.
    ///   - path: The path of the import without --dry-run.
    private func show(
        _ plan: ImportPlan<NSManagedObject>, note: String?, _ path: @autoclosure () throws -> ExecutionPath
    ) throws {
        if json {
            try JSONOutput.write(ImportSummary(plan, isSaved: false, path: try path(), note: note))
        } else {
            try StandardOutput.write(ImportReport.text(of: plan, note: note))
            try state(try path())
        }
        if !plan.errors.isEmpty, !skipInvalid {
            if let advice = ImportAdvice.text(of: Array(plan.errors.kept)) { StandardError.report(advice) }
            throw CommandStatus.failure.exitCode
        }
        // The plan contains the names of the files.
        if !plan.missingFiles.isEmpty, missing.missingFiles == .keep { throw CommandStatus.findings.exitCode }
    }
}
