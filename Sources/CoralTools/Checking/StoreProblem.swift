/// A problem of a store, with the number of objects that have it.
public struct StoreProblem: Sendable, Hashable {
    /// The kinds of problems. A struct, so that adding one does not break a `switch`.
    public struct Code: Sendable, Hashable, RawRepresentable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        /// SQLite reports that the file is damaged, or the tables of a server are not those of a store.
        public static let damagedFile = Code(rawValue: "damagedFile")
        /// The store lacks a table or a column of the model.
        public static let missingTable = Code(rawValue: "missingTable")
        /// A row or a reference contains the number of an entity that its table or relationship does not permit.
        public static let wrongEntity = Code(rawValue: "wrongEntity")
        /// A primary key is greater than the recorded maximum.
        public static let keyBeyondMaximum = Code(rawValue: "keyBeyondMaximum")
        /// An object refers to an object that does not exist.
        public static let danglingReference = Code(rawValue: "danglingReference")
        /// An object refers to an object whose inverse does not refer back.
        public static let disagreeingInverse = Code(rawValue: "disagreeingInverse")
        /// A value has a type that the attribute does not accept.
        public static let wrongType = Code(rawValue: "wrongType")
        /// The external file of a large value does not exist.
        public static let missingFile = Code(rawValue: "missingFile")
        /// An external file is not the value of any object.
        public static let unusedFile = Code(rawValue: "unusedFile")
        /// Several objects have equal values of a uniqueness constraint.
        public static let notUnique = Code(rawValue: "notUnique")
        /// Members of an ordered relationship have no position, or the same position as another member.
        public static let ambiguousPosition = Code(rawValue: "ambiguousPosition")
        /// A store on a server lacks an index.
        public static let missingIndex = Code(rawValue: "missingIndex")
        /// The model does not allow a value.
        public static let forbiddenValue = Code(rawValue: "forbiddenValue")
    }

    /// The kind of problem.
    public var code: Code
    /// The entity; empty for a problem of the file.
    public var entity: String
    /// The property, or the properties of a uniqueness constraint, separated by commas.
    public var property: String?
    /// The number of objects, references, groups of objects or files.
    public var count: Int
    /// The names of the first objects with the problem, for example `Note/p12`.
    public var examples: [String]
    /// The problem, as a sentence.
    public var message: String
    /// Whether `StoreCheck.repair(progress:)` repairs it.
    public var isRepairable: Bool

    /// Whether the objects of the store cannot be read: it is damaged or lacks tables.
    package var hindersReading: Bool { code == .damagedFile || code == .missingTable }
}
