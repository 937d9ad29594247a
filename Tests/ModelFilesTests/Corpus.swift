import Foundation
import KeyedArchives
import Testing

@testable import ModelFiles

/// Files written by Apple's tools. They are beside the package and not part of it; without them tests are skipped.
enum Corpus {
    static let directory = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("shared/corpus")

    static var isPresent: Bool {
        FileManager.default.fileExists(atPath: directory.appendingPathComponent("INDEX.md").path)
    }

    static var hasSQLite: Bool { isPresent && FileManager.default.isExecutableFile(atPath: "/usr/bin/sqlite3") }

    /// The files whose path ends in one of the suffixes, sorted.
    static func files(_ suffixes: String...) -> [String] {
        guard isPresent, let paths = FileManager.default.enumerator(atPath: directory.path) else { return [] }
        return paths.compactMap { $0 as? String }.filter { path in suffixes.contains { path.hasSuffix($0) } }.sorted()
    }

    static func url(_ path: String) -> URL { directory.appendingPathComponent(path) }

    static func data(_ path: String) throws -> Data { try Data(contentsOf: url(path)) }

    static let stores = files(".sqlite", ".moody").filter { !$0.contains("db_corrupted") }
    /// These two were written before stores contained their models.
    static let storesWithCache = stores.filter { !$0.contains("RKSeedDatabase") && !$0.contains("Recipes.sqlite") }

    /// A store and the model that the index says it was written with.
    struct Pair: CustomTestStringConvertible, Sendable {
        var store: String
        var model: String
        var version: String?
        /// Whether other versions of the model have the same properties, so that the index is ambiguous.
        var isAmbiguous = false
        var testDescription: String { "\(store) <- \(model)\(version.map { "#" + $0 } ?? "")" }
    }

    static let pairs: [Pair] = {
        guard let index = try? String(contentsOf: url("INDEX.md"), encoding: .utf8) else { return [] }
        var pairs: [Pair] = []
        for line in index.split(separator: "\n") where line.hasPrefix("| ") {
            let columns = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            guard columns.count >= 9, let store = columns.first, stores.contains(store) else { continue }
            let project = store.prefix { $0 != "/" }
            for model in columns[columns.count - 1].components(separatedBy: " · ") {
                let isTrusted = model.hasPrefix("exact: ") || model.hasPrefix("**hash**: ")
                guard isTrusted, let text = model.components(separatedBy: ": ").last else { continue }
                let note = " (+1 equal)"
                let parts = text.replacingOccurrences(of: note, with: "").components(separatedBy: "#")
                pairs.append(
                    Pair(
                        store: store, model: project + "/" + parts[0], version: parts.count > 1 ? parts[1] : nil,
                        isAmbiguous: text.hasSuffix(note)))
            }
        }
        return pairs
    }()

    /// The single value of a query on a scratch copy of a store, with its write-ahead log.
    static func blob(_ expression: String, in store: String) throws -> Data {
        let scratch = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: scratch, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: scratch) }
        for suffix in ["", "-wal"] where FileManager.default.fileExists(atPath: url(store + suffix).path) {
            try FileManager.default.copyItem(at: url(store + suffix), to: scratch.appendingPathComponent("db" + suffix))
        }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/sqlite3")
        process.arguments = [scratch.appendingPathComponent("db").path, "SELECT hex(\(expression)"]
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        let digits = Array(pipe.fileHandleForReading.readDataToEndOfFile())
        process.waitUntilExit()
        return Data(
            stride(from: 0, to: digits.count - 1, by: 2).compactMap {
                UInt8(String(decoding: digits[$0...$0 + 1], as: UTF8.self), radix: 16)
            })
    }

    static func metadata(of store: String) throws -> PropertyListValue {
        try PropertyListValue(propertyList: blob("Z_PLIST) FROM Z_METADATA", in: store))
    }

    static func cache(of store: String) throws -> Data {
        try blob("Z_CONTENT) FROM Z_MODELCACHE", in: store)
    }

    static func hashes(in metadata: PropertyListValue) -> [String: Data] {
        metadata["NSStoreModelVersionHashes"]?.dictionary?.contents.compactMapValues(\.data) ?? [:]
    }
}
