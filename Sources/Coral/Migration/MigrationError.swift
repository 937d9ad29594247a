import CodedErrors

extension ProgressiveMigration: ErrorDomain {}

/// Why a store cannot be migrated, or a migration is declared wrongly.
public typealias MigrationError = CodedError<ProgressiveMigration>

extension MigrationError.Code {
    /// A model or a mapping model does not exist or cannot be read.
    public static let missingModel = Self(rawValue: "missingModel")
    /// The version with which the store was written is not known.
    public static let missingSourceVersion = Self(rawValue: "missingSourceVersion")
    /// The store was written with a later version than the one to migrate to.
    public static let laterVersion = Self(rawValue: "laterVersion")
    /// The store was written with another model, not with another version of this one.
    public static let otherModel = Self(rawValue: "otherModel")
    /// A step can neither be inferred, nor is there a mapping model.
    public static let impossibleStep = Self(rawValue: "impossibleStep")
    /// A step is not inferred, so that it is not made by SQL.
    public static let notLightweight = Self(rawValue: "notLightweight")
    /// A repair that concerns no property of the models, or one that it does not fit.
    public static let wrongRepair = Self(rawValue: "wrongRepair")
    /// A value that a repair cannot convert.
    public static let wrongValue = Self(rawValue: "wrongValue")
}
