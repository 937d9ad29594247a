import CoreData
import GraphDocuments

/// How documents are imported. By default all records are imported, and only tombstones delete.
///
///     var options = ImportOptions()
///     options.identity.keys = ["Note": ["title"]]
///     options.unknownKeys = .fail
///     let notes = try context.importObjects(from: json, as: Note.self, options: options)
public struct ImportOptions {
    /// What an import may do to objects.
    public struct Operations: OptionSet, Sendable, Hashable {
        public let rawValue: Int
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// Insert objects for records that match no object.
        public static let insert = Operations(rawValue: 1)
        /// Update matched objects.
        public static let update = Operations(rawValue: 2)
        /// Delete the objects of tombstones and of `deletionScopes`.
        public static let delete = Operations(rawValue: 4)
        /// All of them.
        public static let all: Operations = [.insert, .update, .delete]
    }

    /// The operations permitted on objects.
    public var operations: Operations = .all
    /// The operations permitted on objects nested inside others in the document; nil for the same as at the top.
    public var relationshipOperations: Operations?
    /// How documents that were not written by this package map to the model; nil for documents of this package. See
    /// `Dialect` for the directives that a model may contain.
    public var mapping: Mapping?
    /// An object, and its to-many relationship that all objects at the top of the document are added to.
    public var owner: (object: NSManagedObject, relationship: String)?
    /// How records are matched with objects.
    public var identity = ObjectIdentity()
    /// Whether the directives `coral.identity`, `coral.import` and `coral.newer` in the model's user info are used.
    public var honoursUserInfo = true
    /// What happens to members of a to-many relationship that the record does not list, by `Entity.relationship`.
    /// Relationships without an entry use the directive in the model's user info (`coral.import`: `set`, `union` or
    /// `replace`).
    public var relationshipPolicies: [String: RelationshipImportPolicy] = [:]
    /// The policy for references to objects that do not exist.
    public var danglingReferences = DanglingReferencePolicy.fail
    /// The policy for members that are not properties of the entity.
    public var unknownKeys = UnknownKeyPolicy.skip
    /// The policy for entities and members in a document of another model version that this model has neither by name nor
    /// by renaming identifier. With nil `unknownKeys` applies to the members, and an unknown entity is an error.
    public var otherModel: UnknownKeyPolicy?
    /// The policy for values that are not of their declared type, such as the text of a number.
    public var mismatchedValues = MismatchedValuePolicy.convert
    /// Date formats in the syntax of `DateFormatter` that are tried before the usual ones. Dates are read in UTC.
    public var dateFormats: [String] = []
    /// The meaning of a number given for a date.
    public var numericDates = NumericDates.unix
    /// The largest difference in seconds between two dates that are considered equal. Documents with a header state
    /// dates exactly; documents without one, such as servers', often to the millisecond: nil means half a millisecond
    /// for these, and 0 for the others.
    public var dateTolerance: Double?
    /// Whether records with errors are omitted and the others imported. Otherwise one error stops the import.
    public var skipsInvalid = false
    /// For each entity the attribute that orders versions of an object: a record that is not newer changes nothing.
    /// Entities without an entry use `coral.newer` in the user info.
    public var newerAttributes: [String: String] = [:]
    /// For an entity the objects that are deleted if the document does not contain them, those of subentities too:
    /// `["Note": NSPredicate(value: true)]` means all of its objects.
    public var deletionScopes: [String: NSPredicate] = [:]
    /// Whether a document without any record may delete the objects of `deletionScopes`. False by default, because an empty file may
    /// be what an interrupted transfer has left.
    public var allowsEmptyDocument = false
    /// Whether `importInBatches` calls the methods of entity classes, such as `awakeFromInsert`, `validateForInsert` and `willSave`.
    /// With `false` a document in the plain layout is written as rows even if entities have classes of their own, which is several
    /// times faster.
    public var callsLifecycleMethods = true
    /// Closures that are called for records, values and relationships.
    public var hooks = ImportHooks()
    /// The limits of documents.
    public var limits: DocumentLimits {
        get { reading.limits }
        set { reading.limits = newValue }
    }
    /// The layout of the document, if it does not state it: needed for `.lines` and `.plain` only.
    public var layout: DocumentLayout? {
        get { reading.layout }
        set { reading.layout = newValue }
    }
    /// Whether a trailing comma is accepted before a closing bracket.
    public var allowsTrailingCommas: Bool {
        get { reading.allowsTrailingCommas }
        set { reading.allowsTrailingCommas = newValue }
    }
    /// How documents are read.
    package var reading = ReadingOptions()
    /// The folder that contains the external files of the document; if nil, a document with such files is an error.
    public var folder: URL?
    /// The policy for values whose files did not exist when the document was written. An import keeps the object's
    /// value or refuses the record; a restored store refers to the missing file again with the policy `keep`. The
    /// plan's `missingFiles` list all of them.
    public var missingFiles = MissingFilePolicy.keep
    /// The number of entries of each kind that a plan keeps; further entries are only counted.
    package var entryLimit = 100_000
    /// The number of records that `GraphImporter.importInBatches(from:entity:progress:)` imports together. A record at the top of
    /// the document and the records nested inside it are always in one batch, which may therefore be larger.
    public var batchSize = 5000

    /// Whether records may insert objects of abstract entities. Only the MagicalImport dialect does.
    package var insertsAbstractEntities = false
    /// Whether nested records without the key that their entity declares are omitted from to-many relationships, and stand
    /// for the current destination of a to-one relationship. Only the Sync dialect does this.
    var mustHaveKeys = false
    /// Whether objects are validated against the model. A restore does not validate.
    package var validates = true
    /// Whether each side of a one-to-one relationship is set separately. A restore does so: each side gets the value
    /// that the document states, even if only one side was set originally.
    var keepsSidesApart = false
    /// Whether children of a populated object that its record does not list stay in their relationship.
    var keepsUnlistedChildren = false
    /// Whether references to missing files are written to the store. Only a restore does so: elsewhere the files belong
    /// to another store.
    var restoresMissingFiles = false
    /// The number of objects that are looked up with one statement.
    let lookupSize = 500
    /// Inserts the object of a new record.
    var makesObject: (NSEntityDescription, RecordID?, NSManagedObjectContext) throws -> NSManagedObject = {
        NSEntityDescription.insertNewObject(forEntityName: $0.name ?? "", into: $2)
    }

    /// The standard options.
    public init() {}

    /// Sets the policy of a to-many relationship, given as a key path such as `\Note.tags`, for members that a record does not list.
    public mutating func set(_ relationship: PartialKeyPath<some NSManagedObject>, _ policy: RelationshipImportPolicy) {
        relationshipPolicies[relationship.ruleText] = policy
    }

    /// Sets the attribute that orders versions of an object, such as `\Note.modifiedAt`: a record that is not newer changes nothing.
    public mutating func setNewer<Object: NSManagedObject>(_ attribute: PartialKeyPath<Object>) {
        newerAttributes[Object.ruleName] = Object.ruleNames([attribute])[0]
    }

    /// Sets an object, and its to-many relationship, such as `\Note.items`, that all objects at the top of the document are added to.
    public mutating func setOwner<Object: NSManagedObject>(
        _ object: Object, _ relationship: PartialKeyPath<Object>
    ) {
        owner = (object, Object.ruleNames([relationship])[0])
    }
}

/// The policy for members of a to-many relationship that a record does not list.
public enum RelationshipImportPolicy: String, Sendable, Hashable, CaseIterable {
    /// The members are those that the record lists; others are removed from the relationship.
    case set
    /// The members that the record lists are added.
    case union
    /// The members are those that the record lists; others are deleted, unless a record of the document states or lists them, or another
    /// relationship owns them.
    case replace
}

/// The policy for a reference to an object that is neither in the document nor in the store.
public enum DanglingReferencePolicy: String, Sendable, Hashable, CaseIterable {
    /// An error.
    case fail
    /// The reference is omitted without a report.
    case skip
    /// The reference is omitted and reported as a conflict of the plan.
    case record
    /// An object is inserted that has only the key. A reference without a key is an error. If the model requires more
    /// properties, a save fails until they are set. On Apple's platforms a plan is such a save: import the document with
    /// `importObjects(from:as:options:progress:)` of a container.
    case stub
}

/// The policy for what a document has and the model does not: a member that is not a property of the record's entity, or
/// an entity.
public enum UnknownKeyPolicy: String, Sendable, Hashable, CaseIterable {
    /// It is omitted; the plan only counts it.
    case skip
    /// It is omitted and reported as a conflict of the plan, with the member's value.
    case record
    /// An error.
    case fail
}

/// The policy for a value that is not of the type of its attribute.
public enum MismatchedValuePolicy: String, Sendable, Hashable, CaseIterable {
    /// The value is converted if that is lossless. Otherwise it is an error of its record.
    case convert
    /// The value is converted if that is lossless. Otherwise it is omitted and reported as a conflict of the plan; the object
    /// keeps its value.
    case record
    /// An error of its record, even if a conversion would be lossless.
    case fail
}

/// The meaning of a number in the place of a date.
public enum NumericDates: Sendable, Hashable {
    /// Since 1970: seconds, or milliseconds if the number is too large for seconds (beyond the year 5138).
    case unix
    /// Seconds since 2001-01-01, as Core Data counts.
    case reference
    /// An error.
    case fail
}

/// Closures that are called for each record, value and relationship. A hook for an entity is also called for its
/// subentities; the name `*` means every entity. Names that the model does not have are an error. With `skipsInvalid`,
/// the import is repeated without refused records, and the hooks are called again.
///
///     options.hooks.setValue(\Note.title) { value, _ in value == .string("") ? .null : value }
///     options.hooks.shouldImport["Note"] = { record, _ in record.value(of: "title") != nil }
public struct ImportHooks {
    /// Called before a record is imported; false skips it. The object is nil if a new one will be inserted.
    public var shouldImport: [String: (GraphRecord, NSManagedObject?) -> Bool] = [:]
    /// Called before a record's values are set.
    public var willImport: [String: (GraphRecord, NSManagedObject) -> Void] = [:]
    /// Called after a record's values and relationships are set; may set more.
    public var didImport: [String: (GraphRecord, NSManagedObject) -> Void] = [:]
    /// Called before a value is set, by `Entity.attribute`; returns the value to set, or nil to keep the old one.
    public var value: [String: (GraphValue, NSManagedObject) -> GraphValue?] = [:]
    /// Called before a relationship is set, by `Entity.relationship`, with the objects that the record lists and the
    /// object that has the relationship; returns the objects to set, or nil to leave the relationship unchanged.
    public var link: [String: ([NSManagedObject], NSManagedObject) -> [NSManagedObject]?] = [:]

    /// No hooks.
    public init() {}

    /// Sets the closure that is called before a value, such as `\Note.title`, is set.
    public mutating func setValue<Object: NSManagedObject>(
        _ attribute: PartialKeyPath<Object>, by closure: @escaping (GraphValue, Object) -> GraphValue?
    ) {
        value[attribute.ruleText] = { value, object in
            guard let object = object as? Object else { return value }
            return closure(value, object)
        }
    }

    /// Sets the closure that is called before a relationship, such as `\Note.tags`, is set.
    public mutating func setLink<Object: NSManagedObject>(
        _ relationship: PartialKeyPath<Object>,
        by closure: @escaping ([NSManagedObject], Object) -> [NSManagedObject]?
    ) {
        link[relationship.ruleText] = { objects, owner in
            guard let owner = owner as? Object else { return objects }
            return closure(objects, owner)
        }
    }

    /// Whether there are no hooks.
    package var isEmpty: Bool {
        shouldImport.isEmpty && willImport.isEmpty && didImport.isEmpty && value.isEmpty && link.isEmpty
    }
}

extension ImportOptions {
    /// The options with the names of entities: typed key paths have those of classes.
    func named(in model: NSManagedObjectModel) -> ImportOptions {
        var options = self
        options.relationshipPolicies = KeyPathResolver.named(relationshipPolicies, in: model)
        options.newerAttributes = KeyPathResolver.named(newerAttributes, in: model)
        options.hooks.value = KeyPathResolver.named(hooks.value, in: model)
        options.hooks.link = KeyPathResolver.named(hooks.link, in: model)
        return options
    }

    /// The options for reading a document into a model.
    ///
    /// - Parameter rootEntity: The entity of the records at the top of the document, if the caller states it.
    package func reading(for model: ImportModel, rootEntity: String?) -> ReadingOptions {
        var reading = reading
        // A mismatched value is converted, or reported together with all other errors.
        reading.keepsMismatchedValues = true
        reading.rootEntity = rootEntity ?? reading.rootEntity
        if let otherModel, otherModel != .fail { reading.unknownEntities = .skip }
        if reading.layout == .plain, reading.plainLayout == nil { reading.plainLayout = PlainLayout(model) }
        return reading
    }
}

extension DanglingReferencePolicy {
    /// The treatment of a reference whose object does not exist.
    package enum Outcome {
        /// The record has an error.
        case error
        /// The reference is omitted and reported.
        case conflict
        /// The reference is omitted.
        case omission
    }

    /// The outcome of this policy, used by imports through objects and by rows.
    ///
    /// - Parameter isKnown: Whether the document contains the object, but its record is omitted or deletes it: the
    ///   reference is then not dangling, and an error would be reported twice.
    package func outcome(isKnown: Bool) -> Outcome {
        switch self {
        case .fail, .stub: isKnown ? .conflict : .error
        case .record: .conflict
        case .skip: .omission
        }
    }
}
