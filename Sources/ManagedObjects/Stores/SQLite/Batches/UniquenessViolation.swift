import CoreDataErrors
import Foundation

/// A row was not written, because another row has values that must be unique.
@_spi(Stores)
public struct UniquenessViolation: Error {
    /// The name of the row's entity.
    public let entity: String
    /// Whether the table had rows before the transaction: a later change of one of them may release the values.
    public let hadRows: Bool

    /// The error of a save with such a row.
    public var error: CocoaError {
        CocoaError(
            .managedObjectConstraintMerge,
            "An object of “\(entity)” has values that another one has, and that must be unique.")
    }
}
