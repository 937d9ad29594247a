import AtomicFiles
import Coral
import Foundation
import ModelFiles

/// The manifest of an output: what was read, what was written, with which command, and when.
///
/// Paths of outputs are relative to the manifest, so that both can be moved together.
struct ProofManifest: Codable {
    struct File: Codable {
        var path: String
        var sha256: String
        var byteCount: Int64
    }

    var format = "coral-proof"
    var version = 1
    /// The version of the command.
    var coral: String
    var arguments: [String]
    var begin: String
    var end: String
    /// The files of the stores, which were the same before and after.
    var read: [File]
    var written: [File]

    /// Hashes the output: a file, or the files in a folder. Throws errors of reading.
    init(of output: URL, reading hashes: [String: String], since begin: Date) throws {
        coral = CoralVersion.current
        arguments = CommandLine.arguments.dropFirst().map(ServerURLs.withoutPasswords)
        self.begin = Self.text(of: begin)
        end = Self.text(of: Date())
        read = hashes.sorted { $0.key < $1.key }.map {
            File(path: $0.key, sha256: $0.value, byteCount: FileStatus($0.key)?.byteCount ?? 0)
        }
        written = try Self.files(of: output)
    }

    private static func text(of date: Date) -> String {
        TextValue.text(of: .date((date.timeIntervalSinceReferenceDate * 1000).rounded() / 1000)) ?? ""
    }

    private static func files(of output: URL) throws -> [File] {
        let name = output.lastPathComponent
        guard FileStatus(output.path)?.isFolder == true else {
            return [
                File(
                    path: name, sha256: try FileHash.text(ofFile: output.path),
                    byteCount: FileStatus(output.path)?.byteCount ?? 0)
            ]
        }
        return try FileHash.texts(inFolder: output.path).sorted { $0.key < $1.key }.map {
            File(
                path: "\(name)/\($0.key)", sha256: $0.value,
                byteCount: FileStatus("\(output.path)/\($0.key)")?.byteCount ?? 0)
        }
    }

    /// Writes the manifest beside the output, instead of an earlier one; returns its path.
    func write(beside output: URL) throws -> String {
        let path = output.path + ".proof.json"
        let file = try AtomicFile(path: path)
        try Data(JSONOutput.text(of: self).utf8).withUnsafeBytes { try file.write($0) }
        try file.finish()
        return path
    }

    /// Reads a manifest. Throws `CommandError` if there is none.
    init(at path: String) throws {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw CommandError("There is no manifest at \(path).")
        }
        guard let manifest = try? JSONDecoder().decode(Self.self, from: data), manifest.format == "coral-proof" else {
            throw CommandError("\(path) is not a manifest of coral --proof.")
        }
        guard manifest.version == 1 else {
            throw CommandError(
                "\(path) has the version \(manifest.version), which this version of coral does not know.")
        }
        self = manifest
    }
}

/// SHA-256 of files, in hexadecimal digits.
enum FileHash {
    /// Reads the file in pieces. Throws an error of reading.
    static func text(ofFile path: String) throws -> String {
        let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
        defer { try? file.close() }
        return try SecureHash.sha256(ofPieces: { try file.read(upToCount: 1 << 20) }).map {
            ($0 < 16 ? "0" : "") + String($0, radix: 16)
        }.joined()
    }

    /// The hashes of the regular files in a folder and its subfolders, by their relative paths; none without a folder.
    static func texts(inFolder folder: String) throws -> [String: String] {
        var hashes: [String: String] = [:]
        for case let path as String in FileManager.default.enumerator(atPath: folder) ?? .init() {
            let file = "\(folder)/\(path)"
            if FileStatus(file)?.isRegular == true { hashes[path] = try text(ofFile: file) }
        }
        return hashes
    }
}
