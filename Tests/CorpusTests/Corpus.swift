import Foundation

/// Files that Apple's tools wrote. They are no part of the package; tests skip where they are absent.
enum Corpus {
    static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../../../shared/corpus").standardizedFileURL

    /// The SQLite stores, by path.
    static let stores: [URL] = files {
        ["sqlite", "moody", "graphdb"].contains($0.pathExtension) && !$0.path.contains("corrupted")
    }
    /// A file that looks like a store and is none.
    static let damaged: URL? = files { $0.lastPathComponent == "db_corrupted.sqlite" }.first

    private static func files(_ isWanted: (URL) -> Bool) -> [URL] {
        let all = FileManager.default.enumerator(at: root, includingPropertiesForKeys: nil)
        var found: [URL] = []
        while let url = all?.nextObject() as? URL { if isWanted(url) { found.append(url) } }
        return found.sorted { $0.path < $1.path }
    }
}

/// A copy of a store, with its log, in a folder of its own that is removed in the end.
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

    /// Every file of the folder and what it holds.
    func contents() throws -> [String: Data] {
        var contents: [String: Data] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
            contents[name] = try Data(contentsOf: folder.appendingPathComponent(name))
        }
        return contents
    }
}
