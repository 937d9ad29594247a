import CoreDataErrors
import Foundation
import Synchronization

/// The registered classes of stores, by type.
///
/// A class must inherit from `NSAtomicStore` or `NSIncrementalStore` to be added.
final class StoreClasses: Sendable {
    static let shared = StoreClasses()

    private let classes: Mutex<[String: NSPersistentStore.Type]>

    private init() {
        var known: [String: NSPersistentStore.Type] = [
            NSSQLiteStoreType: SQLiteStore.self, NSInMemoryStoreType: MemoryStore.self, NSXMLStoreType: XMLStore.self,
            NSPersistentStore.StoreType.archive.rawValue: ArchiveStore.self,
        ]
        #if PostgreSQL
            known[PostgreSQLStore.typeName] = PostgreSQLStore.self
        #endif
        classes = Mutex(known)
    }

    /// The type of stores in PostgreSQL, whose class exists with the package's trait only.
    static let serverType = "PostgreSQL"
    static let missingTrait =
        "Stores in PostgreSQL need the package's trait “PostgreSQL”, with which this program was not built."
    /// The schemes of the URLs of stores in PostgreSQL.
    static let serverSchemes: Set<String> = ["postgresql", "postgres"]

    /// All types that have a class.
    var all: [String: NSPersistentStore.Type] { classes.withLock { $0 } }

    /// Registers a class for a type; nil removes the registration.
    func register(_ storeClass: NSPersistentStore.Type?, type: String) {
        classes.withLock { $0[type] = storeClass }
    }

    /// The type for which a class is registered.
    func type(of storeClass: NSPersistentStore.Type) -> String? {
        all.filter { $0.value == storeClass }.keys.min()
    }

    /// The class of a type.
    ///
    /// - Throws: Code 134000 if there is none.
    func storeClass(ofType type: String, url: URL?) throws -> NSPersistentStore.Type {
        if let found = all[type] { return found }
        let sentence =
            switch type {
            case NSBinaryStoreType:
                "Apple's format of stores of type \(type) is not known; NSPersistentStore.StoreType.archive keeps one file too."
            case Self.serverType: Self.missingTrait
            default: "No class is registered for stores of type “\(type)”."
            }
        throw CocoaError(.persistentStoreInvalidType, sentence, url: url)
    }
}
