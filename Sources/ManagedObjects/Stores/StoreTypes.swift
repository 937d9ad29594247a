import Foundation
import SQLiteConnections

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
