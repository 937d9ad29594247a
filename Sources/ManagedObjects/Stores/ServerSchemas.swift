import CoreDataErrors
import Foundation

/// The stores of a server's database.
package enum ServerSchemas {
    /// The URLs of the stores whose schemas match that of a URL, in which `*` stands for any characters. One connection.
    ///
    /// - Throws: Errors for a server that cannot be reached, and without the trait `PostgreSQL`.
    package static func stores(matching url: URL) throws -> [URL] {
        #if PostgreSQL
            try PostgreSQLStore.stores(matching: url)
        #else
            throw CocoaError(.persistentStoreInvalidType, StoreClasses.missingTrait)
        #endif
    }
}
