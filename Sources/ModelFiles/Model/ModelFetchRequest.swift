import PredicateLanguage

/// A fetch request of a model.
public struct ModelFetchRequest: Sendable, Equatable {
    /// The name of the entity to fetch.
    public var entityName: String?
    /// The predicate of the objects to fetch; nil means all.
    public var predicate: PredicateNode?
    /// The order of the objects.
    public var sortDescriptors: [ModelSortDescriptor] = []
    /// The maximum number of objects; 0 means no limit.
    public var fetchLimit = 0
    /// The number of objects to skip.
    public var fetchOffset = 0
    /// The number of objects to load at once; 0 means all.
    public var fetchBatchSize = 0
    /// The type of the results.
    public var resultType = ResultType.managedObjects
    /// Whether objects of sub-entities are fetched too.
    public var includesSubentities = true
    /// Whether the values are fetched with the objects.
    public var includesPropertyValues = true
    /// Whether unsaved changes are included.
    public var includesPendingChanges = true
    /// Whether objects are left as faults.
    public var returnsObjectsAsFaults = true
    /// Whether equal dictionaries are returned once.
    public var returnsDistinctResults = false
    /// Key paths of relationships to prefetch.
    public var relationshipKeyPathsForPrefetching: [String] = []
    /// Names of the properties to fetch into dictionaries.
    public var propertiesToFetch: [String] = []
    /// Names of the properties to group dictionaries by.
    public var propertiesToGroupBy: [String] = []
    /// The predicate of the groups to return.
    public var havingPredicate: PredicateNode?

    /// Creates a request for all objects of an entity.
    public init(entityName: String?, predicate: PredicateNode? = nil) {
        self.entityName = entityName
        self.predicate = predicate
    }

    /// The type of the results. The raw values are those of source models.
    public enum ResultType: Int, Sendable, Hashable {
        case managedObjects = 0
        case managedObjectIDs = 1
        case dictionaries = 2
        case count = 4
    }
}

/// A named fetch request of a model.
public struct ModelFetchRequestTemplate: Sendable, Equatable {
    /// The template's name.
    public var name: String
    /// The request, in which `$NAME` is a variable whose value is given later.
    public var fetchRequest: ModelFetchRequest
    /// The template's position in the file that it was read from.
    public var position = ModelPosition()

    /// Creates a template.
    public init(name: String, fetchRequest: ModelFetchRequest) {
        self.name = name
        self.fetchRequest = fetchRequest
    }
}

/// One sort criterion.
public struct ModelSortDescriptor: Sendable, Hashable {
    /// The key path whose values are compared.
    public var key: String
    /// Whether the order is ascending.
    public var isAscending: Bool
    /// The name of the comparison, such as `compare:` or `localizedStandardCompare:`.
    public var selectorName: String

    /// Creates a criterion.
    public init(key: String, isAscending: Bool = true, selectorName: String = "compare:") {
        self.key = key
        self.isAscending = isAscending
        self.selectorName = selectorName
    }
}
