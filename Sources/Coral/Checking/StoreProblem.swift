/// Something that is wrong with a store, for all objects that it is wrong with.
public struct StoreProblem: Sendable, Hashable {
    /// What can be wrong. A struct, so that a new kind breaks no `switch`.
    public struct Code: Sendable, Hashable, RawRepresentable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        /// SQLite finds the file damaged.
        public static let damagedFile = Code(rawValue: "damagedFile")
        /// The store lacks a table or a column of the model's.
        public static let missingTable = Code(rawValue: "missingTable")
        /// A row, or a reference, says that it is of an entity that it cannot be of.
        public static let wrongEntity = Code(rawValue: "wrongEntity")
        /// There is a primary key beyond the last one given out.
        public static let keyBeyondMaximum = Code(rawValue: "keyBeyondMaximum")
        /// An object refers to one that does not exist.
        public static let danglingReference = Code(rawValue: "danglingReference")
        /// An object refers to one that does not refer back.
        public static let disagreeingInverse = Code(rawValue: "disagreeingInverse")
        /// A value is of a type that the attribute cannot have.
        public static let wrongType = Code(rawValue: "wrongType")
        /// The file that holds a large value is not there.
        public static let missingFile = Code(rawValue: "missingFile")
        /// A file beside the store holds a value that no object has.
        public static let unusedFile = Code(rawValue: "unusedFile")
        /// Several objects have values that the model says are unique.
        public static let notUnique = Code(rawValue: "notUnique")
        /// The model forbids a value.
        public static let forbiddenValue = Code(rawValue: "forbiddenValue")
    }

    /// Which kind of problem it is.
    public var code: Code
    /// The entity; empty where it is about the file.
    public var entity: String
    /// The property, or the properties of a uniqueness constraint with commas between them.
    public var property: String?
    /// How many objects, references, groups of objects or files.
    public var count: Int
    /// The first of them, such as `Note/p12`.
    public var examples: [String]
    /// What is wrong, as a sentence.
    public var message: String
    /// Whether `StoreCheck.repair(_:)` puts it right.
    public var isRepairable: Bool
}
