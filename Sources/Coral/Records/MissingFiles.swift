import CoreData
import GraphDocuments

/// The policy for values whose files do not exist.
///
/// Core Data stores large values of attributes with external storage in files of a hidden folder beside the store
/// (`.Notes_SUPPORT/_EXTERNAL_DATA` beside `Notes.sqlite`). If a store was copied without that folder, the rows refer
/// to files that do not exist, and Core Data reads null.
public enum MissingFilePolicy: String, Sendable, Hashable, CaseIterable {
    /// The reference is kept: a document contains the file's name (`$missing`), and a restored store refers to the file
    /// again.
    case keep
    /// The value is null.
    case skip
    /// An error.
    case fail
}
