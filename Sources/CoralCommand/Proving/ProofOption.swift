import ArgumentParser
import AtomicFiles
import Coral

/// `--proof`: the hashes of the files that a command only reads, before and after it, and a manifest beside its output.
struct ProofOption: ParsableArguments {
    @Flag(
        name: .long,
        help: ArgumentHelp(
            "Write the SHA-256 of the files that are read, before and after; it is an error if they differ.",
            discussion: """
                They are written to standard error, and for an output file to OUTPUT.proof.json, together with the \
                version, the arguments, the times and the hash of the output. coral proof verify checks such a manifest.
                """))
    var proof = false

    /// Runs a command, and compares the hashes of the files before and after.
    ///
    /// - Parameters:
    ///   - stores: Stores, and files or folders of other kinds, such as models.
    ///   - output: The file or folder that the command writes, which gets a manifest.
    /// Throws the command's error, and `CommandError` if a file was changed, created or removed.
    func prove(_ stores: String..., writing output: URL? = nil, body: () throws -> Void) throws {
        try prove(stores, writing: output, body: body)
    }

    func prove(_ stores: [String], writing output: URL? = nil, body: () throws -> Void) throws {
        guard proof else { return try body() }
        guard !stores.contains(where: ServerURLs.isOne) else {
            throw CommandError("--proof compares the files of a store: a store in PostgreSQL has none.")
        }
        let paths = Set(stores.flatMap { SwiftDataSourceFiles.paths($0) ?? [$0] })
        let files = paths.map { StoreFileHashes(store: URL(fileURLWithPath: $0).withoutLinks) }
        let hashes = { try files.map { try $0.hashes() }.reduce(into: [:]) { $0.merge($1) { $1 } } }
        let begin = Date()
        let before = try hashes()
        StandardError.write(Self.text(before, "before"))
        // The proof covers commands that end with findings or an error, too.
        let result = Result { try body() }
        let after = try hashes()
        StandardError.write(Self.text(after, "after"))
        guard before == after else {
            throw CommandError(
                "The files of \(stores.joined(separator: ", ")) have changed while they were read, by this or another process."
            )
        }
        StandardError.write("No file has changed.\n")
        if let output, FileStatus(output.path) != nil, Self.hasWritten(result) {
            let manifest = try ProofManifest(of: output, reading: before, since: begin)
            StandardError.report("Manifest written to \(try manifest.write(beside: output)).")
        }
        try result.get()
    }

    /// Whether a command has written its output: it has succeeded, or ended with findings.
    private static func hasWritten(_ result: Result<Void, any Error>) -> Bool {
        guard case .failure(let error) = result else { return true }
        return (error as? ExitCode) == CommandStatus.findings.exitCode
    }

    private static func text(_ hashes: [String: String], _ moment: String) -> String {
        hashes.sorted { $0.key < $1.key }.map { "\($0.value)  \($0.key)  (\(moment))\n" }.joined()
    }
}

/// The hashes of the files of a store: the database, its log and its journal, and the files of large values. Those of a folder are of
/// all files in it.
struct StoreFileHashes {
    let store: URL

    func hashes() throws -> [String: String] {
        if FileStatus(store.path)?.isFolder == true {
            return try FileHash.texts(inFolder: store.path).reduce(into: [:]) {
                $0["\(store.path)/\($1.key)"] = $1.value
            }
        }
        var hashes: [String: String] = [:]
        for suffix in ["", "-wal", "-shm", "-journal"] where FileStatus(store.path + suffix)?.isRegular == true {
            hashes[store.path + suffix] = try FileHash.text(ofFile: store.path + suffix)
        }
        let name = ".\(store.deletingPathExtension().lastPathComponent)_SUPPORT"
        let folder = store.deletingLastPathComponent().appendingPathComponent(name).path
        for (path, hash) in try FileHash.texts(inFolder: folder) { hashes["\(folder)/\(path)"] = hash }
        return hashes
    }
}
