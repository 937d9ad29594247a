import Foundation

/// Is told what happens to the results that a ``FetchedResults`` keeps.
protocol FetchedResultsListener: AnyObject {
    /// Whether changes are wanted. Changes that happen meanwhile are found later, by a fetch.
    var isListening: Bool { get }
    /// The results have been fetched.
    func didFetch(_ list: ResultsList)
    /// The results have changed; ``FetchedResults/list`` is the new list already.
    func didChange(_ change: ResultsChange)
    /// The results could not be brought up to date, and are given up until the next fetch.
    func didFail(_ error: any Error)
    /// The title of a section in an index.
    func indexTitle(forSectionName name: String) -> String?
}

/// The results of a request, brought up to date whenever the context says that objects have changed.
///
/// Belongs to the context's queue, as the context's objects do.
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
    /// In which form the delegate wants changes, once it is known.
    var form: DelegateForm?
    /// Set by the default implementation of a delegate's method.
    var defaultWasCalled = false

    /// The results; nil before the first fetch.
    private(set) var list: ResultsList?
    /// Goes up with each new list.
    private(set) var version = 0
    private var followed: FollowedRequest?
    /// Whether something has happened since the last time that the list was brought up to date.
    private var isOutdated = false
    private var isTelling = false
    /// Changed objects that were told while a change was being told.
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
    /// - Parameter check: Throws where the objects are not what the caller expects; then nothing has changed.
    /// - Throws: Code 134060 where the request cannot be followed or sections are out of order, and what a fetch throws.
    func fetch(checking check: ([NSManagedObject]) throws -> Void = { _ in }) throws {
        guard let model = context.rootCoordinator?.managedObjectModel else {
            throw CocoaError(.coreData, "The context has no persistent store coordinator to fetch from.")
        }
        observe()
        let followed = try FollowedRequest(
            request.specification, sectionNameKeyPath: sectionNameKeyPath, in: model)
        let objects = try context.fetchResults(followed.specification).compactMap { $0 as? NSManagedObject }
        try check(objects)
        let fetched = try SectionCache.list(of: objects, for: followed, in: context, cacheName: cacheName)
        self.followed = followed
        waiting = []
        isOutdated = false
        adopt(fetched)
        listener?.didFetch(fetched)
    }

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
        // After a reset there are no objects to tell of: the results have to be fetched again.
        guard list != nil, let followed, userInfo[NSInvalidatedAllObjectsKey] == nil else { return }
        var seen = Set<ObjectIdentifier>()
        // What has changed since the event that is told is looked at too: values that have changed and are not told yet
        // would spoil the order in which places are searched for.
        let touched = (userInfo.changedObjects + Array(context.changedInEvent)).filter { object in
            followed.concerns(object) && seen.insert(ObjectIdentifier(object)).inserted
        }
        guard !touched.isEmpty else { return }
        update(touched)
    }

    /// Brings the list up to date with what another process or coordinator has written: reads the rows of all results
    /// again, and says of those objects that have changed rows that they were refreshed. Two fetches.
    func refetch() {
        guard let list, let followed, context.parentContext == nil else { return }
        let versions = list.objects.map(\.version)
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
        let changed = zip(list.objects, versions).filter { $0.version != $1 }.map(\.0)
        if !changed.isEmpty {
            context.post(.NSManagedObjectContextObjectsDidChange, [NSRefreshedObjectsKey: changed.roomySet])
        }
        if isOutdated { update([]) }
    }

    /// Brings the list up to date, and tells the listener of the difference.
    ///
    /// - Parameter touched: Objects that are known to have changed.
    private func update(_ touched: [NSManagedObject]) {
        guard listener?.isListening == true else {
            isOutdated = true
            return
        }
        waiting += touched
        guard !isTelling else { return }
        isTelling = true
        defer { isTelling = false }
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
        if !isOutdated, !followed.needsFetching {
            do {
                return try fold.change(of: list, by: touched)
            } catch is UndecidedInMemory {}
        }
        isOutdated = false
        return try fold.changeByFetching(of: list, touched: touched)
    }

    /// Fetches again where the store can now find other objects than before the save. New objects have permanent IDs after it.
    private func contextDidSave(_ userInfo: [AnyHashable: Any]) {
        guard list != nil, let followed else { return }
        if followed.dependsOnOthers, userInfo.changedObjects.contains(where: followed.concerns) {
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

    /// The first letter of a section's name, as a capital; nil for an empty name.
    static func initial(of name: String) -> String? {
        name.first.map { String($0).uppercased() }
    }
}

extension [AnyHashable: Any] {
    /// The objects that a notification of changed objects tells of, whatever has happened to them.
    var changedObjects: [NSManagedObject] {
        [
            NSInsertedObjectsKey, NSUpdatedObjectsKey, NSDeletedObjectsKey, NSRefreshedObjectsKey,
            NSInvalidatedObjectsKey,
        ]
        .flatMap { key in self[key] as? Set<NSManagedObject> ?? [] }
    }
}
