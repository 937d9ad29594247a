import Foundation
import GRDB
import Testing

@testable import ManagedObjects

/// Stores written by Apple's framework, which are beside the package. Tests copy a store with its log before they open
/// it.
enum CorpusStores {
    static let directory = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../../../shared/corpus").standardizedFileURL

    static var isPresent: Bool { FileManager.default.fileExists(atPath: directory.path) }

    static let simple = "alemar11+CoreDataPlus/Tests/Resources/SampleModel/Fixtures/SampleModel_V1.sqlite"
    static let renamed = "alemar11+CoreDataPlus/Tests/Resources/SampleModel/Fixtures/SampleModel_V2.sqlite"
    static let books = "alemar11+CoreDataPlus/Tests/Resources/SampleModel2/Fixtures/SampleModel2_V1.sqlite"
    static let care =
        "carekit-apple+CareKit/CareKitStore/CareKitStoreTests/CoreDataSchema/Migrations/SampleStore2.0.sqlite"
    static let bookmarks = "duckduckgo+BrowserServicesKit/Tests/BookmarksTests/Resources/Bookmarks_V4.sqlite"
    static let settings = "duckduckgo+BrowserServicesKit/Tests/DDGSyncTests/Resources/SyncMetadata_V3.sqlite"
    static let photos = "tkanarsky+osxphotos/tests/Test-10.15.1.photoslibrary/database/Photos.sqlite"
    static let withLog =
        "wibosco+CoreDataMigration-Example/CoreDataMigration-ExampleTests/Resources/SQLite/"
        + "CoreDataMigration_Example_WAL.sqlite"
    static let corrupted = "embrace-io+embrace-apple-sdk/Tests/EmbraceStorageInternalTests/Mocks/db_corrupted.sqlite"
    static let withoutCache = "RestKit+RestKit/Examples/RKTwitterCoreData/RKSeedDatabase.sqlite"

    /// Every store that contains its model.
    static let withModel = [
        simple, renamed, books, care,
        "duckduckgo+BrowserServicesKit/Tests/BookmarksTests/Resources/Bookmarks_V1.sqlite",
        "duckduckgo+BrowserServicesKit/Tests/BookmarksTests/Resources/Bookmarks_V2.sqlite", bookmarks, settings,
        "embrace-io+embrace-apple-sdk/Tests/EmbraceCoreTests/Mocks/tmp_db.sqlite",
        "jeffreybergier+CoreDataMigrationTests/CoreDataMigration/CoreDataMigrationTests/Example_v1.0.0.sqlite",
        "jeffreybergier+CoreDataMigrationTests/CoreDataMigration/CoreDataMigrationTests/Example_v2.0.0.sqlite",
        "kean+Pulse/history/Tests/PulseTests/Resources/logs-package.pulse/logs.sqlite",
        "objcio+core-data/Migrations/MigrationsTests/Moody 3.moody",
        "objcio+core-data/Migrations/MigrationsTests/Moody 5.moody",
        "objcio+core-data/Migrations/MigrationsTests/Moody.moody", photos,
        "wibosco+CoreDataMigration-Example/CoreDataMigration-ExampleTests/Resources/SQLite/"
            + "CoreDataMigration_Example_1.sqlite",
        withLog,
    ]

    /// All files of the corpus that begin as an SQLite database does, by path.
    static var databases: [URL] {
        let all = FileManager.default.enumerator(at: directory, includingPropertiesForKeys: nil)
        var found: [URL] = []
        while let url = all?.nextObject() as? URL {
            guard let file = try? FileHandle(forReadingFrom: url) else { continue }
            if (try? file.read(upToCount: 16)) == Data("SQLite format 3\0".utf8) { found.append(url) }
            try? file.close()
        }
        return found.sorted { $0.path < $1.path }
    }

    /// A copy of a store in a temporary folder, which is removed after the test.
    static func copy(_ path: String) throws -> StoreFolder {
        let folder = try StoreFolder(name: (path as NSString).lastPathComponent)
        let source = directory.appendingPathComponent(path).path
        for suffix in ["", "-wal"] where FileManager.default.fileExists(atPath: source + suffix) {
            try FileManager.default.copyItem(atPath: source + suffix, toPath: folder.url.path + suffix)
            // A file that was checked out may be read-only.
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: folder.url.path + suffix)
        }
        return folder
    }
}

/// A temporary folder for a store, removed when it is deallocated.
final class StoreFolder {
    let directory: URL
    let url: URL

    init(name: String = "Store.sqlite") throws {
        directory = FileManager.default.temporaryDirectory.appendingPathComponent("store-\(UUID().uuidString)")
        url = directory.appendingPathComponent(name)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: directory) }

    /// All files with their bytes.
    func content() throws -> [String: Data] {
        var files: [String: Data] = [:]
        for name in try FileManager.default.subpathsOfDirectory(atPath: directory.path) {
            files[name] = try? Data(contentsOf: directory.appendingPathComponent(name))
        }
        return files
    }
}
