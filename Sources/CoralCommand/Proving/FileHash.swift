import AtomicFiles
import Foundation
import ModelFiles

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
