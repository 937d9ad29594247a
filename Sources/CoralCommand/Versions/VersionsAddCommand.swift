import ArgumentParser
import AtomicFiles
import Coral
import CoralTools
import ModelFiles

/// `coral versions add`: records a version.
struct VersionsAddCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Records the version of a model with which a release ships.",
        discussion: """
            The compiled model is kept, its hashes and its checksum, and a small store. Without --store the store is \
            created with random objects; for a real one, use a subset without personal data (coral subset --redact). \
            A release whose model has not changed is added to the version that it has.

            EXAMPLES:
              coral versions add 1.0 --model Notes.xcdatamodeld
              coral versions add 1.1 --model Notes.xcdatamodeld --model-version 'Notes 2' \\
                --store Small.sqlite
              coral versions add 1.2 --model Sources/Notes
            """)

    @Argument(help: "The name of the release, such as 1.0.")
    var release: String

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The model: a model file, a store with its model, or Swift sources with @Model.", valueName: "path"),
        completion: Completion.models)
    var model: String

    @Option(
        name: .long, help: ArgumentHelp("The version of the model. Default: the current one.", valueName: "name"))
    var modelVersion: String?

    @Option(
        name: .long, help: ArgumentHelp("The store to keep: one with this version.", valueName: "file"),
        completion: Completion.stores)
    var store: String?

    @Option(name: .long, help: "The number of random objects.")
    var objects = 60

    @Flag(name: .long, help: "Print JSON.")
    var json = false

    @OptionGroup var record: RecordOption

    @OptionGroup var quiet: QuietOption

    func validate() throws {
        let isName = !release.isEmpty && !release.hasPrefix(".") && !release.contains("/")
        if !isName {
            throw ValidationError("The name of a release is the name of a folder: it cannot be \"\(release)\".")
        }
        if objects < 1 { throw ValidationError("--objects must be at least 1.") }
    }

    func run() throws {
        #if !STORE_ENGINE
            throw CommandError("On this system models cannot be compiled.")
        #else
            try add()
        #endif
    }
}

#if STORE_ENGINE

    extension VersionsAddCommand {
        private func add() throws {
            let folder = record.url
            var versions = try VersionRecord(at: folder)
            let file = try ModelFileSource.file(at: model)
            let version = try ModelFileSource.version(modelVersion, of: file)
            let hash = VersionHash(version.model)
            if let known = versions.version(ofRelease: release) {
                throw CommandError(
                    known.hashes == hash.entityHashes
                        ? "The release \(release) is recorded already."
                        : "The release \(release) is recorded with another version, which has shipped: record this one as another release."
                )
            }
            if let index = versions.versions.firstIndex(where: { $0.hashes == hash.entityHashes }) {
                versions.versions[index].releases.append(release)
                try save(versions, in: folder)
                return try report(versions.versions[index], isNew: false)
            }
            guard FileStatus(folder.appendingPathComponent(release).path) == nil else {
                throw CommandError("There is a folder \(release) in \(record.record) already.")
            }
            var added = try Work.run("Recording", noun: nil) { _ in try files(of: version, hash, in: folder) }
            // Sources without versions all have the same identifier.
            if file.kind == .swiftSource { added.identifiers = [] }
            versions.versions.append(added)
            do {
                try save(versions, in: folder)
            } catch {
                try? FileManager.default.removeItem(at: folder.appendingPathComponent(release))
                throw error
            }
            try report(added, isNew: true)
        }

        /// Creates the folder of a version, completely or not at all.
        private func files(
            of version: ModelFile.Version, _ hash: VersionHash, in folder: URL
        ) throws -> VersionRecord.Version {
            let own = folder.appendingPathComponent(release)
            do {
                try FileManager.default.createDirectory(at: own, withIntermediateDirectories: false)
                let compiled = own.appendingPathComponent("Model.mom")
                for omission in try ModelFile.writeCompiledModel(version.model, to: compiled) {
                    StandardError.warn("Omitted: \(omission).")
                }
                let model = try NSManagedObjectModel.model(contentsOf: compiled)
                let target = own.appendingPathComponent("Store.sqlite")
                if let store {
                    try copy(store, to: target, model)
                } else {
                    try SampleStore(model: model, count: objects).write(to: target)
                }
                var added = VersionRecord.Version(
                    releases: [release], modelName: version.name, hash: hash,
                    identifiers: version.model.versionIdentifiers.sorted(), model: "\(release)/Model.mom",
                    store: "\(release)/Store.sqlite")
                for path in [added.model, "\(release)/Store.sqlite"] {
                    added.digests[path] = try VersionRecord.digest(of: folder.appendingPathComponent(path))
                }
                return added
            } catch {
                try? FileManager.default.removeItem(at: own)
                throw error
            }
        }

        private func copy(_ path: String, to target: URL, _ model: NSManagedObjectModel) throws {
            let url = try OpenStore.file(at: path, because: "The record keeps files: export the store to a file.")
            // Opening the store rejects one with another version, with the reason.
            let open = try OpenStore(url: url, model: model, modelPath: self.model, requiresModel: true)
            try open.coordinator.replacePersistentStore(
                at: target, destinationOptions: nil, withPersistentStoreFrom: open.url, sourceOptions: nil,
                ofType: NSSQLiteStoreType)
            try open.close()
            try SampleStore.makeSingleFile(target)
        }

        private func save(_ versions: VersionRecord, in folder: URL) throws {
            try versions.data().write(to: folder.appendingPathComponent(VersionRecord.fileName), options: .atomic)
        }

        private func report(_ version: VersionRecord.Version, isNew: Bool) throws {
            if json { return try JSONOutput.report(VersionReport(version)) }
            try StandardOutput.report(
                isNew
                    ? "Recorded: \(release), version \"\(version.modelName)\", checksum \(version.checksum)\n"
                    : "Recorded: \(release) has the version of \(version.name), checksum \(version.checksum)\n")
        }
    }

#endif

/// A recorded version in the output of `coral versions`.
struct VersionReport: Encodable {
    var releases: [String]
    var version: String
    var checksum: String
    var identifiers: [String]
    var store: String?

    init(_ version: VersionRecord.Version) {
        (releases, self.version, checksum) = (version.releases, version.modelName, version.checksum)
        (identifiers, store) = (version.identifiers, version.store)
    }
}
