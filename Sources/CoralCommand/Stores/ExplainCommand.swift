import ArgumentParser
import AtomicFiles
import Coral
import CoralTools
import ModelFiles

/// `coral explain`: why a store does not open with a model.
struct ExplainCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain", abstract: "Explains why a store does not open with a model, and what makes it fit.",
        discussion: """
            A store opens with a model if the version hashes of all entities are equal. For each entity with another hash, \
            the parts that the hash covers and in which store and model differ are listed: a missing property, a type, \
            whether a property is optional, and so on. Each reason is proven by the hashes. The version of the store is \
            read from the model in it, or found among the versions of --model; if it is in neither, single changes are \
            tried until one gives the hash.

            With --write, files are created in a folder: the store's version as a model source, as a frozen \
            VersionedSchema for SwiftData, and, if properties seem to be renamed, the model with the renaming \
            identifiers. If the migration cannot be inferred, the mapping model is written too, which Xcode and \
            coral migrate --mapping read. A warning names each property on whose values only the app can decide. \
            Without --model, the store's own version is described.

            Exit code 2 means that the store does not open.

            EXAMPLES:
              coral explain Notes.sqlite --model Notes.xcdatamodeld
              coral explain Notes.sqlite --model Notes.momd --model-version 'Notes 2' \\
                --json
              coral explain default.store --model Sources/Notes
              coral explain default.store --write Frozen
            """)

    @Argument(help: "The store. It is only read.", completion: Completion.stores)
    var store: String

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The model: a .momd, .mom, .xcdatamodeld, .xcdatamodel, Swift sources with @Model, or another store.",
            valueName: "path"),
        completion: Completion.models)
    var model: String?

    @Option(
        name: .long,
        help: ArgumentHelp("The version of the model. Default: the current one.", valueName: "name"))
    var modelVersion: String?

    @Option(
        name: .long,
        help: ArgumentHelp("Create the files that make the store fit in this folder.", valueName: "folder"),
        completion: .directory)
    var write: String?

    @Flag(name: .long, help: "Replace existing files without asking.")
    var force = false

    @Flag(name: .long, help: "Print JSON.")
    var json = false

    @OptionGroup var proof: ProofOption

    @OptionGroup var quiet: QuietOption

    func validate() throws {
        if model == nil, modelVersion != nil { throw ValidationError("--model-version requires --model.") }
    }

    func run() throws { try proof.prove(store, body: explain) }

    private func explain() throws {
        #if !STORE_ENGINE
            throw CommandError("On this system the model in a store cannot be read.")
        #else
            let url = try OpenStore.location(at: store).withoutLinks
            let header = try ExplainedStore(at: url)
            if let model {
                try InferredModel(ModelSource.model(at: model), store: url, path: model).requireVersion(
                    advice: "An app needs the model that the store was written with.")
            }
            let file = try model.map(ModelFileSource.file) ?? header.ownFile()
            _ = try ModelFileSource.version(modelVersion, of: file)
            let explanation = header.explanation(with: file, version: modelVersion)
            var report = ExplanationReport(
                explanation, store: ServerURLs.shown(store), model: model.map(ServerURLs.shown), file: file)
            if let write {
                report.written = try ExplanationFiles(explanation, store: url, isForced: force).write(to: write)
            }
            try json ? JSONOutput.write(report) : StandardOutput.write(report.text)
            if !explanation.opens { throw CommandStatus.findings.exitCode }
        #endif
    }
}

#if STORE_ENGINE
    /// What a store states about its version.
    struct ExplainedStore {
        let url: URL
        let hashes: [String: Data]
        let checksum: String?
        /// The model in the store; nil if there is none, or it cannot be read.
        let model: Model?

        /// Throws `CommandError` if the file is not a store, or contains no version hashes.
        init(at url: URL) throws {
            self.url = url
            let metadata: [String: Any]
            do {
                let inspection = try StoreInspection(url: url)
                (metadata, model) = (inspection.metadata, inspection.cachedModelValue)
            } catch {
                // The cached model is damaged, or the store is a file of another kind.
                metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
                    ofType: url.storeType, at: url, options: [NSReadOnlyPersistentStoreOption: true])
                model = nil
                StandardError.warn("The model in the store cannot be read: \(ErrorText.text(of: error))")
            }
            guard let hashes = metadata[NSStoreModelVersionHashesKey] as? [String: Data] else {
                throw CommandError(
                    "\(url.storeName) contains no version hashes: it opens with any model that has its tables.")
            }
            self.hashes = hashes
            checksum = metadata[NSPersistentStoreModelVersionChecksumKey] as? String
        }

        /// Why the store opens with a version of a file, or does not.
        func explanation(with file: ModelFile, version: String? = nil) -> StoreExplanation {
            StoreExplanation(
                hashes: hashes, checksum: checksum, storedModel: model, file: file, version: version)
        }

        /// The model in the store as a file.
        func ownFile() throws -> ModelFile {
            guard let model else {
                throw CommandError("\(url.storeName) does not contain its model: give a model with --model.")
            }
            let name = url.deletingPathExtension().lastPathComponent
            return try ModelFile(kind: .compiled, versions: [.init(name: name, model: model)])
        }
    }
#endif
