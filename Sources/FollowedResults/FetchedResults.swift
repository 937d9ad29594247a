import CoreDataErrors
import Foundation
import ManagedObjects

// Results of fetches that follow the changes of a context. Reading begins here.
//
// `FetchedResults` keeps the results of a request (`ResultsList`) and updates them from the notification of changed
// objects: `ResultsFold` removes the changed objects from the list and finds their new positions by binary search. If
// the results cannot be determined in memory, they are fetched again and compared with the list. The difference of two
// lists is a `ResultsChange`, which a controller's delegate receives in one of three forms (`DelegateForm`) and a
// sequence (`FollowedValues`) as its latest state.

/// Receives the changes of the results that a ``FetchedResults`` keeps.
protocol FetchedResultsListener: AnyObject {
    /// Whether changes are to be reported. Changes that are not reported are found later, by a fetch.
    var isListening: Bool { get }
    /// The results have been fetched.
    func didFetch(_ list: ResultsList)
    /// The results have changed; ``FetchedResults/list`` is already the new list.
    func didChange(_ change: ResultsChange)
    /// The context has been reset: the objects of the results belong to no context.
    func didInvalidate()
    /// The results could not be updated, and are discarded until the next fetch.
    func didFail(_ error: any Error)
    /// The title of a section in an index.
    func indexTitle(forSectionName name: String) -> String?
}

extension FetchedResultsListener {
    func didInvalidate() {}
}

/// The results of a request, updated whenever the context reports changed objects.
///
/// Must be used on the context's queue, as the context's objects are.
final class FetchedResults: @unchecked Sendable {  // because the context's queue guards it
    let context: NSManagedObjectContext
    let request: any FetchRequesting
    let sectionNameKeyPath: String?
    let cacheName: String?
    weak var listener: (any FetchedResultsListener)?
    /// The delegate of the controller whose results these are.
    weak var delegate: (any NSFetchedResultsControllerDelegate)? {
        didSet { form = nil }
    }
    /// The form in which the delegate receives changes; nil until it has been determined.
    var form: DelegateForm?
    /// Set by the default implementation of a delegate's method.
    var defaultWasCalled = false

    /// The results; nil before the first fetch.
    private(set) var list: ResultsList?
    /// Incremented with each new list.
    private(set) var version = 0
    private var followed: FollowedRequest?
    /// Whether objects have changed since the list was last updated.
    private var isOutdated = false
    private var isNotifying = false
    /// Objects whose changes were reported while the listener was being called.
    private var waiting: [NSManagedObject] = []
    private var observers: [any NSObjectProtocol] = []

    init(
        of request: any FetchRequesting, in context: NSManagedObjectContext, sectionNameKeyPath: String?,
        cacheName: String?
    ) {
        self.context = context
        self.request = request
        self.sectionNameKeyPath = sectionNameKeyPath
        self.cacheName = cacheName
    }

    deinit {
        guard !observers.isEmpty else { return }
        context.followerCount.subtract(1, ordering: .relaxed)
        for observer in observers { NotificationCenter.default.removeObserver(observer) }
    }

    // MARK: - Fetching

    /// Fetches, and divides the results into sections.
    ///
    /// - Parameter check: Throws if the objects are not what the caller expects; then the results stay as they were.
    /// - Throws: Code 134060 if the request cannot be followed or sections are out of order, and the errors of a fetch.
    func fetch(checking check: ([NSManagedObject]) throws -> Void = { _ in }) throws {
        guard let coordinator = context.rootCoordinator else {
            throw CocoaError(.coreData, "The context has no persistent store coordinator to fetch from.")
        }
        observe()
        let followed = try FollowedRequest(
            request.specification, sectionNameKeyPath: sectionNameKeyPath, in: coordinator)
        let objects = try context.fetchResults(followed.specification).compactMap { $0 as? NSManagedObject }
        try check(objects)
        let fetched = try SectionCache.list(of: objects, for: followed, in: context, cacheName: cacheName)
        self.followed = followed
        waiting = []
        isOutdated = false
        adopt(fetched)
        listener?.didFetch(fetched)
    }

    /// Discards the results until the next fetch.
    func discard() { adopt(nil) }

    private func adopt(_ list: ResultsList?) {
        self.list = list
        version += 1
    }

    // MARK: - Following

    private func observe() {
        guard observers.isEmpty else { return }
        context.followerCount.add(1, ordering: .relaxed)
        observers = [
            observe(.NSManagedObjectContextObjectsDidChange) { $0.contextDidChange($1) },
            observe(.NSManagedObjectContextDidSave) { $0.contextDidSave($1) },
        ]
    }

    private func observe(
        _ name: Notification.Name, _ handle: @escaping @Sendable (FetchedResults, [AnyHashable: Any]) -> Void
    ) -> any NSObjectProtocol {
        NotificationCenter.default.addObserver(forName: name, object: context, queue: nil) { [weak self] notification in
            guard let self else { return }
            handle(self, notification.userInfo ?? [:])
        }
    }

    private func contextDidChange(_ userInfo: [AnyHashable: Any]) {
        guard list != nil, let followed else { return }
        // After a reset there are no objects to report: the results must be fetched again.
        guard userInfo[NSInvalidatedAllObjectsKey] == nil else {
            listener?.didInvalidate()
            return
        }
        var seen = Set<ObjectIdentifier>()
        // Objects that have changed since the reported event are included: their values have changed although the list
        // has not been updated, so the binary search would find wrong positions. The same is true of objects with values
        // that a save has computed.
        let changed = userInfo.changedObjects + Array(context.changedInEvent) + context.refreshedBySave
        let touched = changed.filter { object in
            followed.concerns(object) && seen.insert(ObjectIdentifier(object)).inserted
        }
        guard !touched.isEmpty else { return }
        update(touched)
    }

    /// Updates the list with the changes of another process or coordinator: reads the rows of all results again, and
    /// reports the objects whose rows have changed as refreshed. Two fetches.
    func refetch() {
        guard let list, let followed, context.parentContext == nil else { return }
        // A trigger that sets a derived attribute does not increase the version of the row.
        let before = list.objects.map { ($0.version, $0.derivedValues) }
        var specification = followed.specification
        specification.shouldRefreshRefetchedObjects = true
        specification.includesPropertyValues = true
        specification.fetchBatchSize = 0
        do {
            _ = try context.fetchResults(specification)
        } catch {
            listener?.didFail(error)
            return
        }
        isOutdated = true
        let changed = zip(list.objects, before).filter { object, before in
            object.version != before.0
                || !object.derivedValues.elementsEqual(before.1) { $0.isSame(as: $1) }
        }.map(\.0)
        if !changed.isEmpty {
            context.post(.NSManagedObjectContextObjectsDidChange, [NSRefreshedObjectsKey: changed.roomySet])
        }
        if isOutdated { update([]) }
    }

    /// Updates the list, and reports the difference to the listener.
    ///
    /// - Parameter touched: Objects that are known to have changed.
    private func update(_ touched: [NSManagedObject]) {
        guard listener?.isListening == true else {
            isOutdated = true
            return
        }
        waiting += touched
        guard !isNotifying else { return }
        isNotifying = true
        defer { isNotifying = false }
        while !waiting.isEmpty || isOutdated {
            let objects = waiting
            waiting = []
            guard let list, let followed else { return }
            do {
                guard let change = try change(of: list, by: objects, followed) else { continue }
                adopt(change.new)
                listener?.didChange(change)
            } catch {
                adopt(nil)
                listener?.didFail(error)
            }
        }
    }

    private func change(
        of list: ResultsList, by touched: [NSManagedObject], _ followed: FollowedRequest
    ) throws -> ResultsChange? {
        let fold = ResultsFold(request: followed, context: context)
        if !isOutdated, followed.canFold(touched, in: context) {
            do {
                return try fold.change(of: list, by: touched)
            } catch is UndecidedInMemory {}
        }
        isOutdated = false
        return try fold.changeByFetching(of: list, touched: touched)
    }

    /// Fetches again if the save can have changed which objects match in the store. New objects have permanent IDs
    /// after a save.
    private func contextDidSave(_ userInfo: [AnyHashable: Any]) {
        guard list != nil, let followed else { return }
        if followed.isAffected(bySaveOf: userInfo.changedObjects) {
            isOutdated = true
            update([])
        }
        guard let list, listener?.isListening == true, !isOutdated,
            let inserted = userInfo[NSInsertedObjectsKey] as? Set<NSManagedObject>,
            case let own = inserted.filter(followed.isOfEntity), !own.isEmpty,
            !list.positions(of: Set(own.map { ObjectIdentifier($0) })).isEmpty
        else { return }
        listener?.didChange(ResultsChange(samePlacesIn: list))
    }

    // MARK: - Titles

    func indexTitle(forSectionName name: String) -> String? {
        listener.map { $0.indexTitle(forSectionName: name) } ?? Self.initial(of: name)
    }

    /// The first letter of a section's name, in upper case; nil for an empty name.
    static func initial(of name: String) -> String? {
        name.first.map { String($0).uppercased() }
    }
}

extension [AnyHashable: Any] {
    /// All objects in a notification of changed objects, of every kind of change.
    var changedObjects: [NSManagedObject] {
        [
            NSInsertedObjectsKey, NSUpdatedObjectsKey, NSDeletedObjectsKey, NSRefreshedObjectsKey,
            NSInvalidatedObjectsKey,
        ]
        .flatMap { key in self[key] as? Set<NSManagedObject> ?? [] }
    }
}
