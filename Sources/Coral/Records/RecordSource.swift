import CoreData
import GraphDocuments

/// The values of one object of which a record is made: a managed object (`ObjectRecorder`) or a row (`RowRecorder`).
///
/// `RecordComposer` determines what the record contains; a source only reads values.
protocol RecordSource {
    /// The value of an attribute of the entity's plan, nil for null.
    func value(of attribute: Int) throws -> GraphValue?

    /// Calls a function with each destination of a relationship of the entity's plan: those that the shape includes, in
    /// the order of documents (see `RecordComposer.arranged(_:of:entity:name:)`).
    mutating func forEachDestination(of relationship: Int, _ body: (RecordDestination) -> Void) throws
}

/// An object to which a relationship refers.
enum RecordDestination {
    case existing(RecordID)
    /// No such object exists.
    case missing(RecordID)
}
