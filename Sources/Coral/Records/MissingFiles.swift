import CoreData
import GraphDocuments

#if !canImport(Darwin) && !CORAL_PUBLIC_API
    @_spi(Stores) import ManagedObjects
#endif

/// What becomes of values whose files do not exist.
///
/// Core Data keeps large values of attributes that allow it in files in a hidden folder beside the store
/// (`.Notes_SUPPORT/_EXTERNAL_DATA` beside `Notes.sqlite`). Where a store was copied without that folder, the rows refer to
/// files that do not exist, and Core Data reads null.
public enum MissingFilePolicy: String, Sendable, Hashable, CaseIterable {
    /// The reference is kept: a document has the file's name (`$missing`), and a restored store refers to the file again.
    case keep
    /// The value is null.
    case skip
    /// An error.
    case refuse
}

/// A value whose file does not exist.
public struct MissingFile: Sendable, Hashable, CustomStringConvertible {
    /// The object that has the value.
    public var id: RecordID
    /// The attribute's name.
    public var attribute: String
    /// The name that the store has for the file.
    public var name: String

    public var description: String { "The file of \(id).\(attribute) does not exist (\(name))." }
}

/// Reads and sets references to files that do not exist. Core Data has no API for them: on Apple's platforms such values are
/// null, and nothing can be told.
enum MissingFileReference {
    /// The name of the file that should hold an attribute's value and does not exist; nil where there is a value, or none is
    /// missing.
    static func name(of object: NSManagedObject, _ attribute: String) -> String? {
        #if !canImport(Darwin) && !CORAL_PUBLIC_API
            object.missingFile(forKey: attribute)
        #else
            nil
        #endif
    }

    /// Makes an attribute refer to a file that does not exist, when its object is saved to a store of SQLite. False where that
    /// cannot be.
    static func set(_ name: String, of object: NSManagedObject, _ attribute: String) -> Bool {
        #if !canImport(Darwin) && !CORAL_PUBLIC_API
            object.setMissingFile(name, forKey: attribute)
        #else
            false
        #endif
    }
}
