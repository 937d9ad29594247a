import Foundation

/// Versions of a model between which a store is migrated by inference. Consecutive lightweight stages are one inferred
/// migration, from the version of the store to the last one, unless ``ChainedLightweightStagesOption`` is set.
open class NSLightweightMigrationStage: NSMigrationStage {
    /// The checksums of the versions; see ``NSManagedObjectModel/versionChecksum``.
    public let versionChecksums: [String]

    /// Creates a stage of the versions with these checksums.
    public init(_ versionChecksums: [String]) {
        self.versionChecksums = versionChecksums
        super.init()
    }
}
