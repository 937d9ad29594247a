import CoreDataErrors
import Foundation
import FoundationAdditions

/// A description of the objects to fetch: entity, predicate, order, and the form of the results.
///
/// `ResultType` is not constrained, because `any NSFetchRequestResult` conforms to no protocol here, not even itself. A
/// request of one result type cannot be cast to another: create it with the required type, see ``init(_:)``.
open class NSFetchRequest<ResultType>: NSPersistentStoreRequest, NSCoding, FetchRequesting {
    private final var content = FetchSpecification()

    /// The content of the request without its result type; that of a subclass by its properties, which may be overridden.
    package final var specification: FetchSpecification {
        get {
            guard type(of: self) == NSFetchRequest.self else { return overriddenContent }
            var specification = content
            specification.affectedStores = affectedStores
            return specification
        }
        set {
            content = newValue
            affectedStores = newValue.affectedStores
        }
    }

    private final var overriddenContent: FetchSpecification {
        var specification = FetchSpecification()
        (specification.entity, specification.entityName) = (entity, entityName)
        (specification.predicate, specification.sortDescriptors) = (predicate, sortDescriptors)
        (specification.fetchLimit, specification.fetchOffset) = (fetchLimit, fetchOffset)
        (specification.fetchBatchSize, specification.resultType) = (fetchBatchSize, resultType)
        specification.includesSubentities = includesSubentities
        specification.includesPropertyValues = includesPropertyValues
        specification.includesPendingChanges = includesPendingChanges
        specification.returnsObjectsAsFaults = returnsObjectsAsFaults
        specification.shouldRefreshRefetchedObjects = shouldRefreshRefetchedObjects
        specification.returnsDistinctResults = returnsDistinctResults
        specification.relationshipKeyPathsForPrefetching = relationshipKeyPathsForPrefetching
        (specification.propertiesToFetch, specification.propertiesToGroupBy) = (propertiesToFetch, propertiesToGroupBy)
        (specification.havingPredicate, specification.affectedStores) = (havingPredicate, affectedStores)
        return specification
    }

    /// Creates a request without an entity, which must be set before execution.
    public override init() {}

    /// Creates a request for an entity that is looked up by name in the context's model when the request is executed.
    public convenience init(entityName: String) {
        self.init()
        content.entityName = entityName
    }

    /// Creates a copy of another request with another result type. It replaces a cast between result types, such as
    /// `request as! NSFetchRequest<any NSFetchRequestResult>`.
    public convenience init<Other>(_ other: NSFetchRequest<Other>) {
        self.init()
        specification = other.specification
    }

    /// A copy of the request. Changing one does not change the other.
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

    /// The entity to fetch. Nil in a request created with an entity's name, until it is executed.
    open var entity: NSEntityDescription? {
        get { content.entity }
        set {
            content.entity = newValue
            content.entityName = newValue?.name
        }
    }

    /// The name of the entity to fetch.
    open var entityName: String? { content.entity?.name ?? content.entityName }

    /// Whether objects of subentities are fetched too; true by default.
    open var includesSubentities: Bool {
        get { content.includesSubentities }
        set { content.includesSubentities = newValue }
    }

    /// The predicate of the objects to fetch; nil means all.
    open var predicate: NSPredicate? {
        get { content.predicate }
        set { content.predicate = newValue }
    }

    /// The order of the results; without it the order is the store's.
    open var sortDescriptors: [NSSortDescriptor]? {
        get { content.sortDescriptors }
        set { content.sortDescriptors = newValue }
    }

    /// The maximum number of results; 0 means no limit.
    open var fetchLimit: Int {
        get { content.fetchLimit }
        set { content.fetchLimit = newValue }
    }

    /// The number of results to skip at the beginning.
    open var fetchOffset: Int {
        get { content.fetchOffset }
        set { content.fetchOffset = newValue }
    }

    /// Whether unsaved changes of the context are included: insertions, changes and deletions. True by default;
    /// dictionaries are always those of the store.
    open var includesPendingChanges: Bool {
        get { content.includesPendingChanges }
        set { content.includesPendingChanges = newValue }
    }

    // MARK: - How to load

    /// The number of objects that are loaded at a time while the result is traversed; 0 loads all at once.
    open var fetchBatchSize: Int {
        get { content.fetchBatchSize }
        set { content.fetchBatchSize = newValue }
    }

    /// Whether the rows' values are read together with the keys; true by default.
    open var includesPropertyValues: Bool {
        get { content.includesPropertyValues }
        set { content.includesPropertyValues = newValue }
    }

    /// Whether objects are returned as faults, which get their values on first use without a statement, if they were
    /// read; true by default.
    open var returnsObjectsAsFaults: Bool {
        get { content.returnsObjectsAsFaults }
        set { content.returnsObjectsAsFaults = newValue }
    }

    /// Whether objects that are already registered get the fetched values; false by default.
    open var shouldRefreshRefetchedObjects: Bool {
        get { content.shouldRefreshRefetchedObjects }
        set { content.shouldRefreshRefetchedObjects = newValue }
    }

    /// Key paths of relationships to prefetch, with at most two statements for each relationship of a path.
    open var relationshipKeyPathsForPrefetching: [String]? {
        get { content.relationshipKeyPathsForPrefetching }
        set { content.relationshipKeyPathsForPrefetching = newValue }
    }

    // MARK: - Form of the results

    /// Whether the results are objects, IDs, dictionaries or a count. Must be consistent with `ResultType`.
    open var resultType: NSFetchRequestResultType {
        get { content.resultType }
        set { content.resultType = newValue }
    }

    /// Whether equal dictionaries are returned only once.
    open var returnsDistinctResults: Bool {
        get { content.returnsDistinctResults }
        set { content.returnsDistinctResults = newValue }
    }

    /// The content of dictionaries: names or descriptions of attributes and to-one relationships, key paths, and
    /// `NSExpressionDescription`s. Nil means every attribute and to-one relationship.
    open var propertiesToFetch: [Any]? {
        get { content.propertiesToFetch }
        set { content.propertiesToFetch = newValue }
    }

    /// The properties to group by: each combination of their values gives one dictionary.
    open var propertiesToGroupBy: [Any]? {
        get { content.propertiesToGroupBy }
        set { content.propertiesToGroupBy = newValue }
    }

    /// The predicate of the groups to return. It refers to an expression by a variable with its name: `$total > 3`.
    open var havingPredicate: NSPredicate? {
        get { content.havingPredicate }
        set { content.havingPredicate = newValue }
    }

    // MARK: - Executing

    /// Executes the request in the context whose queue the caller is on: within `perform` or `performAndWait`.
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

    /// Creates a request from an archive; nil if the archive does not contain a request.
    public required init?(coder: NSCoder) {
        super.init()
        guard let archived = FetchSpecification(coder: coder) else { return nil }
        content = archived
    }

    /// Encodes the request, with its entity's name.
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

/// The types of results of a fetch: objects, their IDs, dictionaries, numbers.
public protocol NSFetchRequestResult: NSObjectProtocol {}

extension NSManagedObject: NSFetchRequestResult {}
extension NSManagedObjectID: NSFetchRequestResult {}
extension NSNumber: NSFetchRequestResult {}
extension NSDictionary: NSFetchRequestResult {}

/// The form of the results of a fetch.
public struct NSFetchRequestResultType: OptionSet, Sendable {
    public let rawValue: UInt

    public init(rawValue: UInt) {
        self.rawValue = rawValue
    }

    /// Managed objects.
    public static var managedObjectResultType: NSFetchRequestResultType { [] }
    /// The objects' IDs.
    public static var managedObjectIDResultType: NSFetchRequestResultType { NSFetchRequestResultType(rawValue: 1) }
    /// Dictionaries of properties and expressions, directly from the store, without unsaved changes.
    public static var dictionaryResultType: NSFetchRequestResultType { NSFetchRequestResultType(rawValue: 2) }
    /// The number of objects.
    public static var countResultType: NSFetchRequestResultType { NSFetchRequestResultType(rawValue: 4) }
}
