import Foundation

/// A stage of a staged migration: ``NSLightweightMigrationStage`` or ``NSCustomMigrationStage``.
open class NSMigrationStage: NSObject {
    /// A name for messages.
    open var label: String!

    override init() {}
}
