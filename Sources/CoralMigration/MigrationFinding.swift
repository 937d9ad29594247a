import CodedErrors
import Coral
import CoreData

/// Rows of a store that a migration would fail for, change or remove.
public struct MigrationFinding: Sendable, Hashable {
    /// The kinds of findings. A struct, so that adding one does not break a `switch`.
    public struct Code: Sendable, Hashable, RawRepresentable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        /// A required attribute that has no value, and no default value.
        public static let missingValue = Code(rawValue: "missingValue")
        /// A value that the new type of its attribute cannot represent.
        public static let unconvertibleValue = Code(rawValue: "unconvertibleValue")
        /// A value that a repair replaces or removes.
        public static let changedValue = Code(rawValue: "changedValue")
        /// Objects with equal values of a new uniqueness constraint.
        public static let notUnique = Code(rawValue: "notUnique")
        /// An object with several destinations of a relationship that becomes to-one.
        public static let tooManyDestinations = Code(rawValue: "tooManyDestinations")
        /// A required relationship with too few destinations.
        public static let missingDestination = Code(rawValue: "missingDestination")
        /// Objects that a repair merges into others with equal values.
        public static let mergedObject = Code(rawValue: "mergedObject")
        /// Objects of an entity that is removed.
        public static let removedObject = Code(rawValue: "removedObject")
        /// Values of an attribute, or references of a relationship, that is removed.
        public static let removedValue = Code(rawValue: "removedValue")
        /// Objects whose owner is removed.
        public static let orphan = Code(rawValue: "orphan")
    }

    /// The kind of finding.
    public var code: Code
    /// The entity, by its name in the newer version, or in the older one if it is removed.
    public var entity: String
    /// The property, or the properties of a uniqueness constraint, separated by commas.
    public var property: String?
    /// The number of objects.
    public var count: Int
    /// The URIs of the first of them.
    public var objects: [URL]
    /// The finding, and where there is one its remedy, in sentences.
    public var message: String
    /// Whether the migration fails for these objects; otherwise it changes or removes them.
    public var isBreaking: Bool
    /// The names of the versions between which the objects are found.
    public var step: String
}

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
