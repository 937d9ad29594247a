import ArgumentParser
import AtomicFiles
import Coral
import ModelFiles

/// `--proof`: the hashes of a store's files before and after a command that only reads.
struct ProofOption: ParsableArguments {
    @Flag(
        name: .long,
        help:
            "Write the SHA-256 of the store's files before and after to standard error; it is an error if they differ.")
    var proof = false

    /// Runs a command, and compares the hashes of the files before and after.
    ///
    /// Throws the command's error, and `CommandError` if a file was changed, created or removed.
    func prove(_ stores: String..., body: () throws -> Void) throws { try prove(stores, body: body) }

    func prove(_ stores: [String], body: () throws -> Void) throws {
        guard proof else { return try body() }
        guard !stores.contains(where: ServerURLs.isOne) else {
            throw CommandError("--proof compares the files of a store: a store in PostgreSQL has none.")
        }
        let files = stores.map { StoreFileHashes(store: URL(fileURLWithPath: $0).withoutLinks) }
        let hashes = { try files.map { try $0.hashes() }.reduce(into: [:]) { $0.merge($1) { $1 } } }
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
        try result.get()
    }

    private static func text(_ hashes: [String: String], _ moment: String) -> String {
        hashes.sorted { $0.key < $1.key }.map { "\($0.value)  \($0.key)  (\(moment))\n" }.joined()
    }
}

/// The hashes of the files of a store: the database, its log and its journal, and the files of large values.
private struct StoreFileHashes {
    let store: URL

    func hashes() throws -> [String: String] {
        var hashes: [String: String] = [:]
        for suffix in ["", "-wal", "-shm", "-journal"] where FileStatus(store.path + suffix)?.isRegular == true {
            hashes[store.path + suffix] = try Self.hash(store.path + suffix)
        }
        let name = ".\(store.deletingPathExtension().lastPathComponent)_SUPPORT"
        let folder = store.deletingLastPathComponent().appendingPathComponent(name).path
        for case let path as String in FileManager.default.enumerator(atPath: folder) ?? .init() {
            let file = "\(folder)/\(path)"
            if FileStatus(file)?.isRegular == true { hashes[file] = try Self.hash(file) }
        }
        return hashes
    }

    private static func hash(_ path: String) throws -> String {
        let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
        defer { try? file.close() }
        return try SecureHash.sha256(ofPieces: { try file.read(upToCount: 1 << 20) }).map {
            ($0 < 16 ? "0" : "") + String($0, radix: 16)
        }.joined()
    }
}
