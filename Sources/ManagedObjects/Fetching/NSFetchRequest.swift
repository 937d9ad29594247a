import Foundation

/// A description of the objects to fetch: of which entity, for which predicate, in what order, in what form.
///
/// `ResultType` is not constrained, because `any NSFetchRequestResult` conforms to no protocol here, itself included. A
/// request of one result type cannot be cast to another: make it with the type it is needed with, see ``init(_:)``.
open class NSFetchRequest<ResultType>: NSPersistentStoreRequest, NSCoding, FetchRequesting {
    private final var content = FetchSpecification()

    /// What the request asks, without the type of its results.
    final var specification: FetchSpecification {
        get {
            var specification = content
            specification.affectedStores = affectedStores
            return specification
        }
        set {
            content = newValue
            affectedStores = newValue.affectedStores
        }
    }

    /// A request that still needs an entity.
    public override init() {}

    /// A request for an entity that is looked up by name in the context's model when the request is executed.
    public convenience init(entityName: String) {
        self.init()
        content.entityName = entityName
    }

    /// A request that asks the same as another one, with results of another type: what stands here for a cast between
    /// result types, such as `request as! NSFetchRequest<any NSFetchRequestResult>`.
    public convenience init<Other>(_ other: NSFetchRequest<Other>) {
        self.init()
        specification = other.specification
    }

    /// A request that asks the same. Changing one does not change the other.
    open override func copy(with zone: NSZone? = nil) -> Any {
        NSFetchRequest(self)
    }

    open override var requestType: NSPersistentStoreRequestType { .fetchRequestType }

    /// The stores to fetch from; nil for all of the coordinator's.
    open override var affectedStores: [NSPersistentStore]? {
        get { super.affectedStores }
        set { super.affectedStores = newValue }
    }

    // MARK: - What to fetch

    /// The entity to fetch. Nil in a request made with an entity's name, until it is executed.
    open var entity: NSEntityDescription? {
        get { content.entity }
        set {
            content.entity = newValue
            content.entityName = newValue?.name
        }
    }

    /// The name of the entity to fetch.
    open var entityName: String? { content.entity?.name ?? content.entityName }

    /// Whether objects of subentities are fetched too; true unless changed.
    open var includesSubentities: Bool {
        get { content.includesSubentities }
        set { content.includesSubentities = newValue }
    }

    /// Which objects to fetch; nil is all of them.
    open var predicate: NSPredicate? {
        get { content.predicate }
        set { content.predicate = newValue }
    }

    /// The order of the results; without it, it is the store's own.
    open var sortDescriptors: [NSSortDescriptor]? {
        get { content.sortDescriptors }
        set { content.sortDescriptors = newValue }
    }

    /// The greatest number of results; 0 is no limit.
    open var fetchLimit: Int {
        get { content.fetchLimit }
        set { content.fetchLimit = newValue }
    }

    /// How many of the first results are left out.
    open var fetchOffset: Int {
        get { content.fetchOffset }
        set { content.fetchOffset = newValue }
    }

    /// Whether changes that are not saved yet count: objects inserted, changed, deleted in the context. True unless
    /// changed; dictionaries come from the store alone.
    open var includesPendingChanges: Bool {
        get { content.includesPendingChanges }
        set { content.includesPendingChanges = newValue }
    }

    // MARK: - How to load

    /// How many objects are loaded at a time as the result is walked through; 0 loads all at once.
    open var fetchBatchSize: Int {
        get { content.fetchBatchSize }
        set { content.fetchBatchSize = newValue }
    }

    /// Whether the rows' values are read with the keys; true unless changed.
    open var includesPropertyValues: Bool {
        get { content.includesPropertyValues }
        set { content.includesPropertyValues = newValue }
    }

    /// Whether objects whose values have been read are left as faults, filled on first use without a statement; true
    /// unless changed.
    open var returnsObjectsAsFaults: Bool {
        get { content.returnsObjectsAsFaults }
        set { content.returnsObjectsAsFaults = newValue }
    }

    /// Whether objects that the context has already take over the values that were fetched; false unless changed.
    open var shouldRefreshRefetchedObjects: Bool {
        get { content.shouldRefreshRefetchedObjects }
        set { content.shouldRefreshRefetchedObjects = newValue }
    }

    /// Key paths of relationships whose objects are loaded along, with one statement for each relationship of a path.
    open var relationshipKeyPathsForPrefetching: [String]? {
        get { content.relationshipKeyPathsForPrefetching }
        set { content.relationshipKeyPathsForPrefetching = newValue }
    }

    // MARK: - Form of the results

    /// Whether objects, IDs, dictionaries or a count are given. Must go with `ResultType`.
    open var resultType: NSFetchRequestResultType {
        get { content.resultType }
        set { content.resultType = newValue }
    }

    /// Whether equal dictionaries are given once.
    open var returnsDistinctResults: Bool {
        get { content.returnsDistinctResults }
        set { content.returnsDistinctResults = newValue }
    }

    /// What dictionaries hold: names or descriptions of attributes and to-one relationships, key paths, and
    /// `NSExpressionDescription`s. Nil is every attribute and to-one relationship.
    open var propertiesToFetch: [Any]? {
        get { content.propertiesToFetch }
        set { content.propertiesToFetch = newValue }
    }

    /// The properties whose equal values make a group, each giving one dictionary.
    open var propertiesToGroupBy: [Any]? {
        get { content.propertiesToGroupBy }
        set { content.propertiesToGroupBy = newValue }
    }

    /// Which groups are given. An expression is named by a variable of its name: `$total > 3`.
    open var havingPredicate: NSPredicate? {
        get { content.havingPredicate }
        set { content.havingPredicate = newValue }
    }

    // MARK: - Executing

    /// Fetches in the context on whose queue the caller runs: within `perform` or `performAndWait`.
    ///
    /// - Throws: `CocoaError.coreData` outside of a context's queue, and what the context's `fetch(_:)` throws.
    open func execute() throws -> [ResultType] {
        guard let context = NSManagedObjectContext.current else {
            throw CocoaError(
                .coreData,
                userInfo: [
                    NSLocalizedDescriptionKey: "A fetch request was executed outside of the queue of any context."
                ])
        }
        return try context.fetch(self)
    }

    // MARK: - Coding

    /// A request from an archive; nil where the archive holds something else.
    public required init?(coder: NSCoder) {
        super.init()
        guard let archived = FetchSpecification(coder: coder) else { return nil }
        content = archived
    }

    /// Writes the request, its entity by name.
    open func encode(with coder: NSCoder) {
        content.encode(with: coder)
    }

    open override var description: String {
        var parts = ["entity: \(entityName ?? "none")"]
        if let predicate { parts.append("predicate: \(predicate.predicateFormat)") }
        if let sortDescriptors, !sortDescriptors.isEmpty {
            parts.append("sortDescriptors: \(sortDescriptors.map { "\($0.key ?? "…") \($0.ascending ? "↑" : "↓")" })")
        }
        if fetchOffset > 0 { parts.append("offset: \(fetchOffset)") }
        if fetchLimit > 0 { parts.append("limit: \(fetchLimit)") }
        return "<NSFetchRequest: \(parts.joined(separator: "; "))>"
    }
}
