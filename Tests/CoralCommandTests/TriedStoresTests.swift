import CoreData
import Foundation
import GRDB
import Testing

@testable import CoralCommand

/// The versions of Core Data that `coral --version` and `coral info` name.
struct TriedStoresTests {
    private static let corpus = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("shared/corpus")

    private struct Information: Decodable {
        let frameworkVersion: Int?
        let objectCount: Int
    }

    /// The number of rows in the tables of all entities that have no superentity.
    private static func rowCount(_ path: String) throws -> Int {
        let queue = try DatabaseQueue(path: path)
        defer { try? queue.close() }
        return try queue.read { database in
            let names = try String.fetchAll(
                database,
                sql: """
                    SELECT name FROM sqlite_master WHERE name IN
                    (SELECT 'Z' || upper(Z_NAME) FROM Z_PRIMARYKEY WHERE Z_SUPER = 0 AND Z_ENT < 16000)
                    """)
            return try names.reduce(0) { $0 + (try Int.fetchOne(database, sql: "SELECT count(*) FROM \"\($1)\"") ?? 0) }
        }
    }

    @Test(
        .enabled(
            if: FileManager.default.fileExists(atPath: corpus.path), "The files that Apple's tools wrote are absent."))
    func `a store of each version opens, and has as many objects as SQLite counts`() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let files = try #require(FileManager.default.enumerator(at: Self.corpus, includingPropertiesForKeys: nil))
        var versions: Set<Int> = []
        for case let file as URL in files {
            guard let handle = try? FileHandle(forReadingFrom: file) else { continue }
            defer { try? handle.close() }
            guard (try? handle.read(upToCount: 16)) == Data("SQLite format 3\0".utf8) else { continue }
            let copy = folder.appendingPathComponent("\(UUID().uuidString)-\(file.lastPathComponent)")
            for suffix in ["", "-wal"] where FileManager.default.fileExists(atPath: file.path + suffix) {
                try FileManager.default.copyItem(atPath: file.path + suffix, toPath: copy.path + suffix)
            }
            let run = try CommandRun("info", copy.path, "--json")
            guard run.status == 0,
                let information = try? JSONDecoder().decode(Information.self, from: Data(run.output.utf8)),
                let version = information.frameworkVersion
            else { continue }
            #expect(try information.objectCount == Self.rowCount(copy.path), "\(file.path)")
            versions.insert(version)
        }
        #expect(versions.sorted() == TriedStores.frameworkVersions)
    }

    @Test func `a version outside of those that were tried is said to be so`() {
        #expect(TriedStores.description(ofVersion: 1344) == "1344")
        #expect(
            TriedStores.description(ofVersion: 100) == "100, earlier than 230, the earliest that coral was tried on")
        #expect(TriedStores.description(ofVersion: 2000) == "2000, later than 1414, the latest that coral was tried on")
        #expect(TriedStores.sentence == "Tried on stores that Core Data's framework versions 230 to 1414 wrote.")
    }
}
