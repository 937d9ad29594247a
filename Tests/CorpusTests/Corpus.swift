import Foundation

/// Files written by Apple's tools. They are not part of the package; tests that need them are skipped without them.
enum Corpus {
    static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../../../shared/corpus").standardizedFileURL

    /// The SQLite stores, by path.
    static let stores: [URL] = files {
        ["sqlite", "moody", "graphdb"].contains($0.pathExtension) && !$0.path.contains("corrupted")
    }
    /// A damaged store.
    static let damaged: URL? = files { $0.lastPathComponent == "db_corrupted.sqlite" }.first

    static func files(named name: String) -> [URL] { files { $0.lastPathComponent == name } }

    private static func files(_ isWanted: (URL) -> Bool) -> [URL] {
        let all = FileManager.default.enumerator(at: root, includingPropertiesForKeys: nil)
        var found: [URL] = []
        while let url = all?.nextObject() as? URL { if isWanted(url) { found.append(url) } }
        return found.sorted { $0.path < $1.path }
    }
}

/// A copy of a store, with its write-ahead log, in a temporary folder that is removed at the end.
final class StoreCopy {
    let folder: URL
    let url: URL

    init(_ original: URL) throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        url = folder.appendingPathComponent(original.lastPathComponent)
        for suffix in ["", "-wal"] where FileManager.default.fileExists(atPath: original.path + suffix) {
            let bytes = try Data(contentsOf: URL(fileURLWithPath: original.path + suffix))
            try bytes.write(to: URL(fileURLWithPath: url.path + suffix))
        }
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// The files of the folder and their contents.
    func contents() throws -> [String: Data] {
        var contents: [String: Data] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
            contents[name] = try Data(contentsOf: folder.appendingPathComponent(name))
        }
        return contents
    }
}
