import CoreData
import GraphDocuments

/// How documents are imported. The defaults import everything that a document says and delete nothing.
public struct ImportOptions {
    /// What an import may do to objects.
    public struct Operations: OptionSet, Sendable, Hashable {
        public let rawValue: Int
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// Make objects of records that are found nowhere.
        public static let insert = Operations(rawValue: 1)
        /// Change objects that are found.
        public static let update = Operations(rawValue: 2)
        /// Delete what tombstones name, and what `deletionScopes` say.
        public static let delete = Operations(rawValue: 4)
        /// All of them.
        public static let all: Operations = [.insert, .update, .delete]
    }

    /// What may be done to objects.
    public var operations: Operations = .all
    /// What may be done to objects that stand inside others in the document; nil for the same as at the top.
    public var relationshipOperations: Operations?
    /// How documents of somebody else's design say what objects hold; nil for documents of ours. See `Dialect` for what a model
    /// may say of it.
    public var mapping: Mapping?
    /// The object that all objects at the top of the document belong to.
    public var owner: ImportOwner?
    /// Who is who.
    public var identity = ImportIdentity()
    /// What becomes of the members that a to-many relationship has and the record does not list, by `Entity.relationship`.
    /// Directives in the model's user info (`coral.import`: `set`, `union` or `replace`) count where nothing is said here.
    public var relationshipPolicies: [String: RelationshipImportPolicy] = [:]
    /// What becomes of references to objects that exist nowhere.
    public var danglingReferences = DanglingReferencePolicy.fail
    /// What becomes of members that the entity does not have.
    public var unknownKeys = UnknownKeyPolicy.ignore
    /// What becomes of that in documents of another model version which this one has no place for. Nil for what
    /// `unknownKeys` and `reading` say of all documents. The plan's `modelDifferences` tell how the models differ.
    public var otherModel: OtherModelPolicy?
    /// Whether values must be of their declared type. Otherwise they are converted where that loses nothing.
    public var isStrict = false
    /// Date formats, as `DateFormatter` has them, that are tried before the usual ones. Read in UTC.
    public var dateFormats: [String] = []
    /// What a number means where a date is wanted.
    public var numericDates = NumericDates.unix
    /// How far apart, in seconds, two dates may lie and still be the same. Documents with a header say dates to the last
    /// bit; those without, of servers, often to the millisecond: nil is half of one for these, and 0 for the others.
    public var dateTolerance: Double?
    /// Whether records with errors are left out, and the rest is imported. Otherwise one error stops the import.
    public var skipsInvalid = false
    /// For each entity the attribute that says how new an object is: a record that is not newer changes nothing. The user
    /// info's `coral.newer` of an entity counts where nothing is said here.
    public var newerAttributes: [String: String] = [:]
    /// Objects that are deleted when the document does not have them.
    public var deletionScopes: [DeletionScope] = []
    /// What is called for each record and each value.
    public var hooks = ImportHooks()
    /// How documents are read: limits, trailing commas, shape.
    public var reading = ReadingOptions()
    /// The folder of files that stand beside the document; nil refuses them.
    public var folder: URL?
    /// What becomes of values whose files did not exist when the document was written. An import leaves what an object has, or
    /// refuses the record; a restored store refers to the file again where the policy is to keep the reference. The plan's
    /// `missingFiles` tell of all.
    public var missingFiles = MissingFilePolicy.keep
    /// How many entries of each kind a plan keeps; beyond that it counts.
    public var entryLimit = 100_000
    /// The number of objects that are looked up with one statement.
    public var batchSize = 500

    /// Whether abstract entities have objects of their own where nothing chooses another. Only MagicalImport thinks so.
    var insertsAbstractEntities = false
    /// Whether objects are checked against the model's rules. Only a restore takes a store as it was.
    var validates = true
    /// Whether a one-to-one relationship is set on its own side alone. A restore does so: each side is what the document
    /// says of it, also where the store that it comes from had one side only.
    var keepsSidesApart = false
    /// Whether references to missing files are written to the store. Only a restore does so: elsewhere they are another store's.
    var restoresMissingFiles = false
    /// Makes the object of a record that is new.
    var makesObject: (NSEntityDescription, RecordID?, NSManagedObjectContext) throws -> NSManagedObject = {
        NSEntityDescription.insertNewObject(forEntityName: $0.name ?? "", into: $2)
    }

    public init() {}
}

/// What becomes of the members of a to-many relationship when a record lists some.
public enum RelationshipImportPolicy: String, Sendable, Hashable, CaseIterable {
    /// The members are those that the record lists; others lose their link.
    case set
    /// What the record lists is added.
    case union
    /// The members are those that the record lists; others are deleted.
    case replace
}

/// An object that what is imported belongs to: whatever stands at the top of the document becomes part of a relationship of
/// its.
public struct ImportOwner {
    /// The object.
    public var object: NSManagedObject
    /// A to-many relationship of the object.
    public var relationship: String

    /// Whatever stands at the top of the document becomes part of an object's relationship.
    public init(_ object: NSManagedObject, _ relationship: String) {
        self.object = object
        self.relationship = relationship
    }
}

/// What becomes of a reference to an object that is neither in the document nor in the store.
public enum DanglingReferencePolicy: String, Sendable, Hashable, CaseIterable {
    /// An error.
    case fail
    /// It is left out without a word.
    case skip
    /// It is left out, and stands among the plan's conflicts.
    case record
    /// An object is made that has nothing but the key; where the reference says no key, it is an error. Where the model requires
    /// more of it, a save fails until it is filled; on Apple's platforms that holds for a save into a parent context as well,
    /// so import such documents with `GraphImporter.worksInPlace`.
    case stub
}

/// What becomes of a member that the record's entity does not have.
public enum UnknownKeyPolicy: String, Sendable, Hashable, CaseIterable {
    /// It is left out without a word.
    case ignore
    /// It is left out, and stands among the plan's conflicts.
    case record
    /// An error.
    case fail
}

/// What a number means in the place of a date.
public enum NumericDates: Sendable, Hashable {
    /// Since 1970: seconds, or milliseconds where the number is too large for seconds (beyond the year 5138).
    case unix
    /// Seconds since 2001-01-01, as Core Data counts.
    case reference
    /// An error.
    case refused
}

/// Objects that are deleted when the document does not have them: those of an entity that match a predicate.
public struct DeletionScope {
    /// The entity whose objects are deleted; those of entities that inherit from it, too.
    public var entity: String
    /// Which of them; nil for all.
    public var predicate: NSPredicate?

    /// A scope of all objects of an entity, or of those that a predicate finds.
    public init(entity: String, predicate: NSPredicate? = nil) {
        self.entity = entity
        self.predicate = predicate
    }
}

/// What is called for each record, each value and each relationship. A hook for an entity is called for those that inherit
/// from it too; the name `*` is every entity. Names that the model does not have are an error. With `skipsInvalid`, records that
/// are refused make all be done again without them, and hooks are called again.
public struct ImportHooks {
    /// Asked before a record is used; false leaves it out. The object is nil where one will be made.
    public var shouldImport: [String: (GraphRecord, NSManagedObject?) -> Bool] = [:]
    /// Called before a record's values are set.
    public var willImport: [String: (GraphRecord, NSManagedObject) -> Void] = [:]
    /// Called when a record's values and links are set; may set more.
    public var didImport: [String: (GraphRecord, NSManagedObject) -> Void] = [:]
    /// Asked before a value is set, by `Entity.attribute`; gives the value to set, or nil to leave the old one.
    public var value: [String: (GraphValue, NSManagedObject) -> GraphValue?] = [:]
    /// Asked before a relationship is set, by `Entity.relationship`, with the objects that the record lists and the object that
    /// has the relationship; gives the objects to set, or nil to leave the relationship as it is.
    public var link: [String: ([NSManagedObject], NSManagedObject) -> [NSManagedObject]?] = [:]

    public init() {}
}
