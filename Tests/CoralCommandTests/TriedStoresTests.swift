import CoreData
import Foundation
import Testing

@testable import CoralCommand

/// The versions of Core Data that `coral --version` and `coral info` name.
struct TriedStoresTests {
    private static let corpus = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("shared/corpus")

    @Test(
        .enabled(
            if: FileManager.default.fileExists(atPath: corpus.path), "The files that Apple's tools wrote are absent."))
    func `the versions are those of the stores at hand`() throws {
        let files = try #require(FileManager.default.enumerator(at: Self.corpus, includingPropertiesForKeys: nil))
        var versions: Set<Int> = []
        for case let file as URL in files {
            guard let handle = try? FileHandle(forReadingFrom: file) else { continue }
            defer { try? handle.close() }
            guard (try? handle.read(upToCount: 16)) == Data("SQLite format 3\0".utf8) else { continue }
            let metadata = try? NSPersistentStoreCoordinator.metadataForPersistentStore(
                ofType: NSSQLiteStoreType, at: file, options: [NSReadOnlyPersistentStoreOption: true])
            if let version = metadata?["NSPersistenceFrameworkVersion"] as? NSNumber {
                versions.insert(version.intValue)
            }
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
