/// How documents that somebody else has designed say what a model's objects hold: one declaration for reading and writing.
///
///     var mapping = Mapping(keys: .snakeCase)
///     mapping["User"].identity = ["id"]
///     mapping["User"]["name"].keys = ["profile.name", "name"]       // the first that is there; the first is written
///     mapping["User"]["birthday"].dates = .format("d/M/yyyy")
///     mapping["Shape"].choice = .value(of: "type", ["circle": "Circle", "square": "Square"])
///
/// What nothing is said of is called as the property is, by the mapping's `keys`. A mapping is plain data: what it names is
/// checked, all at once, when a `MappingPlan` is made of it.
///
/// A key is a path: `a.b` steps into objects, `a[0]` and `a[-1]` into arrays, counted from the front or from the end. `@key` is
/// the key under which an object stands, in a relationship that is keyed; `@value` what stands there, if that is no object; `@index` its position. A backslash takes `.`, `[`
/// and `@` their meaning.
public struct Mapping: Sendable {
    /// What is said of single entities, by their names.
    public var entities: [String: EntityMapping] = [:]
    /// How documents call a property of which nothing is said.
    public var keys: KeyStrategy
    /// How dates are written, and read besides ISO 8601, where a property does not say it. Nil for ISO 8601 to the last bit.
    public var dates: MappedDates?
    /// How decimals are written. Both forms are read.
    public var decimals: PlainLayout.DecimalForm = .string
    /// Whether null is written for a property without a value, or nothing.
    public var writesNulls = true
    /// The way to the array or object with the records, where it is not the document itself: `response.users`.
    public var root: String?

    /// A mapping that says nothing of any entity.
    public init(keys: KeyStrategy = .same) {
        self.keys = keys
    }

    /// What is said of an entity.
    public subscript(entity: String) -> EntityMapping {
        get { entities[entity] ?? EntityMapping() }
        set { entities[entity] = newValue }
    }

    /// This mapping with what another says besides: of single properties the other's word counts.
    public func merging(_ other: Mapping) -> Mapping {
        var merged = other
        merged.entities = entities.merging(other.entities) { $0.merging($1) }
        return merged
    }
}

/// What a mapping says of one entity. Entities that inherit from it follow, unless they say something else.
public struct EntityMapping: Sendable {
    /// What is said of single properties, by their names.
    public var properties: [String: PropertyMapping] = [:]
    /// The properties that identify an object. Nil where the model says it, or nothing does.
    public var identity: [String]?
    /// How the entity of an object is found out from what stands in the document. Nil where it is this one.
    public var choice: EntityChoice?
    /// Changes an object of the document before anything is read from it.
    public var transformer: MappedTransformer?
    /// How documents call a property of which nothing is said; nil for what the mapping says.
    public var keys: KeyStrategy?
    /// Whether only those properties are mapped that are declared with keys.
    public var isOptIn: Bool?
    /// What the array of the entity's objects is called in a document that has one for each entity; nil for its own name.
    public var documentKey: String?

    /// Nothing is said.
    public init() {}

    /// What is said of a property.
    public subscript(property: String) -> PropertyMapping {
        get { properties[property] ?? PropertyMapping() }
        set { properties[property] = newValue }
    }

    /// This with what another says besides: the other's word counts.
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

/// How the entity of an object is found out from its content.
public enum EntityChoice: Sendable {
    /// By the value under a key: for each value the entity. What is none of these stays of the declared entity.
    case value(of: String, [String: String])
    /// By a function; nil for the declared entity. Only for reading.
    case function(@Sendable (ReadableValue) -> String?)
    /// By a registered transformer that makes an entity's name of a dictionary. Only for reading.
    case named(String)
}
