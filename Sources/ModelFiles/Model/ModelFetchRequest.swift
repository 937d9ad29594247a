import PredicateLanguage

/// A fetch request kept in a model.
public struct ModelFetchRequest: Sendable, Equatable {
    /// The name of the entity to fetch.
    public var entityName: String?
    /// Which objects to fetch; nil is all of them.
    public var predicate: PredicateNode?
    /// The order of the objects.
    public var sortDescriptors: [ModelSortDescriptor] = []
    /// The greatest number of objects; 0 is no limit.
    public var fetchLimit = 0
    /// The number of objects to skip.
    public var fetchOffset = 0
    /// The number of objects to load at once; 0 is all.
    public var fetchBatchSize = 0
    /// What a fetch gives.
    public var resultType = ResultType.managedObjects
    /// Whether objects of sub-entities are fetched too.
    public var includesSubentities = true
    /// Whether the values are fetched with the objects.
    public var includesPropertyValues = true
    /// Whether unsaved changes count.
    public var includesPendingChanges = true
    /// Whether objects are left as faults.
    public var returnsObjectsAsFaults = true
    /// Whether equal dictionaries are returned once.
    public var returnsDistinctResults = false
    /// Key paths of relationships to load along.
    public var relationshipKeyPathsForPrefetching: [String] = []
    /// Names of the properties to fetch into dictionaries.
    public var propertiesToFetch: [String] = []
    /// Names of the properties to group dictionaries by.
    public var propertiesToGroupBy: [String] = []
    /// Which groups to return.
    public var havingPredicate: PredicateNode?

    /// A request for all objects of an entity.
    public init(entityName: String?, predicate: PredicateNode? = nil) {
        self.entityName = entityName
        self.predicate = predicate
    }

    /// What a fetch gives, numbered as source models number it.
    public enum ResultType: Int, Sendable, Hashable {
        case managedObjects = 0
        case managedObjectIDs = 1
        case dictionaries = 2
        case count = 4
    }
}

/// A fetch request with the name under which the model keeps it.
public struct ModelFetchRequestTemplate: Sendable, Equatable {
    /// The template's name.
    public var name: String
    /// The request, in which `$NAME` stands for a value given later.
    public var fetchRequest: ModelFetchRequest
    /// The template's place in the file that it was read from.
    public var position = ModelPosition()

    /// A template.
    public init(name: String, fetchRequest: ModelFetchRequest) {
        self.name = name
        self.fetchRequest = fetchRequest
    }
}

/// One criterion of an order.
public struct ModelSortDescriptor: Sendable, Hashable {
    /// The key path whose values are compared.
    public var key: String
    /// Whether small values come first.
    public var isAscending: Bool
    /// The name of the comparison, such as `compare:` or `localizedStandardCompare:`.
    public var selectorName: String

    /// A criterion.
    public init(key: String, isAscending: Bool = true, selectorName: String = "compare:") {
        self.key = key
        self.isAscending = isAscending
        self.selectorName = selectorName
    }
}
