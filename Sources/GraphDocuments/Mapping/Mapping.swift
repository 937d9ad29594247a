// How foreign documents are mapped.
//
// `GraphDocuments/Mapping` is independent of objects. A `Mapping` is plain data; `MappingCompiler` checks it against a
// schema, collects all errors, and creates a plan for each entity; records are read and written with the plan only.
// `MappedDocumentReader` reads the top-level objects one by one, as trees, and `MappedRecordMaker` makes records of
// them, with additional information (which key identifies the object, which entity a reference that is only a key
// refers to) as `MappedDetails`. `MappedGraphWriter` is a `GraphWriter`. `Coral/Mapping` reads the user info of several
// dialects into the same `Mapping`. `KeyNames` derives names of objects from their keys, for the plain layout and for
// references.

/// The format of documents that were designed independently of the model: one declaration for reading and writing.
///
///     var mapping = Mapping(keys: .snakeCase)
///     mapping["User"].identity = ["id"]
///     mapping["User"]["name"].keys = ["profile.name", "name"]       // the first that is there; the first is written
///     mapping["User"]["birthday"].dates = .format("d/M/yyyy")
///     mapping["Layout"].choice = .value(of: "type", ["circle": "Circle", "square": "Square"])
///
/// A property without a declaration has the key that the mapping's `keys` gives. A mapping is plain data: its names are
/// checked, all at once, before a document is read or written, or by `mistakes(in:)`.
///
/// An element of a composite attribute has a declaration of its own under its path, `mapping["Box"]["size.width"]`; the other
/// elements stay members of the attribute's value.
///
/// A key is a path: `a.b` is the member `b` of the object `a`; `a[0]` and `a[-1]` are the first and the last element of
/// the array `a`. `@key` is the key of an object in a keyed relationship or a keyed document; `@value` is the value there, if
/// it is not an object; `@index` is its position. A backslash escapes `.`, `[` and `@`.
public struct Mapping: Sendable {
    /// The mappings of single entities, by their names.
    public var entities: [String: EntityMapping] = [:]
    /// The keys of properties without a declaration.
    public var keys: KeyStrategy
    /// The format of dates, in addition to ISO 8601 for reading, if a property has none of its own. Nil for ISO 8601
    /// with full precision.
    public var dates: MappedDates?
    /// Whether decimals are written as numbers instead of strings. Both forms are read.
    public var writesDecimalsAsNumbers = false
    /// Whether null is written for a property without a value; otherwise it is omitted.
    public var writesNulls = true
    /// The path to the array or object with the records, if it is not the document itself: `response.users`.
    public var root: String?
    /// Whether the top-level objects are members of an object, each with a key (`@key`), instead of an array:
    /// `{"id1": {…}, "id2": {…}}`. Where the entity of the objects is not given, there is such an object for each entity.
    public var isKeyed = false

    /// Creates a mapping without declarations.
    public init(keys: KeyStrategy = .same) {
        self.keys = keys
    }

    var decimals: PlainLayout.DecimalForm { writesDecimalsAsNumbers ? .number : .string }

    /// The mapping of an entity.
    public subscript(entity: String) -> EntityMapping {
        get { entities[entity] ?? EntityMapping() }
        set { entities[entity] = newValue }
    }

    /// This mapping combined with another: declarations of the other take precedence.
    public func merging(_ other: Mapping) -> Mapping {
        var merged = other
        merged.entities = entities.merging(other.entities) { $0.merging($1) }
        return merged
    }
}

/// The mapping of one entity. It also applies to entities that inherit from it, unless they have declarations of their
/// own.
public struct EntityMapping: Sendable {
    /// The mappings of single properties, by their names.
    public var properties: [String: PropertyMapping] = [:]
    /// The properties that identify an object. Nil if the model declares them, or there are none.
    public var identity: [String]?
    /// How the entity of an object is determined from the document. Nil if it is this one.
    public var choice: EntityChoice?
    /// Transforms an object of the document before it is read.
    public var transformer: MappedTransformer?
    /// The keys of properties without a declaration; nil for the mapping's strategy.
    public var keys: KeyStrategy?
    /// Whether only properties declared with keys are mapped.
    package var isOptIn: Bool?
    /// The key of the array with the entity's objects in a document with one array for each entity; nil for the
    /// entity's name.
    public var documentKey: String?

    /// Creates a mapping without declarations.
    public init() {}

    /// The mapping of a property.
    public subscript(property: String) -> PropertyMapping {
        get { properties[property] ?? PropertyMapping() }
        set { properties[property] = newValue }
    }

    /// This mapping combined with another: declarations of the other take precedence.
    func merging(_ other: EntityMapping) -> EntityMapping {
        var merged = self
        merged.properties.merge(other.properties) { $1 }
        merged.identity = other.identity ?? identity
        merged.choice = other.choice ?? choice
        merged.transformer = other.transformer ?? transformer
        merged.keys = other.keys ?? keys
        merged.isOptIn = other.isOptIn ?? isOptIn
        merged.documentKey = other.documentKey ?? documentKey
        return merged
    }
}

/// How the entity of an object is determined from its content.
public enum EntityChoice: Sendable {
    /// By the value of a key: for each value the entity. Any other value means the declared entity.
    case value(of: String, [String: String])
    /// By a function; nil for the declared entity. Only for reading.
    case function(@Sendable (ReadableValue) -> String?)
    /// By a registered transformer from a dictionary to an entity's name. Only for reading.
    case named(String)
}
