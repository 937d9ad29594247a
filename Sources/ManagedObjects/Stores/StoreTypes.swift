import CoreDataErrors
import Foundation
import ModelFiles
import Synchronization

/// The type of a store in an SQLite file.
public let NSSQLiteStoreType: String = "SQLite"

/// The type of a store in one binary file. Apple's format is not known: adding one throws code 134000. See
/// ``NSPersistentStore/StoreType/archive`` for a store in one file.
public let NSBinaryStoreType: String = "Binary"

/// The type of a store in one XML file, in Core Data's format on the Mac. The whole file is in memory.
public let NSXMLStoreType: String = "XML"

/// The type of a store in memory, whose rows exist as long as the store.
public let NSInMemoryStoreType: String = "InMemory"

extension NSPersistentStore {
    /// The types of stores, as a Swift type.
    public struct StoreType: Hashable, Equatable, RawRepresentable, Sendable {
        /// A type's name.
        public typealias RawValue = String

        /// The type as a string constant, such as `NSSQLiteStoreType`.
        public var rawValue: String

        /// The type with a string constant, which may be registered with ``NSPersistentStoreCoordinator``.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// An SQLite file.
        public static let sqlite = StoreType(rawValue: NSSQLiteStoreType)
        /// One binary file. Apple's format is not known: adding one throws code 134000.
        public static let binary = StoreType(rawValue: NSBinaryStoreType)
        /// One XML file, in Core Data's format on the Mac. The whole file is in memory.
        public static let xml = StoreType(rawValue: NSXMLStoreType)
        /// One file with a keyed archive: an addition to Core Data's types, in this engine's own format. The whole file
        /// is in memory.
        public static let archive = StoreType(rawValue: "Archive")
        /// A store in memory.
        public static let inMemory = StoreType(rawValue: NSInMemoryStoreType)
    }
}

/// The registered classes of stores, by type.
///
/// A class must inherit from `NSAtomicStore` or `NSIncrementalStore` to be added.
package final class StoreClasses: Sendable {
    package static let shared = StoreClasses()

    private let classes: Mutex<[String: NSPersistentStore.Type]>

    private init() { classes = Mutex(LinkedModules.storeClasses) }

    /// The classes of the stores in databases.
    private static let databases = LinkedModules.storeClasses.compactMapValues { $0 as? any DatabaseStore.Type }

    /// The class of the store at a URL: of a server, or of a file.
    ///
    /// - Throws: Code 134000 for a server, if the program was built without the trait.
    static func database(at url: URL) throws -> any DatabaseStore.Type {
        let type = isOnServer(url) ? serverType : NSSQLiteStoreType
        guard let found = databases[type] else { throw CocoaError(.persistentStoreInvalidType, missingTrait, url: url) }
        return found
    }

    /// Whether a location means a database in memory.
    static func isInMemory(_ url: URL) -> Bool { databases.values.contains { $0.isInMemory(url) } }

    /// Whether a URL is that of a store on a server.
    package static func isOnServer(_ url: URL) -> Bool {
        url.scheme.map { serverSchemes.contains($0.lowercased()) } ?? false
    }

    /// The type of stores in PostgreSQL, whose class exists with the package's trait only.
    package static let serverType = "PostgreSQL"
    package static let missingTrait =
        "Stores in PostgreSQL need the package's trait “PostgreSQL”, with which this program was not built."
    /// The schemes of the URLs of stores in PostgreSQL.
    package static let serverSchemes: Set<String> = ["postgresql", "postgres"]

    /// All types that have a class.
    package var all: [String: NSPersistentStore.Type] { classes.withLock { $0 } }

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
    package func storeClass(ofType type: String, url: URL?) throws -> NSPersistentStore.Type {
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

/// Why a store does not fit a model, in words for errors.
package enum StoreRefusal {
    /// The greatest numbers of entities, and of reasons of one, in a sentence.
    private static let limits = (entities: 3, reasons: 2)

    /// The entities whose version hashes differ, with the reasons if the store contains its model: `They differ in Note (title:
    /// optional is yes in the store, no in the model).` Empty if the store has no hashes, or none differs.
    ///
    /// Cost: the model in the store is read. An error while it is read is ignored, because another error is reported.
    package static func sentence(ofStoreAt url: URL?, metadata: [String: Any], model: NSManagedObjectModel) -> String {
        guard let stored = StoreModelHashes(metadata: metadata)?.hashes else { return "" }
        let own = url.flatMap { url in
            let type = metadata[NSStoreTypeKey] as? String ?? NSSQLiteStoreType
            return (try? StoreClasses.shared.storeClass(ofType: type, url: url)).flatMap {
                try? ($0 as? any DatabaseStore.Type)?.storedModel(at: url)
            }
        }
        let parts: [String]
        if let own, own.entityVersionHashesByName == stored {
            let difference = HashDifference(from: own.modelValue(), to: model.modelValue())
            parts = difference.entities.map(text)
        } else {
            let given = model.entityVersionHashesByName
            parts = Set(stored.keys).union(given.keys).filter { stored[$0] != given[$0] }.sorted()
        }
        guard !parts.isEmpty else { return "" }
        let more = parts.count > limits.entities ? ", and \(parts.count - limits.entities) more" : ""
        return "They differ in \(parts.prefix(limits.entities).joined(separator: ", "))\(more)."
    }

    private static func text(_ entity: HashDifference.Entity) -> String {
        if entity.newName == nil { return "\(entity.name) (only in the store)" }
        if entity.oldName == nil { return "\(entity.name) (only in the model)" }
        let reasons = entity.reasons.prefix(limits.reasons).map { $0.text(old: "the store", new: "the model") }
        let more = entity.reasons.count > limits.reasons ? "; …" : ""
        return "\(entity.name) (\(reasons.joined(separator: "; "))\(more))"
    }
}
