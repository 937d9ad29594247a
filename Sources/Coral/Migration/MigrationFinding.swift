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
