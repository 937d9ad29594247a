import Foundation

/// The type of a store that keeps its rows in an SQLite file.
public let NSSQLiteStoreType: String = "SQLite"

/// The type of a store that keeps one binary file. Apple's format is not known: adding one throws code 134000. See
/// ``NSPersistentStore/StoreType/archive`` for a store in one file.
public let NSBinaryStoreType: String = "Binary"

/// The type of a store that keeps one XML file, in the format of Core Data on the Mac. The whole of it is in memory.
public let NSXMLStoreType: String = "XML"

/// The type of a store that keeps its rows in memory, for as long as it lives.
public let NSInMemoryStoreType: String = "InMemory"

extension NSPersistentStore {
    /// The types of stores, in the spelling of newer code.
    public struct StoreType: Hashable, Equatable, RawRepresentable, Sendable {
        /// A type's name.
        public typealias RawValue = String

        /// The type as older code spells it, such as `NSSQLiteStoreType`.
        public var rawValue: String

        /// The type of an older spelling; also of a class registered with ``NSPersistentStoreCoordinator``.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// An SQLite file.
        public static let sqlite = StoreType(rawValue: NSSQLiteStoreType)
        /// One binary file. Apple's format is not known: adding one throws code 134000.
        public static let binary = StoreType(rawValue: NSBinaryStoreType)
        /// One XML file, in the format of Core Data on the Mac. The whole of it is in memory.
        public static let xml = StoreType(rawValue: NSXMLStoreType)
        /// One file that holds a keyed archive: an addition to Core Data's types, whose format only this engine knows. The
        /// whole of it is in memory.
        public static let archive = StoreType(rawValue: "Archive")
        /// Memory.
        public static let inMemory = StoreType(rawValue: NSInMemoryStoreType)
    }
}
