import AtomicFiles
import CoreData

extension URL {
    /// Whether the URL is that of a store in PostgreSQL, and not of a file.
    package var isOfServer: Bool { scheme.map { ["postgresql", "postgres"].contains($0.lowercased()) } ?? false }

    /// The type of the store at the location.
    package var storeType: String { isOfServer ? "PostgreSQL" : NSSQLiteStoreType }

    /// The location of a store in messages: a path, or a URL without its password.
    package var storeName: String { isOfServer ? withoutPassword.absoluteString : path }

    /// The location of a store in another schema of the same database.
    package func withSchema(_ schema: String) -> URL {
        guard var parts = URLComponents(url: self, resolvingAgainstBaseURL: false) else { return self }
        let items = (parts.percentEncodedQuery ?? "").split(separator: "&").filter { !$0.hasPrefix("schema=") }
        parts.percentEncodedQuery = (items.map(String.init) + ["schema=\(schema)"]).joined(separator: "&")
        return parts.url ?? self
    }

    /// Whether there is a file at the location, or a store if it is on a server.
    ///
    /// - Throws: Core Data's errors if the server cannot be reached, and if the package was built without the trait
    ///   `PostgreSQL`.
    package func storeExists() throws -> Bool {
        guard isOfServer else { return FileManager.default.fileExists(atPath: path) }
        do {
            _ = try NSPersistentStoreCoordinator.metadataForPersistentStore(
                ofType: storeType, at: self, options: [NSReadOnlyPersistentStoreOption: true])
            return true
        } catch let error as CocoaError where error.code == .fileReadNoSuchFile {
            return false
        }
    }
}
