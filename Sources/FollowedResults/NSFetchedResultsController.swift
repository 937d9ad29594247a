import CoreDataErrors
import Foundation
import ManagedObjects

/// The results of a fetch request, divided into sections and updated when objects of the context change.
///
/// As long as there is a delegate, the results are updated at the end of each event with the objects that were
/// inserted, changed, deleted, refreshed or merged in the context. Changes in other contexts and in the store are
/// included once they are merged. Objects that compare equal by the sort descriptors keep the order in which they were
/// fetched or inserted.
///
/// A change costs no statement: the predicate and the sort descriptors are evaluated in memory, by binary search. The
/// results are fetched again, with one statement for each event that can affect them, if a key path of the request
/// passes through a relationship, if the predicate contains a block or a custom function, and if there is a limit or an
/// offset, which is maintained. In the first two cases they are also fetched again after each save that can affect
/// them, because the fetch uses the unsaved values of the object itself but the saved values of related objects.
///
/// The controller must be used on its context's queue.
open class NSFetchedResultsController<ResultType>: NSObject, FetchedResultsListener {
    let results: FetchedResults
    /// The controller whose results this one wraps without its result type; nil for any other controller.
    private weak var original: (any FetchedResultsListener)?
    private var typedObjects: (version: Int, objects: [ResultType])?
    private var sectionInfo: (version: Int, sections: [any NSFetchedResultsSectionInfo])?
    private var shown: FetchedResults.AnyController?
    /// The controller that is passed to delegates, without its result type.
    private var erased: FetchedResults.AnyController {
        if let same = self as? FetchedResults.AnyController { return same }
        if let shown { return shown }
        let made = FetchedResults.AnyController(showing: results, of: self)
        shown = made
        return made
    }

    /// Creates a controller of a request's results. Nothing is fetched before ``performFetch()``.
    ///
    /// - Parameters:
    ///   - fetchRequest: A request for managed objects with at least one sort descriptor.
    ///   - sectionNameKeyPath: The key path whose values divide the results into sections. The first sort descriptor
    ///     must order the objects as this key path does. With nil there is one section.
    ///   - name: The name of a cache of sections; see ``cacheName``.
    public init(
        fetchRequest: NSFetchRequest<ResultType>, managedObjectContext context: NSManagedObjectContext,
        sectionNameKeyPath: String?, cacheName name: String?
    ) {
        results = FetchedResults(
            of: fetchRequest, in: context, sectionNameKeyPath: sectionNameKeyPath, cacheName: name)
        super.init()
        results.listener = self
    }

    /// Creates a controller of a request without an entity, as the initial value of a variable. Fetching throws an error.
    public override init() {
        results = FetchedResults(
            of: NSFetchRequest<ResultType>(), in: NSManagedObjectContext(.privateQueue), sectionNameKeyPath: nil,
            cacheName: nil)
        super.init()
        results.listener = self
    }

    private init(showing results: FetchedResults, of original: any FetchedResultsListener) {
        self.results = results
        self.original = original
    }

    // MARK: - Configuration

    /// The request. Changes to it take effect with the next ``performFetch()``.
    open var fetchRequest: NSFetchRequest<ResultType> {
        if let request = results.request as? NSFetchRequest<ResultType> { return request }
        return NSFetchRequest(specification: results.request.specification)
    }

    /// The context whose objects are the results.
    open var managedObjectContext: NSManagedObjectContext { results.context }

    /// The key path that divides the results into sections.
    open var sectionNameKeyPath: String? { results.sectionNameKeyPath }

    /// The name under which sections are cached in this process, so that a later controller for the same request need
    /// not read each object's section name. The cache is used only if the rows are the same.
    open var cacheName: String? { results.cacheName }

    /// The delegate, which receives changes; not retained. Without a delegate the results stay as they were fetched.
    open var delegate: (any NSFetchedResultsControllerDelegate)? {
        get { results.delegate }
        set { results.delegate = newValue }
    }

    /// Deletes the cached sections of a name, or all of them.
    open class func deleteCache(withName name: String?) {
        SectionCache.remove(name)
    }

    // MARK: - Results

    /// Fetches the results: one statement, as a fetch of the request costs.
    ///
    /// - Throws: Code 134060 if the request has no sort descriptor, does not request managed objects, or the objects of
    ///   a section are not adjacent; and the errors of a fetch.
    open func performFetch() throws {
        try results.fetch { objects in
            guard ResultType.self is NSManagedObject.Type, !objects.areAll(ResultType.self) else { return }
            throw CocoaError(.coreData, "The results of the request are not all of the type \(ResultType.self).")
        }
    }

    /// The results, in order; nil before the first fetch.
    open var fetchedObjects: [ResultType]? {
        guard let list = results.list else { return nil }
        if let typedObjects, typedObjects.version == results.version { return typedObjects.objects }
        let objects = list.objects.compactMap { $0 as? ResultType }
        typedObjects = (results.version, objects)
        return objects
    }

    /// The sections, in order; nil before the first fetch. Without a section key path there is always one.
    open var sections: [any NSFetchedResultsSectionInfo]? {
        guard let list = results.list else { return nil }
        if let sectionInfo, sectionInfo.version == results.version { return sectionInfo.sections }
        let sections = list.sections.map { FetchedSection($0, of: list, results: results) }
        sectionInfo = (results.version, sections)
        return sections
    }

    /// The object at a path of section and item. A path that is not among the results is a programming error and traps.
    open func object(at indexPath: IndexPath) -> ResultType {
        guard let list = results.list, let position = list.position(at: indexPath),
            let object = list.objects[position] as? ResultType
        else { preconditionFailure("There is no object at \(indexPath) among the fetched results.") }
        return object
    }

    /// The path of section and item of an object; nil if it is not among the results. Cost: linear in the number of results for
    /// the first few calls after a change of the results, then constant.
    open func indexPath(forObject object: ResultType) -> IndexPath? {
        guard let list = results.list, let object = object as? NSManagedObject,
            let position = list.position(of: object)
        else { return nil }
        return list.indexPath(of: position)
    }

    // MARK: - Index

    /// The index titles of the sections, each once, in the order of sections.
    open var sectionIndexTitles: [String] { titles.map(\.title) }

    /// The first section with an index title.
    ///
    /// - Parameter sectionIndex: The index of the title in ``sectionIndexTitles``. A title that does not exist is a
    ///   programming error and traps.
    open func section(forSectionIndexTitle title: String, at sectionIndex: Int) -> Int {
        let titles = titles
        if titles.indices.contains(sectionIndex), titles[sectionIndex].title == title {
            return titles[sectionIndex].section
        }
        guard let section = titles.first(where: { $0.title == title })?.section else {
            preconditionFailure("There is no section with the index title “\(title)”.")
        }
        return section
    }

    /// The index title of a section: the delegate's, by default the first letter of the name in upper case.
    open func sectionIndexTitle(forSectionName sectionName: String) -> String? {
        if let original { return original.indexTitle(forSectionName: sectionName) }
        guard let delegate = results.delegate else { return FetchedResults.initial(of: sectionName) }
        return delegate.controller(erased, sectionIndexTitleForSectionName: sectionName)
    }

    private var titles: [(title: String, section: Int)] {
        var seen: Set<String> = []
        return (results.list?.sections ?? []).enumerated().compactMap { index, section in
            guard let title = sectionIndexTitle(forSectionName: section.name.text), seen.insert(title).inserted else {
                return nil
            }
            return (title, index)
        }
    }

    // MARK: - Following

    final var isListening: Bool { results.delegate != nil }

    final func didFetch(_ list: ResultsList) {
        if let delegate { results.notify(delegate, fetched: list, as: erased) }
    }

    final func didChange(_ change: ResultsChange) {
        if let delegate { results.notify(delegate, change, as: erased) }
    }

    final func didFail(_ error: any Error) {
        results.context.report("the results of \(results.request) could not be updated: \(error)")
    }

    final func indexTitle(forSectionName name: String) -> String? { sectionIndexTitle(forSectionName: name) }

    // MARK: - Identity

    /// Two controllers are equal if they have the same results object, whatever their result types are.
    open override func isEqual(_ object: Any?) -> Bool {
        (object as? any ResultsOwner)?.results === results
    }

    open override var hash: Int { ObjectIdentifier(results).hashValue }
}

/// Any controller, whatever its result type.
private protocol ResultsOwner {
    var results: FetchedResults { get }
}

extension NSFetchedResultsController: ResultsOwner {}
